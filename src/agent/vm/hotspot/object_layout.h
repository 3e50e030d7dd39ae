// SPDX-License-Identifier: Apache-2.0
// How objects lie in the heap and refer to each other and to their classes. Known for collectors that move objects at
// pauses only, and for headers with a class pointer of 32 bits.
#pragma once

#include <cstdint>

#include "agent/vm/hotspot/vm_structs.h"

namespace sonde::agent::hotspot {

struct ObjectLayout {
  bool is_known = false;
  std::uint64_t heap_low = 0;
  std::uint64_t heap_high = 0;
  std::uint64_t oop_base = 0;
  std::uint32_t oop_shift = 0;
  bool oops_are_narrow = false;
  std::uint64_t klass_base = 0;
  std::uint32_t klass_shift = 0;
};

ObjectLayout find_object_layout(const VmStructs& structs);

}  // namespace sonde::agent::hotspot
