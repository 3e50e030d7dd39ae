// SPDX-License-Identifier: Apache-2.0
// Where a command writes: data to `out`, words to `err`. Tests hand in memory streams.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/activity.h"

namespace sonde::cli {

enum ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2, kRegression = 3 };

enum class Ink : std::uint8_t { kPlain, kBold, kDim, kRed, kGreen, kYellow };

struct Console {
  std::FILE* out;
  std::FILE* err;
  bool err_is_terminal = false;
  bool has_colours = false;  // `out` shows them
  std::size_t width = 0;     // of `out` in characters; 0: as wide as it takes
  Activity* activity = nullptr;

  // Shown if it takes long, until something is written: "reading a.sonde", the first of 3 steps.
  void doing(std::string_view what, unsigned step, unsigned steps) const;
  // Nothing that takes long follows.
  void done() const;

  void data(std::string_view text) const;
  // One line for the user: "sonde: " in front, a newline behind.
  void say(std::string_view text) const;
  // Words that are whole lines already.
  void note(std::string_view lines) const;
  // What failed, where, and what to do about it.
  void fail(std::string_view subject, const Error& error, std::string_view next_step) const;
  // With the codes for the colour, if there are colours.
  [[nodiscard]] std::string inked(std::string_view text, Ink ink) const;
  // False, with a message, if something that was written did not arrive (a full disk).
  [[nodiscard]] bool flush() const;
};

// Names come from class files and paths: a control character in one must not reach the terminal.
std::string on_one_line(std::string text);
// "path, method `f()V`: message (byte 17)", on one line whatever the names hold.
std::string describe(std::string_view subject, const Error& error);
// A sentence about what helps if this is wrong with a class; "" if nothing general does.
std::string_view help_for_class(const Error& error);
// The same for a path that could not be opened.
std::string_view help_for_path(const Error& error);

std::string grouped(std::uint64_t number);                // 27,013
std::string rounded(std::uint64_t number);                // 27,013 below a million, then 12.3 M
std::string seconds(std::chrono::duration<double> time);  // 0.08 s, 1.2 s

// A line on a terminal that counts up while a long command runs; nothing anywhere else.
class Progress {
 public:
  Progress(const Console& console, std::string_view unit);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // One more is done, `name` is the next.
  void step(std::string_view name);
  // Takes the line away so that something else can be written.
  void clear();
  [[nodiscard]] std::chrono::duration<double> elapsed() const { return Clock::now() - start_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Console& console_;
  std::string_view unit_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_update_;
  std::uint64_t done_ = 0;
  bool shown_ = false;
};

}  // namespace sonde::cli
