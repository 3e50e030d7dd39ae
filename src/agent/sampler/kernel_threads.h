// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What the kernel knows of the threads of this process, those of the JVM itself among them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace sonde::agent {

std::vector<pid_t> threads_of_process();
// How the kernel calls a thread, at most 15 characters: "GC Thread#0". Until it names itself it has the name of the
// thread that made it. Nothing if it has ended.
std::string kernel_name(pid_t tid);

}  // namespace sonde::agent
