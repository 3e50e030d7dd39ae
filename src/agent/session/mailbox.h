// SPDX-License-Identifier: Apache-2.0
// Threads of the program ask, one thread of ours answers, one question at a time. Nobody who asks waits for ever: if
// an answer takes longer than the limit, the mailbox closes, for good, and everybody goes on without one. So whatever
// the answering thread does, the program cannot be stopped by it.
//
//   asks:     idle ──────► posted                  answered ──────► idle
//   answers:               posted ──────► answered
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

namespace sonde::agent {

class Mailbox {
 public:
  explicit Mailbox(std::chrono::milliseconds limit) : limit_(limit) {}

  // Context: [probe], or wherever a thread of the program is. Calls `prepare` while nobody else asks; it leaves the
  // question where the other side looks for it. Nullopt if there is no answer.
  std::optional<std::int64_t> ask(const std::function<void()>& prepare);

  // Context: [agent], the thread that answers. False once the mailbox is closed.
  bool wait();
  void answer(std::int64_t value);

  // Context: any. Returns whether it was open until now.
  bool close();
  [[nodiscard]] bool is_closed() const { return closed_.load(); }

 private:
  enum class State : std::uint8_t { kIdle, kPosted, kAnswered };

  [[nodiscard]] bool is_answered() const { return state_ == State::kAnswered || closed_; }
  bool sleep_until_answered();
  void move_to(State state, const std::atomic<bool>& sleeps);
  template <typename Done>
  bool spin_until(Done&& done) const;

  const std::chrono::milliseconds limit_;
  std::timed_mutex askers_;  // whose turn it is to ask; held until the answer is there
  std::int64_t value_ = 0;
  // Each side stores its own variable, then loads the other's (seq_cst), so that no wake-up is lost.
  std::atomic<State> state_ = State::kIdle;
  std::atomic<bool> asker_sleeps_ = false;
  std::atomic<bool> answerer_sleeps_ = false;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;  // for the condition variable only
  std::condition_variable changed_;
};

}  // namespace sonde::agent
