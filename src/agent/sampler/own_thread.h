// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. A thread of ours in somebody else's process: it takes none of the program's signals.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>

namespace sonde::agent {

class OwnThread {
 public:
  // False if the system allows no more threads.
  bool start(const char* name, std::function<void()> run);
  // Returns when `run` has; at once if it never started.
  void join();

  [[nodiscard]] pid_t tid() const { return tid_.load(); }  // 0: never started
  // So far, or all that it ever used.
  [[nodiscard]] std::uint64_t cpu_ns() const;

 private:
  static void* enter(void* self);

  pthread_t thread_{};
  bool is_started_ = false;
  const char* name_ = "";
  std::function<void()> run_;
  std::atomic<pid_t> tid_{0};
  std::atomic<std::uint64_t> final_cpu_ns_{0};
};

}  // namespace sonde::agent
