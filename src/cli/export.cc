// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/exchange_command.h"
#include "cli/recording_file.h"
#include "cli/table.h"
#include "format/collapsed/writer.h"
#include "format/csv/writer.h"
#include "format/firefox/writer.h"
#include "format/hproftext/writer.h"
#include "format/html/writer.h"
#include "format/jfr/writer.h"
#include "format/jsonl/writer.h"
#include "format/pprof/writer.h"
#include "format/speedscope/writer.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

bool write_as(const ExportOptions& options, const profile::Profile& profile, const profile::Profile* other,
              const format::Sink& sink) {
  profile::Metric metric = profile::metric_of_work(profile).value_or(profile::Metric::kCalls);
  // That format counts samples, whatever time they stand for.
  const bool has_samples = profile::has_metric(profile, profile::Metric::kSamples);
  if (options.to == ExportFormat::kHprofText && has_samples) metric = profile::Metric::kSamples;
  metric = options.metric.value_or(metric);
  switch (options.to) {
    case ExportFormat::kJsonl: return format::jsonl::write(profile, sink);
    case ExportFormat::kCollapsed: return format::collapsed::write(profile, metric, sink);
    case ExportFormat::kPprof: return format::pprof::write(profile, sink);
    case ExportFormat::kSpeedscope: return format::speedscope::write(profile, sink);
    case ExportFormat::kCsv: return format::csv::write(profile, sink);
    case ExportFormat::kHprofText: return format::hproftext::write(profile, metric, options.depth, sink);
    case ExportFormat::kFirefox: return format::firefox::write(profile, metric, sink);
    case ExportFormat::kJfr: return format::jfr::write(profile, sink);
    case ExportFormat::kHtml: return format::html::write(profile, other, sink);
  }
  return false;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// What can be said before anything is read; false after a message.
bool is_possible(const ExportOptions& options, const Console& console) {
  if (options.to == ExportFormat::kHtml && !format::html::is_available()) {
    console.say("this Sonde was built without the browser view, so it cannot write html");
    console.note("       Install node and npm and build again with `./dev build`; other formats work.\n");
    return false;
  }
  if (!options.diff.empty() && options.to != ExportFormat::kHtml) {
    console.say("--diff works with --to html only");
    console.note("       `sonde diff A B` compares recordings as text and JSON.\n");
    return false;
  }
  return true;
}

}  // namespace

int export_recording(const ExportOptions& options, const Console& console) {
  if (!is_possible(options, console)) return kFailed;
  const unsigned steps = options.diff.empty() ? 2 : 3;
  console.doing("reading " + options.file, 1, steps);
  const auto profile = open_recording(options.file, console);
  if (!profile) return kFailed;
  std::optional<profile::Profile> other;
  if (!options.diff.empty()) {
    console.doing("reading " + options.diff, 2, steps);
    other = open_recording(options.diff, console);
    if (!other) return kFailed;
  }
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
  console.doing("writing " + (file ? options.out : "the export"), steps, steps);
  if (::isatty(::fileno(target.out)) != 0) console.done();
  std::uint64_t size = 0;
  const bool is_written = write_as(options, *profile, other ? &*other : nullptr, [&](std::string_view text) {
    const std::uint64_t megabytes = size >> 20;
    size += text.size();
    if (console.activity != nullptr && size >> 20 != megabytes) console.activity->detail(byte_size(size));
    return std::fwrite(text.data(), 1, text.size(), target.out) == text.size();
  });
  console.done();
  const bool is_flushed = target.flush();  // says why if it is not
  if (const std::string losses = losses_of(*profile); !losses.empty()) console.note(losses);
  return is_written && is_flushed ? kOk : kFailed;
}

}  // namespace sonde::cli
