// SPDX-License-Identifier: Apache-2.0
#include "classfile/annotations.h"

namespace sonde::classfile {
namespace {

constexpr int kMaxNesting = 200;

void skip_element_value(ByteReader& reader, int depth);

// Skips an annotation and returns its type.
PoolIndex skip_annotation(ByteReader& reader, int depth) {
  const PoolIndex type(reader.u2());
  for (std::uint16_t pairs = reader.u2(); pairs > 0 && !reader.overran(); --pairs) {
    reader.skip(2);
    skip_element_value(reader, depth + 1);
  }
  return type;
}

void skip_element_value(ByteReader& reader, int depth) {
  if (depth > kMaxNesting) return reader.skip(reader.remaining());
  switch (reader.u1()) {
    case 'e': return reader.skip(4);
    case '@': (void)skip_annotation(reader, depth); return;
    case '[':
      for (std::uint16_t values = reader.u2(); values > 0 && !reader.overran(); --values)
        skip_element_value(reader, depth + 1);
      return;
    default: return reader.skip(2);
  }
}

}  // namespace

bool has_annotation(const ConstantPool& pool, const Member& member, std::string_view type) {
  const auto attribute = member.attributes.find("RuntimeVisibleAnnotations");
  if (!attribute) return false;
  ByteReader reader(attribute->content);
  for (std::uint16_t count = reader.u2(); count > 0 && !reader.overran(); --count) {
    if (pool.utf8(skip_annotation(reader, 0)) == type && !reader.overran()) return true;
  }
  return false;
}

}  // namespace sonde::classfile
