// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/gate_command.h"
#include "cli/output_file.h"
#include "cli/recording_file.h"

namespace sonde::cli {
namespace {

constexpr const char* kLimitsFile = "sonde.toml";
constexpr std::uintmax_t kMaxTextFile = 64 << 20;  // far more than anyone has written

Result<std::string> read_text(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return Error{ErrorCode::kNotFound, "cannot be read: " + error.message()};
  if (size > kMaxTextFile) return Error{ErrorCode::kTooLarge, "is larger than 64 MB, so it is something else"};
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream) return Error{ErrorCode::kIo, "cannot be read"};
  return text;
}

std::optional<gate::Baseline> open_baseline(const std::string& path, const Console& console) {
  Result<std::string> text = read_text(path);
  if (!text.ok()) {
    console.fail(path, text.error(), "`sonde baseline RECORDING -o FILE` makes a baseline.");
    return std::nullopt;
  }
  Result<gate::Baseline> baseline = gate::parse_baseline(*text);
  if (!baseline.ok()) {
    console.fail(path, baseline.error(), "`sonde baseline RECORDING -o FILE` makes it anew.");
    return std::nullopt;
  }
  return std::move(baseline).value();
}

}  // namespace

std::optional<gate::Limits> open_limits(const std::string& path, const Console& console) {
  if (path.empty() && !std::filesystem::exists(kLimitsFile)) return gate::default_limits();
  const std::string& file = path.empty() ? kLimitsFile : path;
  Result<std::string> text = read_text(file);
  Result<gate::Limits> limits = text.ok() ? gate::parse_limits(*text) : Result<gate::Limits>(text.error());
  if (!limits.ok()) {
    console.fail(file, limits.error(), "docs/user/ci.md shows what such a file may hold.");
    return std::nullopt;
  }
  // A file that only says what varies leaves the limits as they are.
  if (limits->limits.empty()) limits->limits = gate::default_limits().limits;
  return std::move(limits).value();
}

int baseline(const BaselineOptions& options, const Console& console) {
  const auto limits = open_limits(options.limits, console);
  if (!limits) return kFailed;
  console.doing("reading " + options.file, 1, 2);
  const auto profile = open_recording(options.file, console);
  if (!profile) return kFailed;
  if (profile->recording.state != profile::State::kEnded) {
    console.say(options.file + ": is not complete: its JVM did not end in good order, so it is no baseline");
    return kFailed;
  }
  if (const std::string losses = losses_of(*profile); !losses.empty()) console.note(losses);
  console.doing("adding up", 2, 2);
  const gate::Baseline made = gate::make_baseline(*profile, *limits, options.min_percent);
  return write_output(options.out, gate::text_of(made), console) ? kOk : kFailed;
}

int check_gate(const CheckGateOptions& options, const Console& console) {
  const auto limits = open_limits(options.limits, console);
  if (!limits) return kFailed;
  const auto known = open_baseline(options.baseline, console);
  if (!known) return kFailed;
  console.doing("reading " + options.file, 1, 2);
  const auto profile = open_recording(options.file, console);
  if (!profile) return kFailed;
  console.doing("comparing", 2, 2);
  const Result<gate::CheckResult> result = gate::check(*profile, *known, *limits);
  if (!result.ok()) {
    console.fail(options.file, result.error(),
                 "Record in the same way as the baseline, or make the baseline anew with `sonde baseline`.");
    return kFailed;
  }
  const CheckReport report{options, *profile, *known, *limits, *result};
  console.data(options.json ? check_json(report) : check_text(report, console));
  bool is_written = console.flush();
  if (!options.markdown.empty()) is_written &= write_output(options.markdown, check_markdown(report), console);
  if (!options.junit.empty()) is_written &= write_output(options.junit, check_junit(report), console);
  if (!is_written) return kFailed;
  return result->verdict == gate::Verdict::kHard ? kRegression : kOk;
}

}  // namespace sonde::cli
