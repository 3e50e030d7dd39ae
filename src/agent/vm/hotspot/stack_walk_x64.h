// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. Walks the Java frames of an interrupted thread and notes program counters: nothing is decoded
// here. It reads the thread's own stack, between the bounds its slot has, the code cache, and the thread's JavaThread,
// which live as long as the thread runs; methods, through method_log.h; and, for virtual threads, their stack chunks in
// the heap, through heap_reader.h. It follows no other pointer. So no read can fault.
#pragma once

#include "agent/sampler/signal_handler.h"
#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/frozen_frames.h"
#include "agent/vm/hotspot/method_log.h"

namespace sonde::agent::hotspot {

// Before the first walk; the code cache lives as long as the process.
void set_code_cache(const CodeCache& cache);
void set_method_log(MethodLog& log);
void set_frozen_layout(const FrozenLayout& layout);
std::uint64_t walk_java_stack(ThreadSlot& slot, const void* ucontext, RawSample& sample);

}  // namespace sonde::agent::hotspot
