// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/perf_event.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>

namespace sonde::agent {

int open_perf_event(const PerfEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = event.period_ns;
  attributes.wakeup_events = 1;
  attributes.disabled = 1;
  attributes.exclude_kernel = event.with_kernel_time ? 0 : 1;
  attributes.exclude_hv = 1;
  if (event.is_trap) {
    attributes.sigtrap = attributes.remove_on_exec = 1;
    attributes.sig_data = reinterpret_cast<std::uint64_t>(event.trap_data);
  }
  if (event.is_inherited) attributes.inherit = attributes.inherit_thread = 1;  // not by other processes
  if (event.with_kernel_stack) {
    attributes.sample_type = PERF_SAMPLE_CALLCHAIN;
    attributes.exclude_callchain_user = 1;
  }
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, event.tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

bool has_good_traps() {
  utsname system{};
  int major = 0;
  int minor = 0;
  if (uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 11);
}

}  // namespace sonde::agent
