// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What a parked thread waits for: the class of the object that LockSupport.park was told of, which
// java.lang.Thread keeps. Objects are read from outside while the JVM runs, through guarded reads; with collectors that
// move them only at pauses a thread that stays parked is read right. Who moved on meanwhile gives nothing or his next
// blocker.
#pragma once

#include <cstdint>
#include <string>

#include "agent/vm/hotspot/frozen_frames.h"
#include "agent/vm/hotspot/layout.h"
#include "agent/vm/hotspot/vm_structs.h"

namespace sonde::agent::hotspot {

struct ParkLayout {
  bool is_known = false;
  std::uint32_t thread_object = 0;  // JavaThread::_threadObj, an OopHandle: a pointer to the oop
  std::uint32_t park_blocker = 0;   // java.lang.Thread; as the JVM places it
  std::uint32_t klass_name = 0;
  std::uint32_t symbol_length = 0;
  std::uint32_t symbol_body = 0;
  ObjectLayout objects;
};

// Everything but the Java field; not known if something is missing.
ParkLayout find_park_layout(const VmStructs& structs, const Layout& layout);

// "java.util.concurrent.locks.ReentrantLock$NonfairSync"; "" if it cannot be told.
std::string blocker_class(const ParkLayout& layout, std::uint64_t java_thread);

}  // namespace sonde::agent::hotspot
