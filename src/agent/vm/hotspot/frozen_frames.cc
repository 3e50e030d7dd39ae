// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/frozen_frames.h"

#include <unistd.h>

namespace sonde::agent::hotspot {
namespace {

CollectorState find_collector(const VmStructs& structs) {
  const auto heap = structs.address("Universe", "_collectedHeap");
  auto active = structs.offset("CollectedHeap", "_is_stw_gc_active");
  if (!active) active = structs.offset("CollectedHeap", "_is_gc_active");  // JDK 21's name
  const auto count = structs.offset("CollectedHeap", "_total_collections");
  if (!heap || !active || !count) return {};
  const auto address = load<std::uint64_t>(*heap);
  if (address == 0) return {};
  return {.active_at = address + *active, .count_at = address + *count, .self = getpid()};
}

}  // namespace

FrozenLayout find_frozen_layout(const VmStructs& structs) {
  const auto entry = structs.offset("JavaThread", "_cont_entry");
  const auto thread_object = structs.offset("JavaThread", "_threadObj");
  const auto layout_helper = structs.offset("Klass", "_layout_helper");
  FrozenLayout layout{find_object_layout(structs)};
  layout.is_known =
      layout.is_known && entry && thread_object && layout_helper && structs.size("ContinuationEntry") == kEntrySize;
  layout.thread_entry = static_cast<std::uint32_t>(entry.value_or(0));
  if (!layout.is_known) return layout;
  layout.thread_object = static_cast<std::uint32_t>(*thread_object);
  layout.collector = find_collector(structs);
  layout.collector.color_at = layout.color_at;
  layout.klass_layout = static_cast<std::uint32_t>(*layout_helper);
  return layout;
}

}  // namespace sonde::agent::hotspot
