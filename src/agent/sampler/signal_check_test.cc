// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/signal_check.h"

#include <gtest/gtest.h>

#include <mutex>
#include <new>

namespace sonde::agent {
namespace {

TEST(SignalCheckDeathTest, HandlersNeitherAllocateNorLock) {
  std::mutex mutex;
  const auto allocate = [] {
    const SignalScope scope;
    ::operator delete(::operator new(16));
  };
  const auto lock = [&] {
    const SignalScope scope;
    const std::lock_guard guard(mutex);
  };
  EXPECT_DEATH(allocate(), "a signal handler allocates memory");
  EXPECT_DEATH(lock(), "a signal handler takes a lock");
  const std::lock_guard guard(mutex);
  ::operator delete(::operator new(16));
}

}  // namespace
}  // namespace sonde::agent
