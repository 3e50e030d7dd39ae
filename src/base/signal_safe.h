// SPDX-License-Identifier: Apache-2.0
// SIGNAL_SAFE marks functions that a signal handler may call: they interrupt anything, so they take no lock, allocate
// nothing and touch no thread-local variable but errno, which the handler restores. Clang 20 and later follows the
// calls and rejects what is not marked (-Wfunction-effects); for other compilers the mark means noexcept.
#pragma once

#include <cerrno>

#if defined(__clang__) && __clang_major__ >= 20
#define SIGNAL_SAFE noexcept [[clang::nonblocking]]
#else
#define SIGNAL_SAFE noexcept
#endif

namespace sonde {

// Handlers must not change errno under the code they interrupt.
class ErrnoSaver {
 public:
  ErrnoSaver() SIGNAL_SAFE : saved_(errno) {}
  ~ErrnoSaver() SIGNAL_SAFE { errno = saved_; }
  ErrnoSaver(const ErrnoSaver&) = delete;
  ErrnoSaver& operator=(const ErrnoSaver&) = delete;

 private:
  int saved_;
};

}  // namespace sonde
