// SPDX-License-Identifier: Apache-2.0
// Where a virtual thread's callers lie while only its innermost frames are on the carrier's stack: in objects of
// jdk.internal.vm.StackChunk, each with a piece of stack behind its fields (stackChunkOop.hpp). Known from JDK 21 on
// for the collectors that object_layout.h knows.
#pragma once

#include <cstdint>

#include "agent/vm/hotspot/heap_reader.h"
#include "agent/vm/hotspot/object_layout.h"
#include "agent/vm/hotspot/vm_structs.h"

namespace sonde::agent::hotspot {

// Plain numbers: the handler reads them.
struct FrozenLayout : ObjectLayout {
  std::uint32_t thread_entry = 0;   // JavaThread::_cont_entry; also if the rest is not known
  std::uint32_t thread_object = 0;  // JavaThread::_threadObj, an OopHandle: a pointer to the oop
  CollectorState collector;         // not known: only while the thread runs Java code
  std::uint32_t klass_layout = 0;   // Klass::_layout_helper: the size of an object, behind which its stack begins
  // Of Java fields, as the JVM places them.
  std::uint32_t thread_continuation = 0;  // Thread.cont: the innermost one that the thread carries
  std::uint32_t continuation_parent = 0;
  std::uint32_t continuation_tail = 0;
  std::uint32_t chunk_parent = 0;
  std::uint32_t chunk_size = 0;
  std::uint32_t chunk_sp = 0;
  std::uint32_t chunk_bottom = 0;
};

// ContinuationEntry on the carrier's stack (continuationEntry.hpp of JDK 21 to 25, checked by its size).
inline constexpr std::uint32_t kEntrySize = 64;
inline constexpr std::uint32_t kEntryContinuation = 16;

// Everything but the Java fields; not known if something is missing.
FrozenLayout find_frozen_layout(const VmStructs& structs);

}  // namespace sonde::agent::hotspot
