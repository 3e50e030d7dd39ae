// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "cli/recording_command.h"
#include "cli/recording_file.h"
#include "cli/sampling_report.h"
#include "format/collapsed/writer.h"
#include "format/jsonl/writer.h"

namespace sonde::cli {
namespace {

bool write_as(ExportFormat format, const profile::Profile& profile, profile::Metric metric, const format::Sink& sink) {
  switch (format) {
    case ExportFormat::kJsonl: return format::jsonl::write(profile, sink);
    case ExportFormat::kCollapsed: return format::collapsed::write(profile, metric, sink);
  }
  return false;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

int export_recording(const ExportOptions& options, const Console& console) {
  const auto profile = open_recording(options.file, console);
  if (!profile) return kFailed;
  std::unique_ptr<std::FILE, CloseFile> file;
  if (!options.out.empty()) {
    // As private as the recording.
    const int fd = ::open(options.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) file.reset(::fdopen(fd, "w"));
    if (!file) {
      console.fail(options.out, {ErrorCode::kIo, "cannot write: " + std::generic_category().message(errno)},
                   "Choose another place with -o; without it the export goes to stdout.");
      return kFailed;
    }
  }
  const Console target{.out = file ? file.get() : console.out, .err = console.err};
  const bool is_written = write_as(
      options.to, *profile, metric_for(*profile, options.metric),
      [&](std::string_view text) { return std::fwrite(text.data(), 1, text.size(), target.out) == text.size(); });
  const bool is_flushed = target.flush();  // says why if it is not
  if (const std::string losses = losses_of(*profile); !losses.empty()) console.note(losses);
  return is_written && is_flushed ? kOk : kFailed;
}

}  // namespace sonde::cli
