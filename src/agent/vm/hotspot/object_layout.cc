// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/object_layout.h"

#include <cstring>
#include <optional>

#include "agent/vm/hotspot/heap_reader.h"

namespace sonde::agent::hotspot {
namespace {

template <typename T>
T read(std::uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

// JDK 21 renamed what 17 has in a struct of its own.
std::optional<std::uint64_t> address_of_either(const VmStructs& structs, const char* type, const char* name,
                                               const char* old_name) {
  const auto address = structs.address(type, name);
  return address ? address : structs.address(type, old_name);
}

// A flag of the JVM; nothing if it has no such flag.
std::optional<bool> flag(const VmStructs& structs, const char* name) {
  const auto flags = structs.address("JVMFlag", "flags");
  const auto count = structs.address("JVMFlag", "numFlags");
  const auto name_at = structs.offset("JVMFlag", "_name");
  const auto address_at = structs.offset("JVMFlag", "_addr");
  const auto size = structs.size("JVMFlag");
  if (!flags || !count || !name_at || !address_at || !size) return std::nullopt;
  for (std::uint64_t i = 0; i < read<std::uint64_t>(*count); ++i) {
    const std::uint64_t entry = read<std::uint64_t>(*flags) + i * *size;
    const char* text = read<const char*>(entry + *name_at);
    if (text == nullptr || std::strcmp(text, name) != 0) continue;
    const auto address = read<std::uint64_t>(entry + *address_at);
    return address == 0 ? std::nullopt : std::optional(read<bool>(address));
  }
  return std::nullopt;
}

// The generational ZGC, whose heap is where one bit of addresses is set; the other one keeps these numbers elsewhere.
bool find_colored_heap(const VmStructs& structs, ObjectLayout& layout) {
  const auto globals = structs.address("ZGlobalsForVMStructs", "_instance_p");
  const auto good = structs.offset("ZGlobalsForVMStructs", "_ZPointerLoadGoodMask");
  const auto bad = structs.offset("ZGlobalsForVMStructs", "_ZPointerLoadBadMask");
  const auto offsets = structs.offset("ZGlobalsForVMStructs", "_ZAddressOffsetMask");
  if (!globals || !good || !bad || !offsets || read<std::uint64_t>(*globals) == 0) return false;
  const auto place_of = [&](std::uint64_t offset) {
    return read<std::uint64_t>(read<std::uint64_t>(*globals) + offset);
  };
  const std::uint64_t colors = read<std::uint64_t>(place_of(*good)) | read<std::uint64_t>(place_of(*bad));
  if (colors != kLoadColors) return false;
  layout.color_at = place_of(*good);
  layout.heap_low = read<std::uint64_t>(place_of(*offsets)) + 1;
  layout.heap_high = 2 * layout.heap_low;
  return true;
}

// Beside the mark, or with compact headers in the upper bits of it.
bool find_klass(const VmStructs& structs, ObjectLayout& layout) {
  const auto base = address_of_either(structs, "CompressedKlassPointers", "_base", "_narrow_klass._base");
  const auto shift = address_of_either(structs, "CompressedKlassPointers", "_shift", "_narrow_klass._shift");
  if (!base || !shift || !flag(structs, "UseCompressedClassPointers").value_or(false)) return false;
  layout.klass_base = read<std::uint64_t>(*base);
  layout.klass_shift = read<std::uint32_t>(*shift);
  layout.klass_at = 8;
  if (!flag(structs, "UseCompactObjectHeaders").value_or(false)) return true;
  const auto place = structs.constant("markWord::klass_shift");
  if (!place || *place < 32 || *place >= 64) return false;
  layout.klass_at = 4;
  layout.klass_skip = static_cast<std::uint32_t>(*place) - 32;
  return true;
}

bool find_heap(const VmStructs& structs, ObjectLayout& layout) {
  if (flag(structs, "UseZGC").value_or(false)) return find_colored_heap(structs, layout);
  const bool is_moving_at_pauses_only = flag(structs, "UseSerialGC").value_or(false) ||
                                        flag(structs, "UseParallelGC").value_or(false) ||
                                        flag(structs, "UseG1GC").value_or(false);
  const auto heap = structs.address("Universe", "_collectedHeap");
  const auto reserved = structs.offset("CollectedHeap", "_reserved");
  const auto start = structs.offset("MemRegion", "_start");
  const auto words = structs.offset("MemRegion", "_word_size");
  if (!is_moving_at_pauses_only || !heap || !reserved || !start || !words || read<std::uint64_t>(*heap) == 0) {
    return false;
  }
  const std::uint64_t region = read<std::uint64_t>(*heap) + *reserved;
  layout.heap_low = read<std::uint64_t>(region + *start);
  layout.heap_high = layout.heap_low + read<std::uint64_t>(region + *words) * 8;
  return true;
}

}  // namespace

ObjectLayout find_object_layout(const VmStructs& structs) {
  ObjectLayout layout;
  const auto oop_base = address_of_either(structs, "CompressedOops", "_base", "_narrow_oop._base");
  const auto oop_shift = address_of_either(structs, "CompressedOops", "_shift", "_narrow_oop._shift");
  if (!oop_base || !oop_shift || !find_klass(structs, layout) || !find_heap(structs, layout)) return layout;
  layout.oop_base = read<std::uint64_t>(*oop_base);
  layout.oop_shift = read<std::uint32_t>(*oop_shift);
  layout.oops_are_narrow = flag(structs, "UseCompressedOops").value_or(false);
  layout.is_known = true;
  return layout;
}

}  // namespace sonde::agent::hotspot
