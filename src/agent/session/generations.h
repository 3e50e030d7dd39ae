// SPDX-License-Identifier: Apache-2.0
// Context: [agent], any thread. Something that many threads use without a lock and that is replaced by a new one now
// and then. The one before is deleted when nobody uses it any more; whoever asks gets the newest.
//
// What says who uses a generation is never deleted: a thread may have read which one is the newest and count itself as
// a user when it is long gone. It sees that it is not the newest then, and asks again.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace sonde::agent {

template <typename T>
class Generations {
  struct Generation {
    std::atomic<std::uint32_t> users{0};
    std::unique_ptr<T> thing;  // changed with the mutex held, and only if there are no users
  };

 public:
  // While it lives so does what it refers to, if there is anything.
  class Use {
   public:
    explicit Use(Generations& all) : generation_(all.enter()) {}
    ~Use() {
      if (generation_ != nullptr) generation_->users.fetch_sub(1);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    T* get() const { return generation_ == nullptr ? nullptr : generation_->thing.get(); }

   private:
    Generation* generation_;
  };

  // From now on it is `thing`, unless somebody has replaced `old` already.
  void replace(const T* old, std::unique_ptr<T> thing) {
    const std::lock_guard lock(mutex_);
    Generation* newest = newest_.load();
    if ((newest == nullptr ? nullptr : newest->thing.get()) != old) return;
    all_.emplace_back().thing = std::move(thing);
    newest_.store(&all_.back());
    for (Generation& generation : all_) {
      // Whoever becomes a user after this look finds that there is a newer one.
      if (&generation != newest_.load() && generation.users.load() == 0) generation.thing.reset();
    }
  }

 private:
  // All in one order: a user counts itself and then looks for the newest; who replaces it does so the other way round.
  Generation* enter() {
    for (Generation* newest = newest_.load(); newest != nullptr; newest = newest_.load()) {
      newest->users.fetch_add(1);
      if (newest == newest_.load()) return newest;
      newest->users.fetch_sub(1);
    }
    return nullptr;
  }

  std::atomic<Generation*> newest_{nullptr};
  std::mutex mutex_;            // guards what follows
  std::deque<Generation> all_;  // which stay where they are
};

}  // namespace sonde::agent
