// SPDX-License-Identifier: Apache-2.0
// How objects lie in the heap and refer to each other and to their classes. Known for collectors that move objects at
// pauses only and for the generational ZGC, and for class pointers of 32 bits or less.
#pragma once

#include <cstdint>

#include "agent/vm/hotspot/vm_structs.h"
#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

struct ObjectLayout {
  bool is_known = false;
  std::uint64_t heap_low = 0;
  std::uint64_t heap_high = 0;
  std::uint64_t oop_base = 0;
  std::uint32_t oop_shift = 0;
  bool oops_are_narrow = false;
  std::uint64_t color_at = 0;  // address of ZGC's good color: oops in memory are colored (heap_reader.h); else 0
  std::uint64_t klass_base = 0;
  std::uint32_t klass_shift = 0;
  std::uint32_t klass_at = 0;    // in the object's header, 32 bits
  std::uint32_t klass_skip = 0;  // so many of them, the lowest ones, say something else

  [[nodiscard]] std::uint64_t klass_of(std::uint32_t header) const SIGNAL_SAFE {
    return klass_base + (std::uint64_t{header >> klass_skip} << klass_shift);
  }
};

ObjectLayout find_object_layout(const VmStructs& structs);

}  // namespace sonde::agent::hotspot
