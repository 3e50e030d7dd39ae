// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. A thread of ours in somebody else's process: it takes none of the program's signals.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace sonde::agent {

inline bool start_own_thread(pthread_t& thread, void* (*run)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread has the mask of its creator
  const bool is_started = pthread_create(&thread, nullptr, run, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

}  // namespace sonde::agent
