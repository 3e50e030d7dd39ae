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

struct Attribute {
  static constexpr std::uint32_t kHeader = 6;  // attribute_name_index and attribute_length

  PoolIndex name_index;
  std::string_view name;
  Bytes content;         // without the header
  std::uint32_t offset;  // of the content in the class file

  [[nodiscard]] Bytes whole() const { return {content.data() - kHeader, content.size() + kHeader}; }
  // Inlined, so that the comparison with a name that is known here takes a few instructions: most attributes met are
  // told apart by the length of their names.
  [[nodiscard, gnu::always_inline]] bool is(std::string_view known) const {
    return name.size() == known.size() && std::memcmp(name.data(), known.data(), known.size()) == 0;
  }
};

// attributes_count and the attributes after it, read one at a time while iterating.
class AttributeList {
 public:
  AttributeList() = default;
  // Checks names and lengths; leaves the reader after the last attribute. `base` is the offset of the reader's first
  // byte in the class file.
  Result<void> parse(const ConstantPool& pool, Bytes bytes, std::uint32_t base, ByteReader& reader);

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Attribute;
    Attribute operator*() const {
      const std::uint8_t* p = list_->bytes_.data() + position_;
      const PoolIndex name(load_u2(p));
      return {.name_index = name,
              .name = list_->pool_->utf8(name),
              .content = {p + Attribute::kHeader, load_u4(p + 2)},
              .offset = list_->offset_ + position_ + Attribute::kHeader};
    }
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
      if (attribute.is(name)) return attribute;
    }
    return std::nullopt;
  }
  [[nodiscard]] Bytes bytes() const { return bytes_; }  // with the count

 private:
  const ConstantPool* pool_ = nullptr;
  Bytes bytes_ = Bytes(kEmpty);
  std::uint32_t offset_ = 0;
  static constexpr std::uint8_t kEmpty[2] = {0, 0};
};

// A field_info or method_info.
struct Member {
  std::uint16_t access_flags;
  PoolIndex name_index;
  PoolIndex descriptor_index;
  std::string_view name;
  std::string_view descriptor;
  AttributeList attributes;
  Bytes bytes;  // the whole structure

  [[nodiscard]] bool has(AccessFlag flag) const { return (access_flags & flag) != 0; }
};

class ClassFile {
 public:
  static Result<ClassFile> parse(Bytes bytes);

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
  ClassFile() = default;
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
