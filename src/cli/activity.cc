// SPDX-License-Identifier: Apache-2.0
#include "cli/activity.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cli {
namespace {

constexpr std::chrono::milliseconds kUpdateEvery{100};
constexpr unsigned kBarWidth = 20;

}  // namespace

Activity::Activity(std::FILE* terminal, Clock::duration show_after) : terminal_(terminal), show_after_(show_after) {}

Activity::~Activity() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    erase();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Activity::begin(std::string what, unsigned step, unsigned steps) {
  if (terminal_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (what_.empty()) start_ = Clock::now();
  what_ = std::move(what);
  detail_.clear();
  step_ = step;
  steps_ = std::max(steps, 1U);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void Activity::detail(std::string text) {
  if (terminal_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  detail_ = std::move(text);
}

void Activity::end() {
  if (terminal_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  what_.clear();
  erase();
}

void Activity::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kUpdateEvery, [&] { return is_over_; })) {
    if (!what_.empty() && Clock::now() - start_ >= show_after_) draw();
  }
}

void Activity::draw() {
  const unsigned filled = kBarWidth * step_ / (steps_ + 1);  // the last step is not done while it is shown
  const std::chrono::duration<double> taken = Clock::now() - start_;
  fmt::print(terminal_, "\r\x1b[K[{:#<{}}{:.<{}}] {}/{} {}{}{}, {:.0f} s", "", filled, "", kBarWidth - filled, step_,
             steps_, what_, detail_.empty() ? "" : ", ", detail_, taken.count());
  std::fflush(terminal_);
  is_shown_ = true;
}

void Activity::erase() {
  if (!is_shown_) return;
  fmt::print(terminal_, "\r\x1b[K");
  std::fflush(terminal_);
  is_shown_ = false;
}

}  // namespace sonde::cli
