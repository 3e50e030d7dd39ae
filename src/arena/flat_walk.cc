// SPDX-License-Identifier: Apache-2.0
// Reader::visit_flat.
#include <string>

#include "arena/counts.h"
#include "arena/reader.h"

namespace sonde::arena {

void Reader::visit_flat(std::uint32_t block, const std::function<void(const Context&)>& visit, Damage& damage) const {
  if (block >= flat_blocks_end_) return;
  for (const MethodEntry& method : methods_) {
    if (method.id / kFlatPageSlots >= kFlatPlanes) break;  // methods_ is in the order of ids
    const std::uint64_t offset = flat_offset_ + flat_slot_offset(block, method.id);
    const auto* slot = at<FlatSlot>(offset);
    // In this order: a correction is stored after the call it corrects was counted.
    const std::uint64_t stored = acquire(slot->bytecodes);
    const std::uint64_t calls = relaxed(slot->calls);
    if (calls == 0 && stored == 0) continue;
    std::uint64_t bytecodes = bytecodes_of(&method, calls, stored);
    if (static_cast<std::int64_t>(bytecodes) < 0) {
      damage.add("method " + std::to_string(method.id) + " has a negative count of bytecodes", offset);
      bytecodes = 0;
    }
    visit({.depth = 1,
           .method_id = method.id,
           .method = &method,
           .site_index = 0,
           .site = {},
           .calls = calls,
           .bytecodes = bytecodes});
  }
}

}  // namespace sonde::arena
