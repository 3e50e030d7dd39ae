// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "cli/exchange_command.h"
#include "format/collapsed/reader.h"
#include "format/gunzip.h"
#include "format/jfr/reader.h"
#include "format/pprof/reader.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

constexpr std::size_t kLookAt = 4096;

// Text has no control characters but those that end lines; the other two formats begin with some.
ImportFormat format_of(Bytes bytes) {
  if (as_text(bytes).starts_with(std::string_view("FLR\0", 4))) return ImportFormat::kJfr;
  const Bytes start = bytes.first(std::min(bytes.size(), kLookAt));
  const bool is_text = std::ranges::all_of(
      start, [](std::uint8_t byte) { return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t'; });
  return is_text ? ImportFormat::kCollapsed : ImportFormat::kPprof;
}

Result<profile::Profile> read_as(ImportFormat format, Bytes bytes, const ImportOptions& options) {
  switch (format) {
    case ImportFormat::kJfr: return format::jfr::read(bytes);
    case ImportFormat::kPprof: return format::pprof::read(bytes, {.sample_type = options.sample_type});
    case ImportFormat::kCollapsed: break;
  }
  return format::collapsed::read(bytes, {.metric = options.metric, .has_threads = !options.no_threads});
}

Result<profile::Profile> read_file(const ImportOptions& options) {
  const MappedFile file = TRY(MappedFile::open(options.file));
  Bytes bytes = file.bytes();
  std::vector<std::uint8_t> inflated;
  if (format::is_gzip(bytes)) {
    inflated = TRY(format::gunzip(bytes));
    bytes = inflated;
  }
  profile::Profile profile = TRY(read_as(options.from.value_or(format_of(bytes)), bytes, options));
  if (profile.tree.size() == 0) return Error{ErrorCode::kMalformed, "holds no samples"};
  return profile;
}

std::string_view help_for(const Error& error) {
  switch (error.code) {
    case ErrorCode::kIo:
    case ErrorCode::kNotFound: return "Check that the file exists and can be read by this user.";
    case ErrorCode::kTooLarge: return "Take a shorter profile, or one with fewer stacks.";
    case ErrorCode::kTruncated: return "The file ends too early: copy it again, or wait until it is written.";
    case ErrorCode::kMalformed: return "If it is of another format than this, say so with --from.";
    default: return {};
  }
}

}  // namespace

int import_file(const ImportOptions& options, const Console& console) {
  console.doing("reading " + options.file, 1, 2);
  Result<profile::Profile> profile = read_file(options);
  if (!profile.ok()) {
    console.fail(options.file, profile.error(), help_for(profile.error()));
    return kFailed;
  }
  if (profile->recording.command.empty()) profile->recording.command = options.file;
  console.doing("writing " + options.out, 2, 2);
  if (Result<void> written = store::write(*profile, options.out); !written.ok()) {
    console.fail(options.out, written.error(), "Choose another place with -o.");
    return kFailed;
  }
  console.say("wrote " + options.out + " (" + grouped(profile->tree.size()) + " contexts); `sonde report " +
              options.out + "` shows it");
  return kOk;
}

}  // namespace sonde::cli
