// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace sonde::cli {
namespace {

constexpr std::chrono::milliseconds kShowAfter{1000};
constexpr std::chrono::milliseconds kUpdateEvery{100};
constexpr std::size_t kMaxNameWidth = 60;

constexpr std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::kPlain: break;
    case Ink::kBold: return "1";
    case Ink::kDim: return "2";
    case Ink::kRed: return "31";
    case Ink::kGreen: return "32";
    case Ink::kYellow: return "33";
  }
  return "";
}

}  // namespace

std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

std::string Console::inked(std::string_view text, Ink ink) const {
  const std::string_view code = code_of(ink);
  return has_colours && !code.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

void Console::doing(std::string_view what, unsigned step, unsigned steps) const {
  if (activity != nullptr) activity->begin(on_one_line(std::string(what)), step, steps);
}

void Console::done() const {
  if (activity != nullptr) activity->end();
}

void Console::data(std::string_view text) const {
  done();
  std::fwrite(text.data(), 1, text.size(), out);
}

void Console::say(std::string_view text) const {
  done();
  fmt::print(err, "sonde: {}\n", text);
}

void Console::note(std::string_view lines) const {
  done();
  std::fwrite(lines.data(), 1, lines.size(), err);
}

void Console::fail(std::string_view subject, const Error& error, std::string_view next_step) const {
  say(describe(subject, error));
  if (!next_step.empty()) fmt::print(err, "       {}\n", next_step);
}

bool Console::flush() const {
  if (std::fflush(out) == 0 && std::ferror(out) == 0) return true;
  say(fmt::format("cannot write the output: {}", std::strerror(errno)));
  return false;
}

std::string describe(std::string_view subject, const Error& error) {
  const std::string text = error.to_string();
  // Errors about a file as a whole name it themselves.
  return on_one_line(text.starts_with(subject) ? text : fmt::format("{}: {}", subject, text));
}

std::string_view help_for_class(const Error& error) {
  switch (error.code) {
    case ErrorCode::kIo: return "Check that the file can be read by this user.";
    case ErrorCode::kTruncated: return "The data ends too early: copy, download or compile it again.";
    case ErrorCode::kMalformed:
      if (error.where.path == "magic") return "Look at what it is with `file`; only compiled Java classes can be read.";
      return "`javap -v` gives a second opinion. If it reads the class without complaint, please report this.";
    case ErrorCode::kUnsupported: return "A newer Sonde may know it. If this is the newest one, please report this.";
    default: return {};
  }
}

std::string_view help_for_path(const Error& error) {
  if (error.code == ErrorCode::kIo) return "Check that it can be read by this user.";
  return "A path may be a .class file, a folder, a .jar, .zip or .jmod, or a JDK's lib/modules.";
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string rounded(std::uint64_t number) {
  return number < 1'000'000 ? grouped(number) : fmt::format("{:.1f} M", static_cast<double>(number) / 1e6);
}

std::string seconds(std::chrono::duration<double> time) {
  return fmt::format("{:.{}f} s", time.count(), time.count() < 1 ? 2 : 1);
}

Progress::Progress(const Console& console, std::string_view unit)
    : console_(console), unit_(unit), next_update_(start_ + kShowAfter) {}

void Progress::step(std::string_view name) {
  ++done_;
  if (!console_.err_is_terminal) return;
  const Clock::time_point now = Clock::now();
  if (now < next_update_) return;
  next_update_ = now + kUpdateEvery;
  // The end of a name says more than its start.
  if (name.size() > kMaxNameWidth) name.remove_prefix(name.size() - kMaxNameWidth);
  fmt::print(console_.err, "\r\x1b[K{} {}  {}", grouped(done_), unit_, on_one_line(std::string(name)));
  std::fflush(console_.err);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(console_.err, "\r\x1b[K");
  std::fflush(console_.err);
  shown_ = false;
}

}  // namespace sonde::cli
