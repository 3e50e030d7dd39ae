// SPDX-License-Identifier: Apache-2.0
#include "classfile/class_file.h"

#include <algorithm>
#include <utility>

namespace sonde::classfile {
namespace {

constexpr std::uint32_t kAttributeHeader = 6;

Error malformed(std::string message, std::string path, std::size_t offset) {
  return {ErrorCode::kMalformed, std::move(message), {.path = std::move(path), .byte_offset = offset}};
}

}  // namespace

Result<AttributeList> AttributeList::parse(const ConstantPool& pool, Bytes bytes, std::uint32_t base,
                                           ByteReader& reader) {
  const std::size_t begin = reader.position();
  const std::uint16_t count = reader.u2();
  for (std::uint16_t i = 0; i < count && !reader.overran(); ++i) {
    const std::size_t at = reader.position();
    const PoolIndex name(reader.u2());
    reader.skip(reader.u4());
    if (!reader.overran() && !pool.is(name, Tag::kUtf8)) {
      return malformed("attribute_name_index #" + std::to_string(name.value()) + " is not a Utf8 entry",
                       "attribute " + std::to_string(i), base + at);
    }
  }
  if (auto whole = reader.check("the attributes"); !whole.ok()) return std::move(whole).error().shifted(base);
  AttributeList list;
  list.pool_ = &pool;
  list.bytes_ = bytes.subspan(begin, reader.position() - begin);
  list.offset_ = base + static_cast<std::uint32_t>(begin);
  return list;
}

Attribute AttributeList::Iterator::operator*() const {
  const std::uint8_t* p = list_->bytes_.data() + position_;
  const PoolIndex name(load_u2(p));
  return {.name_index = name,
          .name = list_->pool_->utf8(name),
          .content = list_->bytes_.subspan(position_ + kAttributeHeader, load_u4(p + 2)),
          .offset = list_->offset_ + position_ + kAttributeHeader};
}

AttributeList::Iterator& AttributeList::Iterator::operator++() {
  position_ += kAttributeHeader + load_u4(list_->bytes_.data() + position_ + 2);
  return *this;
}

std::optional<Attribute> AttributeList::find(std::string_view name) const {
  for (const Attribute& attribute : *this) {
    if (attribute.name == name) return attribute;
  }
  return std::nullopt;
}

ClassFile::ClassFile(ClassFile&&) noexcept = default;
ClassFile& ClassFile::operator=(ClassFile&&) noexcept = default;

Result<void> ClassFile::parse_header(ByteReader& reader) {
  const std::uint32_t magic = reader.u4();
  minor_version_ = reader.u2();
  major_version_ = reader.u2();
  TRY(reader.check("the header"));
  if (magic != kMagic) return malformed("does not start with CAFEBABE, so this is not a class file", "magic", 0);
  if (major_version_ < kOldestMajor) {
    return malformed("major version " + std::to_string(major_version_) + ", the oldest is 45", "version", 6);
  }
  return {};
}

Result<std::vector<Member>> ClassFile::parse_members(ByteReader& reader, std::string_view kind) {
  const std::uint16_t count = reader.u2();
  TRY(reader.check(kind));
  std::vector<Member> members;
  // Eight bytes is the smallest member, so a count from damaged bytes cannot make us reserve more than the file is
  // worth.
  members.reserve(std::min<std::size_t>(count, reader.remaining() / 8));
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::size_t at = reader.position();
    Member& member = members.emplace_back();
    member.access_flags = reader.u2();
    member.name_index = PoolIndex(reader.u2());
    member.descriptor_index = PoolIndex(reader.u2());
    TRY(reader.check(kind));
    if (!pool_->is(member.name_index, Tag::kUtf8) || !pool_->is(member.descriptor_index, Tag::kUtf8)) {
      return malformed("name or descriptor is not a Utf8 entry", std::string(kind) + " " + std::to_string(i), at);
    }
    member.name = pool_->utf8(member.name_index);
    member.descriptor = pool_->utf8(member.descriptor_index);
    auto attributes = AttributeList::parse(*pool_, bytes_, 0, reader);
    if (!attributes.ok()) {
      return std::move(attributes)
          .error()
          .within(std::string(kind) + " `" + std::string(member.name) + std::string(member.descriptor) + "`");
    }
    member.attributes = *attributes;
    member.bytes = bytes_.subspan(at, reader.position() - at);
  }
  return members;
}

Result<ClassFile> ClassFile::parse(Bytes bytes) {
  ClassFile cls;
  cls.bytes_ = bytes;
  ByteReader reader(bytes);
  TRY(cls.parse_header(reader));
  cls.pool_ = std::make_unique<ConstantPool>(TRY(ConstantPool::parse(bytes, reader)));
  const std::size_t at = reader.position();
  cls.access_flags_offset_ = static_cast<std::uint32_t>(at);
  cls.access_flags_ = reader.u2();
  cls.this_class_ = PoolIndex(reader.u2());
  cls.super_class_ = PoolIndex(reader.u2());
  const std::uint16_t interface_count = reader.u2();
  TRY(reader.check("this_class, super_class and interfaces"));
  if (!cls.pool_->is(cls.this_class_, Tag::kClass)) {
    return malformed("#" + std::to_string(cls.this_class_.value()) + " is not a Class entry", "this_class", at + 2);
  }
  if (cls.super_class_.value() != 0 && !cls.pool_->is(cls.super_class_, Tag::kClass)) {
    return malformed("#" + std::to_string(cls.super_class_.value()) + " is not a Class entry", "super_class", at + 4);
  }
  for (std::uint16_t i = 0; i < interface_count; ++i) {
    const PoolIndex interface(reader.u2());
    TRY(reader.check("interfaces"));
    if (!cls.pool_->is(interface, Tag::kClass)) {
      return malformed("#" + std::to_string(interface.value()) + " is not a Class entry",
                       "interface " + std::to_string(i), reader.position() - 2);
    }
    cls.interfaces_.push_back(interface);
  }
  cls.fields_offset_ = static_cast<std::uint32_t>(reader.position());
  cls.fields_ = TRY(cls.parse_members(reader, "field"));
  cls.methods_offset_ = static_cast<std::uint32_t>(reader.position());
  cls.methods_ = TRY(cls.parse_members(reader, "method"));
  cls.attributes_ = TRY(AttributeList::parse(*cls.pool_, bytes, 0, reader));
  if (!reader.at_end()) {
    return malformed(std::to_string(reader.remaining()) + " bytes follow the class", "end", reader.position());
  }
  return cls;
}

std::string qualified_name(const ClassFile& cls, const Member& method) {
  return std::string(cls.name()) + "." + std::string(method.name) + std::string(method.descriptor);
}

}  // namespace sonde::classfile
