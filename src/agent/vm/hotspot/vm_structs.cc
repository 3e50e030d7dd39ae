// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/vm_structs.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

namespace sonde::agent::hotspot {
namespace {

// A table starts where `entries` points to; its columns lie at offsets that are symbols themselves.
class Table {
 public:
  Table(const char* entries, const char* stride) {
    const auto* start = static_cast<const std::uint64_t*>(dlsym(RTLD_DEFAULT, entries));
    entry_ = start == nullptr ? 0 : *start;
    stride_ = number(stride);
  }

  static std::uint64_t number(const char* symbol) {
    const auto* value = static_cast<const std::uint64_t*>(dlsym(RTLD_DEFAULT, symbol));
    return value == nullptr ? 0 : *value;
  }

  [[nodiscard]] bool exists() const { return entry_ != 0 && stride_ != 0; }
  void next() { entry_ += stride_; }
  template <typename T>
  [[nodiscard]] T at(std::uint64_t column) const {
    return *reinterpret_cast<const T*>(entry_ + column);
  }
  [[nodiscard]] const char* text(std::uint64_t column) const { return at<const char*>(column); }

 private:
  std::uint64_t entry_ = 0;
  std::uint64_t stride_ = 0;
};

// The loaded segments of the library that an address lies in.
struct Image {
  std::uint64_t inside;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};
int measure_library(dl_phdr_info* library, std::size_t, void* data) {
  auto& image = *static_cast<Image*>(data);
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    low = std::min<std::uint64_t>(low, library->dlpi_addr + segment.p_vaddr);
    high = std::max<std::uint64_t>(high, library->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (image.inside < low || image.inside >= high) return 0;
  image.low = low;
  image.high = high;
  return 1;
}

std::string key_of(std::string_view type, std::string_view field) {
  return std::string(type).append("::").append(field);
}

bool is_wanted(VmStructs::Types only, std::string_view type) {
  return only.size() == 0 || std::find(only.begin(), only.end(), type) != only.end();
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> VmStructs::image() {
  Image image{.inside = reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, "gHotSpotVMStructs"))};
  dl_iterate_phdr(measure_library, &image);
  return {image.low, image.high};
}

VmStructs VmStructs::load() {
  VmStructs structs;
  structs.load_fields();
  structs.load_types();
  structs.load_constants();
  return structs;
}

VmStructs VmStructs::load_types_of(Types types) {
  VmStructs structs;
  structs.load_fields(types);
  structs.load_types(types);
  return structs;
}

void VmStructs::load_fields(Types only) {
  Table table("gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride");
  const std::uint64_t type = Table::number("gHotSpotVMStructEntryTypeNameOffset");
  const std::uint64_t field = Table::number("gHotSpotVMStructEntryFieldNameOffset");
  const std::uint64_t field_type = Table::number("gHotSpotVMStructEntryTypeStringOffset");
  const std::uint64_t is_static = Table::number("gHotSpotVMStructEntryIsStaticOffset");
  const std::uint64_t offset = Table::number("gHotSpotVMStructEntryOffsetOffset");
  const std::uint64_t address = Table::number("gHotSpotVMStructEntryAddressOffset");
  for (; table.exists() && table.text(type) != nullptr; table.next()) {
    if (!is_wanted(only, table.text(type))) continue;
    const bool on_class = table.at<std::int32_t>(is_static) != 0;
    const char* type_name = table.text(field_type);
    fields_[key_of(table.text(type), table.text(field))] = {
        .type = type_name == nullptr ? "" : type_name,
        .is_static = on_class,
        .place = table.at<std::uint64_t>(on_class ? address : offset)};
  }
}

void VmStructs::load_types(Types only) {
  Table table("gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride");
  const std::uint64_t name = Table::number("gHotSpotVMTypeEntryTypeNameOffset");
  const std::uint64_t size = Table::number("gHotSpotVMTypeEntrySizeOffset");
  for (; table.exists() && table.text(name) != nullptr; table.next()) {
    if (!is_wanted(only, table.text(name))) continue;
    sizes_[table.text(name)] = table.at<std::uint64_t>(size);
  }
}

void VmStructs::load_constants() {
  Table table("gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride");
  const std::uint64_t name = Table::number("gHotSpotVMIntConstantEntryNameOffset");
  const std::uint64_t value = Table::number("gHotSpotVMIntConstantEntryValueOffset");
  for (; table.exists() && table.text(name) != nullptr; table.next()) {
    constants_[table.text(name)] = table.at<std::int32_t>(value);
  }
  Table longs("gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride");
  const std::uint64_t long_name = Table::number("gHotSpotVMLongConstantEntryNameOffset");
  const std::uint64_t long_value = Table::number("gHotSpotVMLongConstantEntryValueOffset");
  for (; longs.exists() && longs.text(long_name) != nullptr; longs.next()) {
    constants_[longs.text(long_name)] = longs.at<std::int64_t>(long_value);
  }
}

std::optional<std::uint64_t> VmStructs::offset(std::string_view type, std::string_view field) const {
  const auto found = fields_.find(key_of(type, field));
  if (found == fields_.end() || found->second.is_static) return std::nullopt;
  return found->second.place;
}

std::optional<std::uint64_t> VmStructs::address(std::string_view type, std::string_view field) const {
  const auto found = fields_.find(key_of(type, field));
  if (found == fields_.end() || !found->second.is_static) return std::nullopt;
  return found->second.place;
}

std::string VmStructs::field_type(std::string_view type, std::string_view field) const {
  const auto found = fields_.find(key_of(type, field));
  return found == fields_.end() ? "" : found->second.type;
}

std::optional<std::uint64_t> VmStructs::size(std::string_view type) const {
  const auto found = sizes_.find(std::string(type));
  return found == sizes_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> VmStructs::constant(std::string_view name) const {
  const auto found = constants_.find(std::string(name));
  return found == constants_.end() ? std::nullopt : std::optional(found->second);
}

VmStructs::Flag VmStructs::flag(std::string_view name) const {
  constexpr std::uint32_t kOrigin = 0xf;  // jvmFlag.hpp: 0 if it is the JVM's own
  const auto flags = address("JVMFlag", "flags");
  const auto count = address("JVMFlag", "numFlags");
  const auto stride = size("JVMFlag");
  const auto name_at = offset("JVMFlag", "_name");
  const auto value_at = offset("JVMFlag", "_addr");
  const auto flags_at = offset("JVMFlag", "_flags");
  if (!flags || !count || !stride || !name_at || !value_at || !flags_at) return {};
  std::uint64_t flag = *reinterpret_cast<const std::uint64_t*>(*flags);
  for (std::uint64_t i = *reinterpret_cast<const std::uint64_t*>(*count); i > 0; --i, flag += *stride) {
    const char* const its_name = *reinterpret_cast<const char* const*>(flag + *name_at);
    if (its_name == nullptr || name != its_name) continue;
    const auto origin = *reinterpret_cast<const std::uint32_t*>(flag + *flags_at) & kOrigin;
    return {.value = *reinterpret_cast<void* const*>(flag + *value_at), .is_default = origin == 0};
  }
  return {};
}

}  // namespace sonde::agent::hotspot
