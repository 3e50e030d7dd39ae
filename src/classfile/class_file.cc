// SPDX-License-Identifier: Apache-2.0
#include "classfile/class_file.h"

#include <algorithm>
#include <utility>

namespace sonde::classfile {
namespace {

Error malformed(std::string message, std::string path, std::size_t offset) {
  return {ErrorCode::kMalformed, std::move(message), {.path = std::move(path), .byte_offset = offset}};
}

// Behind the constant pool a class is read in hops, from one length to the next, which no processor foresees.
void prefetch(Bytes bytes) {
  constexpr std::size_t kCacheLine = 64;
  constexpr std::size_t kMost = 64 * 1024;  // more would push out the beginning
  for (std::size_t i = 0; i < std::min(bytes.size(), kMost); i += kCacheLine)
    __builtin_prefetch(bytes.data() + i, 0, 2);
}

}  // namespace

Error AttributeList::bad_name(PoolIndex name, std::uint16_t number, std::size_t offset) {
  return malformed("attribute_name_index #" + std::to_string(name.value()) + " is not a Utf8 entry",
                   "attribute " + std::to_string(number), offset);
}

Result<void> AttributeList::parse(const ConstantPool& pool, Bytes bytes, std::uint32_t base, ByteReader& reader) {
  return parse(pool, bytes, base, reader, [](std::string_view, const std::uint8_t*, std::uint32_t) {});
}

ClassFile::ClassFile() : pool_(std::make_unique<ConstantPool>()) {}
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

Result<void> ClassFile::parse_members(ByteReader& reader, std::string_view kind, std::vector<Member>& members) {
  constexpr std::size_t kHeader = 6;  // access_flags, name_index and descriptor_index
  const std::uint16_t count = reader.u2();
  TRY(reader.check(kind));
  // Eight bytes is the smallest member, so a count from damaged bytes cannot make us reserve more than the file is
  // worth.
  members.clear();
  members.reserve(std::min<std::size_t>(count, reader.remaining() / 8));
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::size_t at = reader.position();
    const std::uint8_t* const header = reader.take(kHeader);
    TRY(reader.check(kind));
    Member& member = members.emplace_back();
    member.access_flags = load_u2(header);
    member.name_index = PoolIndex(load_u2(header + 2));
    member.descriptor_index = PoolIndex(load_u2(header + 4));
    if (!pool_->is(member.name_index, Tag::kUtf8) || !pool_->is(member.descriptor_index, Tag::kUtf8)) [[unlikely]] {
      return malformed("name or descriptor is not a Utf8 entry", std::string(kind) + " " + std::to_string(i), at);
    }
    member.name = pool_->utf8(member.name_index);
    member.descriptor = pool_->utf8(member.descriptor_index);
    const std::uint8_t* const list = header + kHeader;
    const auto note_code = [&](std::string_view name, const std::uint8_t* attribute, std::uint32_t) {
      if (is_known(name, attribute::kCode) && member.code_position == 0)
        member.code_position = static_cast<std::uint32_t>(attribute - list);
    };
    if (auto parsed = member.attributes.parse(*pool_, bytes_, 0, reader, note_code); !parsed.ok()) [[unlikely]] {
      return std::move(parsed).error().within(std::string(kind) + " `" + std::string(member.name) +
                                              std::string(member.descriptor) + "`");
    }
    member.bytes = {header, reader.position() - at};
  }
  return {};
}

Result<ClassFile> ClassFile::parse(Bytes bytes) {
  ClassFile cls;
  TRY(parse_into(bytes, cls));
  return cls;
}

Result<void> ClassFile::parse_into(Bytes bytes, ClassFile& cls) {
  prefetch(bytes);
  cls.bytes_ = bytes;
  cls.interfaces_.clear();
  ByteReader reader(bytes);
  TRY(cls.parse_header(reader));
  TRY(cls.pool_->parse(bytes, reader));
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
  TRY(cls.parse_members(reader, "field", cls.fields_));
  cls.methods_offset_ = static_cast<std::uint32_t>(reader.position());
  TRY(cls.parse_members(reader, "method", cls.methods_));
  TRY(cls.attributes_.parse(*cls.pool_, bytes, 0, reader));
  if (!reader.at_end()) {
    return malformed(std::to_string(reader.remaining()) + " bytes follow the class", "end", reader.position());
  }
  return {};
}

std::string qualified_name(const ClassFile& cls, const Member& method) {
  return std::string(cls.name()) + "." + std::string(method.name) + std::string(method.descriptor);
}

}  // namespace sonde::classfile
