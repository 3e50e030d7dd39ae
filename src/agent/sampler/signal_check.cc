// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/signal_check.h"

#ifdef SONDE_CHECK_SIGNALS

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace sonde::agent {
namespace {

// In the thread's own block, so that touching it allocates nothing.
[[gnu::tls_model("initial-exec")]] constinit thread_local int t_handlers = 0;

void assert_outside_of_handlers(const char* what) {
  if (t_handlers == 0) return;
  constexpr char kText[] = "sonde: a signal handler ";
  (void)!write(2, kText, sizeof kText - 1);
  (void)!write(2, what, std::strlen(what));
  std::abort();
}

}  // namespace

SignalScope::SignalScope() SIGNAL_SAFE { ++t_handlers; }
SignalScope::~SignalScope() SIGNAL_SAFE { --t_handlers; }

}  // namespace sonde::agent

// Ours alone: nothing of the library is visible outside.
void* operator new(std::size_t size) {
  sonde::agent::assert_outside_of_handlers("allocates memory\n");
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept {
  sonde::agent::assert_outside_of_handlers("frees memory\n");
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  sonde::agent::assert_outside_of_handlers("takes a lock\n");
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return lock(mutex);
}

#endif
