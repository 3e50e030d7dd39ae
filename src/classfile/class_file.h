// SPDX-License-Identifier: Apache-2.0
// A class file as an immutable view (JVMS 4.1): nothing is copied, the bytes must outlive the view.
// parse() checks the whole structure down to attribute lengths; what is inside an attribute is checked by whoever
// reads it (Code::parse for Code). Class versions newer than kNewestMajor parse if nothing in them is unknown.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/constant_pool.h"
#include "classfile/names.h"

namespace sonde::classfile {

// Inlined, so that the comparison with a name that is known here takes a few instructions: most attributes met are told
// apart by the length of their names.
[[nodiscard, gnu::always_inline]] inline bool is_known(std::string_view name, std::string_view known) {
  return name.size() == known.size() && std::memcmp(name.data(), known.data(), known.size()) == 0;
}

struct Attribute {
  static constexpr std::uint32_t kHeader = 6;  // attribute_name_index and attribute_length

  PoolIndex name_index;
  std::string_view name;
  Bytes content;         // without the header
  std::uint32_t offset;  // of the content in the class file
};

// attributes_count and the attributes after it, read one at a time while iterating.
class AttributeList {
 public:
  AttributeList() = default;
  // Checks names and lengths; leaves the reader after the last attribute. `base` is the offset of the reader's first
  // byte in the class file. `each` is told the name and the bytes of every attribute, which saves a second walk.
  template <typename Each>  // void(std::string_view name, const std::uint8_t* header, std::uint32_t length)
  Result<void> parse(const ConstantPool& pool, Bytes bytes, std::uint32_t base, ByteReader& reader, Each&& each);
  Result<void> parse(const ConstantPool& pool, Bytes bytes, std::uint32_t base, ByteReader& reader);

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Attribute;
    Attribute operator*() const { return list_->at(position_); }
    Iterator& operator++() {
      position_ += Attribute::kHeader + load_u4(list_->bytes_.data() + position_ + 2);
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    bool operator==(const Iterator& other) const { return position_ == other.position_; }

   private:
    friend class AttributeList;
    Iterator(const AttributeList* list, std::uint32_t position) : list_(list), position_(position) {}
    const AttributeList* list_;
    std::uint32_t position_;
  };

  [[nodiscard]] Iterator begin() const { return {this, 2}; }
  [[nodiscard]] Iterator end() const { return {this, static_cast<std::uint32_t>(bytes_.size())}; }
  [[nodiscard]] std::uint16_t size() const { return bytes_.empty() ? 0 : load_u2(bytes_.data()); }
  [[nodiscard]] std::optional<Attribute> find(std::string_view name) const {
    for (const Attribute& attribute : *this) {
      if (attribute.name == name) return attribute;
    }
    return std::nullopt;
  }
  [[nodiscard]] Bytes bytes() const { return bytes_; }  // with the count
  // The one whose header is at this place in bytes().
  [[nodiscard]] Attribute at(std::uint32_t position) const {
    const std::uint8_t* p = bytes_.data() + position;
    const PoolIndex name(load_u2(p));
    return {.name_index = name,
            .name = pool_->utf8(name),
            .content = {p + Attribute::kHeader, load_u4(p + 2)},
            .offset = offset_ + position + Attribute::kHeader};
  }

 private:
  [[nodiscard, gnu::cold]] static Error bad_name(PoolIndex name, std::uint16_t number, std::size_t offset);

  const ConstantPool* pool_ = nullptr;
  Bytes bytes_ = Bytes(kEmpty);
  std::uint32_t offset_ = 0;
  static constexpr std::uint8_t kEmpty[2] = {0, 0};
};

template <typename Each>
Result<void> AttributeList::parse(const ConstantPool& pool, Bytes bytes, std::uint32_t base, ByteReader& reader,
                                  Each&& each) {
  const std::size_t begin = reader.position();
  const std::uint16_t count = reader.u2();
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint8_t* const header = reader.take(Attribute::kHeader);
    if (header == nullptr) break;
    const PoolIndex name(load_u2(header));
    if (!pool.is(name, Tag::kUtf8)) [[unlikely]]
      return bad_name(name, i, base + reader.position() - Attribute::kHeader);
    const std::uint32_t length = load_u4(header + 2);
    reader.skip(length);
    each(pool.utf8(name), header, length);
  }
  if (reader.overran()) [[unlikely]]
    return reader.check("the attributes").error().shifted(base);
  pool_ = &pool;
  bytes_ = bytes.subspan(begin, reader.position() - begin);
  offset_ = base + static_cast<std::uint32_t>(begin);
  return {};
}

// A field_info or method_info.
struct Member {
  std::uint16_t access_flags;
  PoolIndex name_index;
  PoolIndex descriptor_index;
  std::string_view name;
  std::string_view descriptor;
  AttributeList attributes;
  Bytes bytes;                      // the whole structure
  std::uint32_t code_position = 0;  // of the Code attribute in the list; 0: it has none

  [[nodiscard]] bool has(AccessFlag flag) const { return (access_flags & flag) != 0; }
};

class ClassFile {
 public:
  static Result<ClassFile> parse(Bytes bytes);
  // The same into an existing object, so that its memory is used again: what class-load instrumentation does. After an
  // error the object is only good for another class.
  static Result<void> parse_into(Bytes bytes, ClassFile& cls);

  ClassFile();
  ClassFile(ClassFile&&) noexcept;
  ClassFile& operator=(ClassFile&&) noexcept;
  ClassFile(const ClassFile&) = delete;
  ClassFile& operator=(const ClassFile&) = delete;
  ~ClassFile() = default;

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::uint16_t minor_version() const { return minor_version_; }
  [[nodiscard]] std::uint16_t major_version() const { return major_version_; }
  // Newer than any version this library was written against: understood as far as it was parsed.
  [[nodiscard]] bool is_newer_than_known() const { return major_version_ > kNewestMajor; }
  [[nodiscard]] bool has_frames() const { return major_version_ >= kFramesMajor; }

  [[nodiscard]] const ConstantPool& pool() const { return *pool_; }
  [[nodiscard]] std::uint16_t access_flags() const { return access_flags_; }
  [[nodiscard]] PoolIndex this_class() const { return this_class_; }
  [[nodiscard]] PoolIndex super_class() const { return super_class_; }
  [[nodiscard]] std::string_view name() const { return pool_->class_name(this_class_); }
  [[nodiscard]] std::string_view super_name() const { return pool_->class_name(super_class_); }  // "" for Object
  [[nodiscard]] const std::vector<PoolIndex>& interfaces() const { return interfaces_; }
  [[nodiscard]] const std::vector<Member>& fields() const { return fields_; }
  [[nodiscard]] const std::vector<Member>& methods() const { return methods_; }
  [[nodiscard]] const AttributeList& attributes() const { return attributes_; }

  // Where the parts lie in bytes(): [access_flags .. interfaces], fields and methods with their counts.
  [[nodiscard]] std::uint32_t access_flags_offset() const { return access_flags_offset_; }
  [[nodiscard]] std::uint32_t fields_offset() const { return fields_offset_; }
  [[nodiscard]] std::uint32_t methods_offset() const { return methods_offset_; }

 private:
  [[nodiscard]] Result<void> parse_header(ByteReader& reader);
  [[nodiscard]] Result<void> parse_members(ByteReader& reader, std::string_view kind, std::vector<Member>& members);

  Bytes bytes_;
  std::uint16_t minor_version_ = 0;
  std::uint16_t major_version_ = 0;
  std::uint16_t access_flags_ = 0;
  std::uint32_t access_flags_offset_ = 0;
  std::uint32_t fields_offset_ = 0;
  std::uint32_t methods_offset_ = 0;
  PoolIndex this_class_;
  PoolIndex super_class_;
  // On the heap so that the attribute lists may point at it while the ClassFile itself moves.
  std::unique_ptr<ConstantPool> pool_;
  std::vector<PoolIndex> interfaces_;
  std::vector<Member> fields_;
  std::vector<Member> methods_;
  AttributeList attributes_;
};

// "a/B.c(I)V", for messages.
std::string qualified_name(const ClassFile& cls, const Member& method);

}  // namespace sonde::classfile
