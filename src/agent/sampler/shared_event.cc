// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/shared_event.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/sampler/perf_event.h"

namespace sonde::agent {
namespace {

// Its address is what signals carry: no slot of a thread lies there.
constinit const char kMark = 0;

}  // namespace

bool SharedEvent::is_mark(const void* data) SIGNAL_SAFE { return data == &kMark; }

bool SharedEvent::open(std::uint64_t interval_ns) {
  PerfEvent event{.period_ns = interval_ns, .is_trap = true, .trap_data = &kMark, .is_inherited = true};
  fd_ = open_perf_event(event);
  has_kernel_time_ = fd_ >= 0;
  if (fd_ >= 0) return true;
  event.with_kernel_time = false;
  fd_ = open_perf_event(event);
  return fd_ >= 0;
}

void SharedEvent::enable() const { ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0); }

void SharedEvent::close() {
  if (fd_ < 0) return;
  ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
  ::close(fd_);
  fd_ = -1;
}

}  // namespace sonde::agent
