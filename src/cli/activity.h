// SPDX-License-Identifier: Apache-2.0
// A line on a terminal that says what a command is doing: a bar, the step it is at, how long it has taken. It appears
// after a second, moves by itself, and is gone before anything else is written.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace sonde::cli {

class Activity {
 public:
  using Clock = std::chrono::steady_clock;

  // Nothing is ever shown if `terminal` is null.
  explicit Activity(std::FILE* terminal, Clock::duration show_after = std::chrono::seconds(1));
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // What happens from now on: step `step` of `steps`. The time is that since the first one.
  void begin(std::string what, unsigned step, unsigned steps);
  // A word about how far that is, e.g. "12.3 MB".
  void detail(std::string text);
  // Nothing more is done that takes long: takes the line away.
  void end();

 private:
  void run();
  void draw();
  void erase();

  std::FILE* const terminal_;
  const Clock::duration show_after_;
  Clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  // "": nothing is shown
  std::string detail_;
  unsigned step_ = 0;
  unsigned steps_ = 0;
  bool is_shown_ = false;
  bool is_over_ = false;
  std::thread thread_;  // from the first begin() on
};

}  // namespace sonde::cli
