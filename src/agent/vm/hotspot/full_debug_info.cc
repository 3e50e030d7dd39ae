// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/full_debug_info.h"

namespace sonde::agent::hotspot {

bool FullDebugInfo::begin(const VmStructs& structs) {
  const VmStructs::Flag flag = structs.flag("DebugNonSafepoints");
  if (flag.value == nullptr) return false;
  auto* const value = static_cast<bool*>(flag.value);
  if (!flag.is_default || *value) return true;
  __atomic_store_n(value, true, __ATOMIC_RELAXED);
  changed_ = value;
  return true;
}

void FullDebugInfo::end() {
  if (changed_ != nullptr) __atomic_store_n(changed_, false, __ATOMIC_RELAXED);
  changed_ = nullptr;
}

}  // namespace sonde::agent::hotspot
