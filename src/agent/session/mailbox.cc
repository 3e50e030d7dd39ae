// SPDX-License-Identifier: Apache-2.0
#include "agent/session/mailbox.h"

namespace sonde::agent {
namespace {

// An answer usually comes within a few microseconds; going to sleep and being woken takes longer.
constexpr int kSpins = 2000;
// Time that passes while the whole process is stopped, by a debugger or ^Z, counts as one slice at most.
constexpr std::chrono::milliseconds kSlice{20};

void relax() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

}  // namespace

template <typename Done>
bool Mailbox::spin_until(Done&& done) const {
  for (int i = 0; i < kSpins; ++i) {
    if (done()) return true;
    relax();
  }
  return false;
}

// False if the limit passes before.
bool Mailbox::sleep_until_answered() {
  std::unique_lock lock(mutex_);
  asker_sleeps_ = true;
  const auto done = [&] { return is_answered(); };
  auto slept = std::chrono::milliseconds::zero();
  for (; !done() && slept < limit_; slept += kSlice) changed_.wait_for(lock, kSlice, done);
  asker_sleeps_ = false;
  return done();
}

void Mailbox::move_to(State state, const std::atomic<bool>& sleeps) {
  state_ = state;
  if (!sleeps) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

std::optional<std::int64_t> Mailbox::ask(const std::function<void()>& prepare) {
  do {
    if (closed_) return std::nullopt;
  } while (!askers_.try_lock_for(kSlice));
  const std::lock_guard turn(askers_, std::adopt_lock);
  if (closed_) return std::nullopt;
  prepare();
  move_to(State::kPosted, answerer_sleeps_);
  if (!spin_until([&] { return is_answered(); }) && !sleep_until_answered()) close();
  if (closed_) return std::nullopt;
  const std::int64_t value = value_;
  state_ = State::kIdle;
  return value;
}

bool Mailbox::wait() {
  const auto done = [&] { return state_ == State::kPosted || closed_; };
  if (!spin_until(done)) {
    std::unique_lock lock(mutex_);
    answerer_sleeps_ = true;
    changed_.wait(lock, done);
    answerer_sleeps_ = false;
  }
  return !closed_;
}

void Mailbox::answer(std::int64_t value) {
  value_ = value;
  move_to(State::kAnswered, asker_sleeps_);
}

bool Mailbox::close() {
  const bool was_open = !closed_.exchange(true);
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
  return was_open;
}

}  // namespace sonde::agent
