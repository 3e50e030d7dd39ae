// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/own_thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"

namespace sonde::agent {

bool OwnThread::start(const char* name, std::function<void()> run) {
  name_ = name;
  run_ = std::move(run);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread has the mask of its creator
  is_started_ = pthread_create(&thread_, nullptr, enter, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // Its number is known before anybody lists the threads of the process.
  while (is_started_ && tid_.load() == 0) sched_yield();
  return is_started_;
}

void* OwnThread::enter(void* self) {
  auto& thread = *static_cast<OwnThread*>(self);
  pthread_setname_np(pthread_self(), thread.name_);
  thread.tid_.store(static_cast<pid_t>(syscall(SYS_gettid)));
  thread.run_();
  thread.final_cpu_ns_.store(thread_cpu_ns());
  return nullptr;
}

void OwnThread::join() {
  if (!is_started_) return;
  pthread_join(thread_, nullptr);
  is_started_ = false;
}

std::uint64_t OwnThread::cpu_ns() const {
  clockid_t clock = 0;
  if (const std::uint64_t all = final_cpu_ns_.load(); all != 0) return all;
  return is_started_ && pthread_getcpuclockid(thread_, &clock) == 0 ? clock_ns(clock) : 0;
}

}  // namespace sonde::agent
