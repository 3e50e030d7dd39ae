// SPDX-License-Identifier: Apache-2.0
// Walks the content of an attribute along its row in attributes.def, so that the printer and the checks know each
// attribute from one table and not from twenty functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/class_file.h"

namespace sonde::classfile {

// Where an attribute stands; the letters of attributes.def.
enum class AttributeOwner : char { kClass = 'c', kField = 'f', kMethod = 'm', kCode = 'k', kRecordComponent = 'r' };

// The layout of a known attribute; nothing for others and for known names in places where they mean nothing.
std::optional<std::string_view> layout_of(std::string_view name, AttributeOwner owner);

struct LayoutItem {
  char kind;      // a letter of attributes.def
  bool optional;  // 0 stands for "none"
  std::string_view label;
  std::uint16_t value;
  std::uint32_t offset;  // in the attribute's content

  [[nodiscard]] PoolIndex index() const { return PoolIndex(value); }
  [[nodiscard]] bool is_none() const { return optional && value == 0; }
  // One of the kinds that is an index into the constant pool.
  [[nodiscard]] bool is_pool_index() const {
    return std::string_view("UCNHMPKLT").find(kind) != std::string_view::npos;
  }
  // Whether the pool has an entry of the right kind there; true for everything that is no index.
  [[nodiscard]] bool fits(const ConstantPool& pool) const;
};

class LayoutVisitor {
 public:
  virtual ~LayoutVisitor() = default;
  virtual void item(const LayoutItem& item) = 0;
  virtual void begin_list(std::string_view /*label*/, std::uint16_t /*count*/) {}
  virtual void begin_row(std::uint16_t /*number*/) {}
  virtual void end_row() {}
  virtual void end_list() {}
  virtual void attributes(const AttributeList& /*list*/) {}
};

// An error if the content is shorter or longer than its layout says. Items met before that were visited.
Result<void> walk_layout(std::string_view layout, const Attribute& attribute, const ConstantPool& pool,
                         LayoutVisitor& visitor);

}  // namespace sonde::classfile
