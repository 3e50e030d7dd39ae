// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/park_blocker.h"

#include <algorithm>
#include <cctype>

#include "agent/vm/hotspot/safe_memory.h"

namespace sonde::agent::hotspot {
namespace {

constexpr std::size_t kLongestName = 512;

std::uint64_t read_oop(const ObjectLayout& layout, std::uint64_t address) {
  if (!layout.oops_are_narrow) return read_value<std::uint64_t>(address).value_or(0);
  const std::uint64_t narrow = read_value<std::uint32_t>(address).value_or(0);
  return narrow == 0 ? 0 : layout.oop_base + (narrow << layout.oop_shift);
}

bool is_object(const ObjectLayout& layout, std::uint64_t oop) {
  return oop % 8 == 0 && oop >= layout.heap_low && oop < layout.heap_high;
}

// What was read may be no class at all, if the object was moved while we looked.
bool is_class_name(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c >= 0x80 ||
                  std::string_view("/_$-+.;[").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

}  // namespace

ParkLayout find_park_layout(const VmStructs& structs, const Layout& layout) {
  ParkLayout park;
  const auto thread_object = structs.offset("JavaThread", "_threadObj");
  park.objects = find_object_layout(structs);
  if (!thread_object || !park.objects.is_known || park.objects.color_at != 0) return park;
  park.thread_object = static_cast<std::uint32_t>(*thread_object);
  park.klass_name = layout.klass_name;
  park.symbol_length = layout.symbol_length;
  park.symbol_body = layout.symbol_body;
  park.is_known = true;
  return park;
}

std::string blocker_class(const ParkLayout& layout, std::uint64_t java_thread) {
  if (!layout.is_known || java_thread == 0) return "";
  const ObjectLayout& objects = layout.objects;
  const auto handle = read_value<std::uint64_t>(java_thread + layout.thread_object);
  const auto thread = handle && *handle != 0 ? read_value<std::uint64_t>(*handle) : std::nullopt;
  if (!thread || !is_object(objects, *thread)) return "";
  const std::uint64_t blocker = read_oop(objects, *thread + layout.park_blocker);
  if (!is_object(objects, blocker)) return "";
  const auto header = read_value<std::uint32_t>(blocker + objects.klass_at);
  if (!header) return "";
  const auto symbol = read_value<std::uint64_t>(objects.klass_of(*header) + layout.klass_name);
  const auto length = symbol ? read_value<std::uint16_t>(*symbol + layout.symbol_length) : std::nullopt;
  if (!length || *length > kLongestName) return "";
  std::string name(*length, 0);
  if (!read_memory(*symbol + layout.symbol_body, name.data(), name.size()) || !is_class_name(name)) return "";
  // Hidden classes have an address in their names, another one in each run.
  name.erase(std::min(name.find("+0x"), name.size()));
  std::ranges::replace(name, '/', '.');
  return name;
}

}  // namespace sonde::agent::hotspot
