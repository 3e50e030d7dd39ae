// SPDX-License-Identifier: Apache-2.0
// With LD_PRELOAD: a thread of a program that runs before its JVM does, and uses CPU time for as long as that lives.
// Only in programs called "java".
#include <pthread.h>

#include <cstring>

extern "C" char* program_invocation_short_name;

namespace {

void* burn(void*) {
  pthread_setname_np(pthread_self(), "early");
  for (;;) asm volatile("pause");
}

[[gnu::constructor]] void start() {
  pthread_t thread{};
  if (std::strcmp(program_invocation_short_name, "java") == 0) pthread_create(&thread, nullptr, burn, nullptr);
}

}  // namespace
