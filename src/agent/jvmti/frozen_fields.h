// SPDX-License-Identifier: Apache-2.0
// Where Java objects keep the frames of virtual threads: the part of hotspot::FrozenLayout that the JVM chooses.
#pragma once

#include <jni.h>

#include "agent/vm/hotspot/frozen_frames.h"

namespace sonde::agent {

// Not known if the JVM or one of the fields is.
hotspot::FrozenLayout find_frozen_fields(JNIEnv* jni, const hotspot::VmStructs& structs);

}  // namespace sonde::agent
