// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/method_table.h"

#include <algorithm>

#include "agent/vm/hotspot/safe_memory.h"
#include "agent/vm/hotspot/symbol.h"
#include "agent/vm/hotspot/unsigned5.h"

namespace sonde::agent::hotspot {

// A method as it is now.
struct MethodTable::Sighting {
  MethodIdentity identity{};
  std::uint16_t code_size = 0;
  std::uint16_t source_file_index = 0;
  bool has_lines = false;
};

std::uint16_t MethodTable::Entry::line_of(std::int32_t bci) const {
  if (bci < 0) return 0;
  const auto after = std::upper_bound(lines.begin(), lines.end(), bci,
                                      [](std::int32_t value, const Line& line) { return value < line.bci; });
  return after == lines.begin() ? 0 : std::prev(after)->line;
}

const MethodTable::Entry& MethodTable::find(std::uint64_t method) {
  Known& known = entries_[method];
  if (known.entry.id != 0 && known.epoch == epoch_) return known.entry;
  if (known.entry.id != 0 && is_still_there(layout_, self_, known.identity)) {
    known.epoch = epoch_;
    return known.entry;
  }
  Sighting sighting;
  if (!look_at(method, sighting)) {
    known = {};
    return known.entry;
  }
  if (known.entry.id == 0 || known.identity != sighting.identity) known = read(sighting);
  known.epoch = epoch_;
  return known.entry;
}

const MethodTable::Entry& MethodTable::logged(std::uint64_t place) {
  const auto [entry, is_new] = logged_.try_emplace(place);
  const auto noted = log_.at(place);
  if (!is_new || !noted) return entry->second;
  MethodName name{.class_name = std::string(noted->class_name),
                  .source_file = std::string(noted->source_file),
                  .name = std::string(noted->name),
                  .descriptor = std::string(noted->descriptor),
                  .access_flags = noted->access_flags};
  // The address may be that of another method by now.
  std::vector<Line> lines;
  if (noted->has_lines && is_still_there(layout_, self_, noted->identity)) {
    lines = read_lines(noted->identity.const_method, noted->code_size);
  }
  if (!lines.empty()) name.first_line = lines.front().line;
  entry->second = {
      .id = methods_.id_of(name), .code = noted->code, .code_size = noted->code_size, .lines = std::move(lines)};
  return entry->second;
}

// Each read is a system call, so structs are read whole.
bool MethodTable::look_at(std::uint64_t method, Sighting& sighting) const {
  if (method % 8 != 0) return false;
  MethodIdentity& identity = sighting.identity;
  identity.method = method;
  identity.const_method = read_value<std::uint64_t>(method + layout_.method_const).value_or(0);
  std::uint8_t bytes[kLargestStruct];
  if (identity.const_method % 8 != 0 || !read_memory(identity.const_method, bytes, layout_.const_size)) return false;
  identity.take_const_method(layout_, bytes);
  sighting.code_size = field<std::uint16_t>(bytes, layout_.const_code_size);
  sighting.has_lines = (field<std::uint16_t>(bytes, layout_.const_flags) & layout_.const_has_lines) != 0;
  if (identity.pool % 8 != 0 || !read_memory(identity.pool, bytes, layout_.pool_size)) return false;
  const std::uint64_t length = field<std::uint32_t>(bytes, layout_.pool_length);
  identity.holder = field<std::uint64_t>(bytes, layout_.pool_holder);
  sighting.source_file_index = field<std::uint16_t>(bytes, layout_.pool_source_file);
  if (identity.indices >> 16 >= length || (identity.indices & 0xffff) >= length || identity.holder % 8 != 0)
    return false;
  identity.name = read_value<std::uint64_t>(identity.name_entry(layout_)).value_or(0);
  identity.descriptor = read_value<std::uint64_t>(identity.descriptor_entry(layout_)).value_or(0);
  identity.class_name = read_value<std::uint64_t>(identity.holder + layout_.klass_name).value_or(0);
  return identity.class_name != 0;
}

MethodTable::Known MethodTable::read(const Sighting& sighting) const {
  const MethodIdentity& identity = sighting.identity;
  MethodName name{.class_name = read_symbol(layout_, identity.class_name),
                  .source_file = "",
                  .name = read_symbol(layout_, identity.name),
                  .descriptor = read_symbol(layout_, identity.descriptor)};
  if (name.name.empty() || name.class_name.empty() || !name.descriptor.starts_with('(')) return {};
  if (sighting.source_file_index != 0) {
    const std::uint64_t entry = identity.entry(layout_, sighting.source_file_index);
    name.source_file = read_symbol(layout_, read_value<std::uint64_t>(entry).value_or(0));
  }
  // The low 16 bits are the flags of the class file in every version.
  name.access_flags = read_value<std::uint16_t>(identity.method + layout_.method_access_flags).value_or(0);
  Known known{.entry = {.id = 0,
                        .code = identity.const_method + layout_.const_size,
                        .code_size = sighting.code_size,
                        .lines = {}},
              .identity = identity};
  if (sighting.has_lines) known.entry.lines = read_lines(identity.const_method, sighting.code_size);
  if (!known.entry.lines.empty()) name.first_line = known.entry.lines.front().line;
  known.entry.id = methods_.id_of(name);
  return known;
}

// constMethod.hpp: behind the bytecodes, pairs of differences. One byte for small ones: 5 bits of bci, 3 bits of line;
// 0xff announces two signed numbers; 0 ends the table.
std::vector<MethodTable::Line> MethodTable::read_lines(std::uint64_t const_method, std::uint16_t code_size) const {
  std::vector<Line> lines;
  std::vector<std::uint8_t> bytes(std::min<std::size_t>(std::size_t{code_size} * 6 + 64, 1 << 16));
  const std::uint64_t table = const_method + layout_.const_size + code_size;
  // The table ends somewhere in there; the memory may end before.
  while (!bytes.empty() && !read_memory(table, bytes.data(), bytes.size())) bytes.resize(bytes.size() / 2);
  Unsigned5Reader reader(bytes, layout_.unsigned5_excludes_zero);
  const auto signed_number = [&]() -> std::optional<std::int32_t> {
    const auto value = reader.next();
    if (!value) return std::nullopt;
    return static_cast<std::int32_t>(*value >> 1) ^ -static_cast<std::int32_t>(*value & 1);
  };
  std::int32_t bci = 0;
  std::int32_t line = 0;
  for (auto next = reader.byte(); next && *next != 0; next = reader.byte()) {
    if (*next == 0xff) {
      const auto bci_difference = signed_number();
      const auto line_difference = signed_number();
      if (!bci_difference || !line_difference) break;
      bci += *bci_difference;
      line += *line_difference;
    } else {
      bci += *next >> 3;
      line += *next & 7;
    }
    if (bci < 0 || bci >= code_size || line < 0 || line > 0xffff) break;
    lines.push_back({.bci = static_cast<std::uint16_t>(bci), .line = static_cast<std::uint16_t>(line)});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.bci < b.bci; });
  return lines;
}

}  // namespace sonde::agent::hotspot
