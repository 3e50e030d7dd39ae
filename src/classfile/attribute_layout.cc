// SPDX-License-Identifier: Apache-2.0
#include "classfile/attribute_layout.h"

#include <algorithm>
#include <string>

namespace sonde::classfile {
namespace {

struct Row {
  std::string_view name;
  std::string_view owners;
  std::string_view layout;
};

constexpr Row kRows[] = {
#define ATTRIBUTE(name, owners, layout) {name, owners, layout},
#include "classfile/attributes.def"
#undef ATTRIBUTE
};

// Position of the ')' that belongs to the '(' before `from`.
constexpr std::size_t closing(std::string_view layout, std::size_t from) {
  int depth = 1;
  for (std::size_t i = from; i < layout.size(); ++i) {
    if (layout[i] == '(') ++depth;
    if (layout[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

constexpr bool is_balanced(std::string_view layout) {
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == '(' && closing(layout, i + 1) == std::string_view::npos) return false;
  }
  return true;
}

constexpr bool all_balanced() {
  for (const Row& row : kRows) {
    if (!is_balanced(row.layout)) return false;
  }
  return true;
}
static_assert(all_balanced(), "a list in attributes.def lacks its ')'");

class Walk {
 public:
  Walk(const Attribute& attribute, const ConstantPool& pool, LayoutVisitor& visitor)
      : attribute_(attribute), pool_(pool), visitor_(visitor), reader_(attribute.content) {}

  Result<void> run(std::string_view layout) {
    TRY(items(layout));
    TRY(reader_.check(attribute_.name));
    if (reader_.at_end()) return {};
    return Error{ErrorCode::kMalformed,
                 std::to_string(reader_.remaining()) + " bytes follow its content",
                 {.path = {}, .byte_offset = reader_.position()}};
  }

 private:
  Result<void> items(std::string_view layout) {
    while (!layout.empty() && !reader_.overran()) {
      const bool is_list = layout[0] == '*' || layout[0] == '+';
      const std::size_t open = is_list ? layout.find('(') : 0;
      const std::size_t end = is_list ? closing(layout, open + 1) : layout.find(' ');
      if (is_list) {
        TRY(list(layout[0], layout.substr(1, open - 1), layout.substr(open + 1, end - open - 1)));
      } else if (layout[0] == 'A') {
        AttributeList nested;
        TRY(nested.parse(pool_, attribute_.content, attribute_.offset, reader_));
        visitor_.attributes(nested);
      } else {
        one(layout.substr(0, end));
      }
      if (end == std::string_view::npos) break;
      layout.remove_prefix(end);
      layout.remove_prefix(std::min(layout.find_first_not_of(") "), layout.size()));
    }
    return {};
  }

  Result<void> list(char width, std::string_view label, std::string_view row) {
    const std::uint16_t count = width == '*' ? reader_.u2() : reader_.u1();
    visitor_.begin_list(label, count);
    for (std::uint16_t i = 0; i < count && !reader_.overran(); ++i) {
      visitor_.begin_row(i);
      TRY(items(row));
      visitor_.end_row();
    }
    visitor_.end_list();
    return {};
  }

  void one(std::string_view token) {
    const std::size_t colon = token.find(':');
    LayoutItem item{.kind = token[0],
                    .optional = token.size() > 1 && token[1] == '?',
                    .label = colon == std::string_view::npos ? std::string_view() : token.substr(colon + 1),
                    .value = 0,
                    .offset = static_cast<std::uint32_t>(reader_.position())};
    item.value = reader_.u2();
    if (!reader_.overran()) visitor_.item(item);
  }

  const Attribute& attribute_;
  const ConstantPool& pool_;
  LayoutVisitor& visitor_;
  ByteReader reader_;
};

}  // namespace

std::optional<std::string_view> layout_of(std::string_view name, AttributeOwner owner) {
  for (const Row& row : kRows) {
    if (row.name == name && row.owners.find(static_cast<char>(owner)) != std::string_view::npos) return row.layout;
  }
  return std::nullopt;
}

bool LayoutItem::fits(const ConstantPool& pool) const {
  if (is_none()) return true;
  const Tag tag = pool.tag(index());
  switch (kind) {
    case 'U':
    case 'T': return tag == Tag::kUtf8;
    case 'C': return tag == Tag::kClass;
    case 'N': return tag == Tag::kNameAndType;
    case 'H': return tag == Tag::kMethodHandle;
    case 'M': return tag == Tag::kModule;
    case 'P': return tag == Tag::kPackage;
    case 'K': return (tag >= Tag::kInteger && tag <= Tag::kDouble) || tag == Tag::kString;
    case 'L':
      return (tag >= Tag::kInteger && tag <= Tag::kString) || tag == Tag::kMethodHandle || tag == Tag::kMethodType ||
             tag == Tag::kDynamic;
    default: return true;
  }
}

Result<void> walk_layout(std::string_view layout, const Attribute& attribute, const ConstantPool& pool,
                         LayoutVisitor& visitor) {
  return Walk(attribute, pool, visitor).run(layout);
}

}  // namespace sonde::classfile
