// SPDX-License-Identifier: Apache-2.0
// Stacks by the JVM's own AsyncGetCallTrace: for JVMs whose layouts Sonde does not know.
#pragma once

#include "agent/sampler/signal_handler.h"

namespace sonde::agent {

// Finds the function in the JVM. False if it has none.
bool find_agct();
// [signal]
std::uint64_t walk_by_agct(ThreadSlot& slot, const void* ucontext, RawSample& sample);

}  // namespace sonde::agent
