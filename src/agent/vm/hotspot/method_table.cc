// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/method_table.h"

#include <algorithm>

#include "agent/vm/hotspot/safe_memory.h"
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

bool MethodTable::identify(std::uint64_t method, Identity& identity) const {
  if (method % 8 != 0) return false;
  const auto const_method = read_value<std::uint64_t>(method + layout_.method_const);
  if (!const_method || *const_method % 8 != 0) return false;
  const auto pool = read_value<std::uint64_t>(*const_method + layout_.const_pool);
  const auto name_index = read_value<std::uint16_t>(*const_method + layout_.const_name);
  const auto signature_index = read_value<std::uint16_t>(*const_method + layout_.const_signature);
  const auto code_size = read_value<std::uint16_t>(*const_method + layout_.const_code_size);
  if (!pool || *pool % 8 != 0 || !name_index || !signature_index || !code_size) return false;
  const auto length = read_value<std::int32_t>(*pool + layout_.pool_length);
  if (!length || *name_index >= *length || *signature_index >= *length) return false;
  const auto entry = [&](std::uint16_t index) {
    return read_value<std::uint64_t>(*pool + layout_.pool_size + std::uint64_t{index} * 8).value_or(0);
  };
  const auto klass = read_value<std::uint64_t>(*pool + layout_.pool_holder);
  if (!klass || *klass % 8 != 0) return false;
  const auto class_name = read_value<std::uint64_t>(*klass + layout_.klass_name);
  if (!class_name) return false;
  identity = {.method = method,
              .const_method = *const_method,
              .pool = *pool,
              .name = entry(*name_index),
              .signature = entry(*signature_index),
              .class_name = *class_name,
              .code_size = *code_size};
  return true;
}

std::string MethodTable::symbol_text(std::uint64_t symbol) const {
  const auto length = read_value<std::uint16_t>(symbol + layout_.symbol_length);
  if (!length) return "";
  std::string text(*length, '\0');
  return read_memory(symbol + layout_.symbol_body, text.data(), text.size()) ? text : "";
}

MethodTable::Known MethodTable::read(const Identity& identity) const {
  MethodName name{.class_name = symbol_text(identity.class_name),
                  .source_file = "",
                  .name = symbol_text(identity.name),
                  .descriptor = symbol_text(identity.signature)};
  if (name.name.empty() || name.class_name.empty() || !name.descriptor.starts_with('(')) return {};
  if (const auto index = read_value<std::uint16_t>(identity.pool + layout_.pool_source_file); index && *index != 0) {
    const auto symbol = read_value<std::uint64_t>(identity.pool + layout_.pool_size + std::uint64_t{*index} * 8);
    if (symbol) name.source_file = symbol_text(*symbol);
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
  const auto flags = read_value<std::uint16_t>(identity.const_method + layout_.const_flags);
  if (!flags || (*flags & layout_.const_has_lines) == 0) return lines;
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
