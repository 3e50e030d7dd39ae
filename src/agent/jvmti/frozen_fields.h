// SPDX-License-Identifier: Apache-2.0
// Where Java objects keep the frames of virtual threads, and what parked threads wait for: the parts of layouts that
// the JVM chooses.
#pragma once

#include <jni.h>

#include "agent/vm/hotspot/frozen_frames.h"
#include "agent/vm/hotspot/park_blocker.h"

namespace sonde::agent {

// Not known if the JVM or one of the fields is.
hotspot::FrozenLayout find_frozen_fields(JNIEnv* jni, const hotspot::VmStructs& structs);
hotspot::ParkLayout find_park_fields(JNIEnv* jni, const hotspot::VmStructs& structs, const hotspot::Layout& layout);

}  // namespace sonde::agent
