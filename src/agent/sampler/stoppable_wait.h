// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What a thread of ours sleeps in: until a time, or until it is to stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sonde::agent {

class StoppableWait {
 public:
  // False as soon as stop() was called.
  bool until(std::uint64_t monotonic_ns) {
    const std::chrono::steady_clock::time_point time{std::chrono::nanoseconds(monotonic_ns)};
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [&] { return is_stopped_; });
    return !is_stopped_;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;  // guarded by mutex_
};

}  // namespace sonde::agent
