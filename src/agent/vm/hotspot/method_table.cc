// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/method_table.h"

#include <algorithm>
#include <cstring>

#include "agent/vm/hotspot/safe_memory.h"
#include "agent/vm/hotspot/symbol.h"
#include "agent/vm/hotspot/unsigned5.h"

namespace sonde::agent::hotspot {

// Where the parts of a method are. Two methods of the same identity are the same method.
struct MethodTable::Identity {
  std::uint64_t method = 0;
  std::uint64_t const_method = 0;
  std::uint64_t pool = 0;
  std::uint64_t name = 0;  // symbols
  std::uint64_t signature = 0;
  std::uint64_t class_name = 0;
  std::uint16_t code_size = 0;
  std::uint16_t source_file_index = 0;
  bool has_lines = false;
};

namespace {

constexpr std::size_t kLargestStruct = 256;  // of ConstMethod and ConstantPool; both are below 100 bytes

template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

std::uint16_t MethodTable::Entry::line_of(std::int32_t bci) const {
  if (bci < 0) return 0;
  const auto after = std::upper_bound(lines.begin(), lines.end(), bci,
                                      [](std::int32_t value, const Line& line) { return value < line.bci; });
  return after == lines.begin() ? 0 : std::prev(after)->line;
}

const MethodTable::Entry& MethodTable::find(std::uint64_t method) {
  Known& known = entries_[method];
  if (known.entry.id != 0 && known.epoch == epoch_) return known.entry;
  Identity identity;
  if (!identify(method, identity)) {
    known = {};
    return known.entry;
  }
  const bool is_same = known.entry.id != 0 && known.const_method == identity.const_method &&
                       known.name_symbol == identity.name && known.class_symbol == identity.class_name;
  if (!is_same) known = read(identity);
  known.epoch = epoch_;
  return known.entry;
}

const MethodTable::Entry& MethodTable::logged(std::uint64_t place) {
  const auto [entry, is_new] = logged_.try_emplace(place);
  const auto noted = log_.at(place);
  if (!is_new || !noted) return entry->second;
  Identity identity;
  Known known;
  if (identify(noted->method, identity)) known = read(identity);
  const std::uint32_t id = methods_.id_of({.class_name = std::string(noted->class_name),
                                           .source_file = std::string(noted->source_file),
                                           .name = std::string(noted->name),
                                           .descriptor = std::string(noted->descriptor),
                                           .access_flags = noted->access_flags});
  // The address may be that of another method by now.
  if (known.entry.id == id && known.entry.code == noted->code) {
    entry->second = std::move(known.entry);
  } else {
    entry->second = {.id = id, .code = noted->code, .code_size = noted->code_size, .lines = {}};
  }
  return entry->second;
}

// Each read is a system call, so structs are read whole.
bool MethodTable::identify(std::uint64_t method, Identity& identity) const {
  if (method % 8 != 0) return false;
  const auto const_method = read_value<std::uint64_t>(method + layout_.method_const);
  if (!const_method || *const_method % 8 != 0) return false;
  std::uint8_t header[kLargestStruct];
  if (!read_memory(*const_method, header, layout_.const_size)) return false;
  const auto pool = load<std::uint64_t>(header + layout_.const_pool);
  const auto name_index = load<std::uint16_t>(header + layout_.const_name);
  const auto signature_index = load<std::uint16_t>(header + layout_.const_signature);
  identity.code_size = load<std::uint16_t>(header + layout_.const_code_size);
  identity.has_lines = (load<std::uint16_t>(header + layout_.const_flags) & layout_.const_has_lines) != 0;
  if (pool % 8 != 0 || !read_memory(pool, header, layout_.pool_size)) return false;
  const auto length = load<std::int32_t>(header + layout_.pool_length);
  const auto klass = load<std::uint64_t>(header + layout_.pool_holder);
  identity.source_file_index = load<std::uint16_t>(header + layout_.pool_source_file);
  if (name_index >= length || signature_index >= length || klass % 8 != 0) return false;
  const auto class_name = read_value<std::uint64_t>(klass + layout_.klass_name);
  if (!class_name) return false;
  identity.method = method;
  identity.const_method = *const_method;
  identity.pool = pool;
  identity.name = pool_entry(pool, name_index);
  identity.signature = pool_entry(pool, signature_index);
  identity.class_name = *class_name;
  return true;
}

std::uint64_t MethodTable::pool_entry(std::uint64_t pool, std::uint16_t index) const {
  return read_value<std::uint64_t>(pool + layout_.pool_size + std::uint64_t{index} * 8).value_or(0);
}

MethodTable::Known MethodTable::read(const Identity& identity) const {
  MethodName name{.class_name = read_symbol(layout_, identity.class_name),
                  .source_file = "",
                  .name = read_symbol(layout_, identity.name),
                  .descriptor = read_symbol(layout_, identity.signature)};
  if (name.name.empty() || name.class_name.empty() || !name.descriptor.starts_with('(')) return {};
  if (identity.source_file_index != 0) {
    name.source_file = read_symbol(layout_, pool_entry(identity.pool, identity.source_file_index));
  }
  // The low 16 bits are the flags of the class file in every version.
  name.access_flags = read_value<std::uint16_t>(identity.method + layout_.method_access_flags).value_or(0);
  Known known{.entry = {.id = 0,
                        .code = identity.const_method + layout_.const_size,
                        .code_size = identity.code_size,
                        .lines = read_lines(identity)},
              .const_method = identity.const_method,
              .name_symbol = identity.name,
              .class_symbol = identity.class_name};
  if (!known.entry.lines.empty()) name.first_line = known.entry.lines.front().line;
  known.entry.id = methods_.id_of(name);
  return known;
}

// constMethod.hpp: behind the bytecodes, pairs of differences. One byte for small ones: 5 bits of bci, 3 bits of line;
// 0xff announces two signed numbers; 0 ends the table.
std::vector<MethodTable::Line> MethodTable::read_lines(const Identity& identity) const {
  std::vector<Line> lines;
  if (!identity.has_lines) return lines;
  std::vector<std::uint8_t> bytes(std::min<std::size_t>(std::size_t{identity.code_size} * 6 + 64, 1 << 16));
  const std::uint64_t table = identity.const_method + layout_.const_size + identity.code_size;
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
    if (bci < 0 || bci >= identity.code_size || line < 0 || line > 0xffff) break;
    lines.push_back({.bci = static_cast<std::uint16_t>(bci), .line = static_cast<std::uint16_t>(line)});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.bci < b.bci; });
  return lines;
}

}  // namespace sonde::agent::hotspot
