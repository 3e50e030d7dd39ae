// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/frozen_frames.h"

namespace sonde::agent::hotspot {

FrozenLayout find_frozen_layout(const VmStructs& structs) {
  const auto entry = structs.offset("JavaThread", "_cont_entry");
  const auto layout_helper = structs.offset("Klass", "_layout_helper");
  FrozenLayout layout{find_object_layout(structs)};
  layout.is_known = layout.is_known && entry && layout_helper && structs.size("ContinuationEntry") == kEntrySize;
  layout.thread_entry = static_cast<std::uint32_t>(entry.value_or(0));
  if (!layout.is_known) return layout;
  layout.klass_layout = static_cast<std::uint32_t>(*layout_helper);
  return layout;
}

}  // namespace sonde::agent::hotspot
