// SPDX-License-Identifier: Apache-2.0
#include "classfile/constant_pool.h"

#include <array>
#include <string>

namespace sonde::classfile {
namespace {

constexpr std::uint8_t kUtf8Header = 3;
constexpr std::uint8_t kUnknown = 0;

// Bytes of an entry with its tag; for Utf8 without its text.
constexpr std::array<std::uint8_t, 21> kEntrySize = {kUnknown, kUtf8Header, kUnknown, 5,        5, 9, 9, 3, 3, 5, 5,
                                                     5,        5,           kUnknown, kUnknown, 4, 3, 5, 5, 3, 3};

constexpr bool takes_two_slots(Tag tag) { return tag == Tag::kLong || tag == Tag::kDouble; }

}  // namespace

std::string_view name_of(Tag tag) {
  switch (tag) {
    case Tag::kUnusable: return "Unusable";
    case Tag::kUtf8: return "Utf8";
    case Tag::kInteger: return "Integer";
    case Tag::kFloat: return "Float";
    case Tag::kLong: return "Long";
    case Tag::kDouble: return "Double";
    case Tag::kClass: return "Class";
    case Tag::kString: return "String";
    case Tag::kFieldref: return "Fieldref";
    case Tag::kMethodref: return "Methodref";
    case Tag::kInterfaceMethodref: return "InterfaceMethodref";
    case Tag::kNameAndType: return "NameAndType";
    case Tag::kMethodHandle: return "MethodHandle";
    case Tag::kMethodType: return "MethodType";
    case Tag::kDynamic: return "Dynamic";
    case Tag::kInvokeDynamic: return "InvokeDynamic";
    case Tag::kModule: return "Module";
    case Tag::kPackage: return "Package";
  }
  return "";
}

Result<ConstantPool> ConstantPool::parse(Bytes file, ByteReader& reader) {
  ConstantPool pool;
  pool.file_ = file;
  const std::uint16_t count = reader.u2();
  TRY(reader.check("constant_pool_count"));
  if (count == 0) {
    return Error{ErrorCode::kMalformed,
                 "constant_pool_count is 0, the smallest is 1",
                 {.path = "constant pool", .byte_offset = reader.position() - 2}};
  }
  pool.begin_ = static_cast<std::uint32_t>(reader.position());
  pool.end_ = TRY(pool.read_entries(count));
  reader.skip(pool.end_ - pool.begin_);
  TRY(pool.check_references());
  return pool;
}

// Finds the entries and returns where they end. Works on a plain offset: this loop is a good part of parsing a class.
Result<std::uint32_t> ConstantPool::read_entries(std::uint16_t count) {
  offsets_.assign(count, 0);
  tags_.assign(count, Tag::kUnusable);
  const std::size_t end = file_.size();
  std::size_t at = begin_;
  for (std::uint32_t index = 1; index < count; ++index) {
    const std::size_t left = end - at;
    const std::uint8_t tag = left != 0 ? file_[at] : 0;
    std::size_t size = tag < kEntrySize.size() ? kEntrySize[tag] : kUnknown;
    if (tag == static_cast<std::uint8_t>(Tag::kUtf8) && left >= kUtf8Header) size += load_u2(file_.data() + at + 1);
    if (size == kUnknown || size > left) [[unlikely]] {
      const bool truncated = left == 0 || size > left;
      return Error{truncated ? ErrorCode::kTruncated : ErrorCode::kUnsupported,
                   truncated ? "the class ends here" : "unknown tag " + std::to_string(tag),
                   {.path = "constant pool entry #" + std::to_string(index), .byte_offset = at}};
    }
    offsets_[index] = static_cast<std::uint32_t>(at);
    tags_[index] = static_cast<Tag>(tag);
    at += size;
    // A long or double in the last slot would leave its second slot outside of the pool.
    if (takes_two_slots(static_cast<Tag>(tag)) && ++index == count) {
      return bad_entry(static_cast<std::uint16_t>(index - 1), "takes two slots, but only one is left");
    }
  }
  return static_cast<std::uint32_t>(at);
}

Error ConstantPool::bad_entry(std::uint16_t index, std::string_view message) const {
  return {ErrorCode::kMalformed,
          std::string(name_of(tag(PoolIndex(index)))) + " " + std::string(message),
          {.path = "constant pool entry #" + std::to_string(index), .byte_offset = offsets_[index]}};
}

Result<void> ConstantPool::check_references() const {
  for (std::uint16_t i = 1; i < count(); ++i) {
    const PoolIndex index(i);
    switch (tag(index)) {
      case Tag::kClass:
      case Tag::kString:
      case Tag::kMethodType:
      case Tag::kModule:
      case Tag::kPackage:
        if (!is(u2_at(index, 1), Tag::kUtf8)) return bad_entry(i, "does not point at a Utf8 entry");
        break;
      case Tag::kNameAndType:
        if (!is(u2_at(index, 1), Tag::kUtf8) || !is(u2_at(index, 3), Tag::kUtf8)) {
          return bad_entry(i, "does not point at two Utf8 entries");
        }
        break;
      case Tag::kFieldref:
      case Tag::kMethodref:
      case Tag::kInterfaceMethodref:
        if (!is(u2_at(index, 1), Tag::kClass) || !is(u2_at(index, 3), Tag::kNameAndType)) {
          return bad_entry(i, "does not point at a Class and a NameAndType entry");
        }
        break;
      case Tag::kDynamic:
      case Tag::kInvokeDynamic:
        if (!is(u2_at(index, 3), Tag::kNameAndType)) return bad_entry(i, "does not point at a NameAndType entry");
        break;
      case Tag::kMethodHandle: {
        const Tag target = tag(u2_at(index, 2));
        if (target != Tag::kFieldref && target != Tag::kMethodref && target != Tag::kInterfaceMethodref) {
          return bad_entry(i, "does not point at a field or method");
        }
        break;
      }
      default: break;
    }
  }
  return {};
}

Bytes ConstantPool::entry(PoolIndex index) const {
  const Tag kind = tag(index);
  if (kind == Tag::kUnusable) return {};
  std::size_t size = kEntrySize[static_cast<std::size_t>(kind)];
  if (kind == Tag::kUtf8) size += load_u2(at(index) + 1);
  return file_.subspan(offset(index), size);
}

std::string_view ConstantPool::utf8(PoolIndex index) const {
  if (!is(index, Tag::kUtf8)) return {};
  const std::uint8_t* p = at(index);
  return {reinterpret_cast<const char*>(p + kUtf8Header), load_u2(p + 1)};
}

std::string_view ConstantPool::class_name(PoolIndex index) const {
  switch (tag(index)) {
    case Tag::kClass:
    case Tag::kString:
    case Tag::kMethodType:
    case Tag::kModule:
    case Tag::kPackage: return utf8(u2_at(index, 1));
    default: return {};
  }
}

NameAndType ConstantPool::name_and_type(PoolIndex index) const {
  if (!is(index, Tag::kNameAndType)) return {};
  return {.name = utf8(u2_at(index, 1)), .descriptor = utf8(u2_at(index, 3))};
}

MemberRef ConstantPool::member(PoolIndex index) const {
  switch (tag(index)) {
    case Tag::kFieldref:
    case Tag::kMethodref:
    case Tag::kInterfaceMethodref: {
      const NameAndType member = name_and_type(u2_at(index, 3));
      return {.class_name = class_name(u2_at(index, 1)), .name = member.name, .descriptor = member.descriptor};
    }
    case Tag::kDynamic:
    case Tag::kInvokeDynamic: {
      const NameAndType member = name_and_type(u2_at(index, 3));
      return {.class_name = {}, .name = member.name, .descriptor = member.descriptor};
    }
    default: return {};
  }
}

std::uint32_t ConstantPool::u4_value(PoolIndex index) const {
  return is(index, Tag::kInteger) || is(index, Tag::kFloat) ? load_u4(at(index) + 1) : 0;
}

std::uint64_t ConstantPool::u8_value(PoolIndex index) const {
  return is(index, Tag::kLong) || is(index, Tag::kDouble) ? load_u8(at(index) + 1) : 0;
}

std::uint8_t ConstantPool::reference_kind(PoolIndex index) const {
  return is(index, Tag::kMethodHandle) ? at(index)[1] : 0;
}

PoolIndex ConstantPool::reference_index(PoolIndex index) const {
  return is(index, Tag::kMethodHandle) ? u2_at(index, 2) : PoolIndex();
}

std::uint16_t ConstantPool::bootstrap_index(PoolIndex index) const {
  return is(index, Tag::kDynamic) || is(index, Tag::kInvokeDynamic) ? u2_at(index, 1).value() : 0;
}

}  // namespace sonde::classfile
