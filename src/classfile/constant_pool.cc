// SPDX-License-Identifier: Apache-2.0
#include "classfile/constant_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

namespace sonde::classfile {
namespace {

constexpr std::uint32_t kAnything = ~0U;
constexpr std::uint32_t kMembers = bit(Tag::kFieldref) | bit(Tag::kMethodref) | bit(Tag::kInterfaceMethodref);

// What the format says of each tag (JVMS 4.4). Reading and checking have no branch on the tag, whose order in a pool no
// processor can foresee: an entry with fewer than two references has one that is checked twice, and what an entry
// without any has in that place may be anything.
struct EntryLayout {
  std::uint8_t size = 0;   // with the tag; for Utf8 without its text; 0: there is no such tag
  std::uint8_t slots = 1;  // of the pool
  std::uint16_t text = 0;  // a mask: of the two bytes after the tag, what is the length of a text behind the entry
  std::uint8_t first = 0;  // where references stand
  std::uint8_t second = 0;
  std::uint32_t first_kinds = kAnything;  // what they may point at, as bits
  std::uint32_t second_kinds = kAnything;
};

constexpr std::array<EntryLayout, 256> kLayouts = [] {
  std::array<EntryLayout, 256> layouts{};
  const auto set = [&](Tag tag, EntryLayout layout) { layouts[static_cast<std::size_t>(tag)] = layout; };
  const auto one = [](std::uint8_t size, std::uint8_t at, std::uint32_t kinds) {
    return EntryLayout{.size = size, .first = at, .second = at, .first_kinds = kinds, .second_kinds = kinds};
  };
  const auto two = [](std::uint32_t first, std::uint32_t second) {
    return EntryLayout{.size = 5, .first = 1, .second = 3, .first_kinds = first, .second_kinds = second};
  };
  set(Tag::kUtf8, {.size = kUtf8Header, .text = 0xffff});
  for (const Tag tag : {Tag::kInteger, Tag::kFloat}) set(tag, {.size = 5});
  for (const Tag tag : {Tag::kLong, Tag::kDouble}) set(tag, {.size = 9, .slots = 2});
  for (const Tag tag : {Tag::kClass, Tag::kString, Tag::kMethodType, Tag::kModule, Tag::kPackage}) {
    set(tag, one(3, 1, bit(Tag::kUtf8)));
  }
  for (const Tag tag : {Tag::kFieldref, Tag::kMethodref, Tag::kInterfaceMethodref}) {
    set(tag, two(bit(Tag::kClass), bit(Tag::kNameAndType)));
  }
  set(Tag::kNameAndType, two(bit(Tag::kUtf8), bit(Tag::kUtf8)));
  set(Tag::kMethodHandle, one(4, 2, kMembers));
  for (const Tag tag : {Tag::kDynamic, Tag::kInvokeDynamic}) set(tag, one(5, 3, bit(Tag::kNameAndType)));
  return layouts;
}();

// The same in registers, for the loop that finds the entries: each waits for the size of the one before.
constexpr std::size_t kTagLimit = static_cast<std::size_t>(Tag::kPackage) + 1;
struct LayoutBits {
  std::uint32_t tags = 0;        // all that there are
  std::uint32_t two_slots = 0;   // those that take two
  std::uint64_t more_bytes = 0;  // three bits for each tag: its size beyond that of a Utf8 without text
};
constexpr LayoutBits kLayoutBits = [] {
  LayoutBits bits;
  for (std::size_t i = 0; i < kTagLimit; ++i) {
    if (kLayouts[i].size == 0) continue;
    bits.tags |= 1U << i;
    bits.two_slots |= (kLayouts[i].slots - 1U) << i;
    bits.more_bytes |= (std::uint64_t{kLayouts[i].size} - kUtf8Header) << (i * 3);
  }
  return bits;
}();
static_assert(kTagLimit * 3 <= 64);

const EntryLayout& layout_of(Tag tag) { return kLayouts[static_cast<std::size_t>(tag)]; }

// What is wrong with an entry whose references do not fit.
std::string_view expectation_of(Tag tag) {
  switch (tag) {
    case Tag::kNameAndType: return "does not point at two Utf8 entries";
    case Tag::kFieldref:
    case Tag::kMethodref:
    case Tag::kInterfaceMethodref: return "does not point at a Class and a NameAndType entry";
    case Tag::kDynamic:
    case Tag::kInvokeDynamic: return "does not point at a NameAndType entry";
    case Tag::kMethodHandle: return "does not point at a field or method";
    default: return "does not point at a Utf8 entry";
  }
}

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

Result<void> ConstantPool::parse(Bytes file, ByteReader& reader) {
  file_ = file;
  const std::uint16_t count = reader.u2();
  TRY(reader.check("constant_pool_count"));
  if (count == 0) {
    return Error{ErrorCode::kMalformed,
                 "constant_pool_count is 0, the smallest is 1",
                 {.path = "constant pool", .byte_offset = reader.position() - 2}};
  }
  begin_ = static_cast<std::uint32_t>(reader.position());
  end_ = TRY(read_entries(count));
  reader.skip(end_ - begin_);
  return check_references();
}

// Finds the entries and returns where they end. Works on plain pointers: this loop is a good part of parsing a class.
Result<std::uint32_t> ConstantPool::read_entries(std::uint16_t count) {
  offsets_.assign(count, 0);
  tags_.assign(count, Tag::kUnusable);
  std::uint32_t* const offsets = offsets_.data();
  Tag* const tags = tags_.data();
  const std::uint8_t* const file = file_.data();
  const std::size_t end = file_.size();
  std::size_t at = begin_;
  std::uint32_t index = 1;
  while (index < count) {
    const std::size_t left = end - at;
    // No entry is shorter than a Utf8 without text, and behind every pool there is more than that.
    if (left < kUtf8Header) [[unlikely]]
      return bad_size(index, at);
    const std::uint32_t tag = file[at];
    const std::uint32_t length = load_u2(file + at + 1);  // if it is a Utf8
    if (tag >= kTagLimit || (kLayoutBits.tags >> tag & 1) == 0) [[unlikely]]
      return bad_size(index, at);
    const std::size_t size =
        kUtf8Header + (kLayoutBits.more_bytes >> (tag * 3) & 7) + (static_cast<Tag>(tag) == Tag::kUtf8 ? length : 0);
    if (size > left) [[unlikely]]
      return bad_size(index, at);
    offsets[index] = static_cast<std::uint32_t>(at);
    tags[index] = static_cast<Tag>(tag);
    at += size;
    index += 1 + (kLayoutBits.two_slots >> tag & 1);
  }
  // A long or double in the last slot leaves its second slot outside of the pool.
  if (index > count) return bad_entry(static_cast<std::uint16_t>(index - 2), "takes two slots, but only one is left");
  return static_cast<std::uint32_t>(at);
}

Error ConstantPool::bad_size(std::uint32_t index, std::size_t at) const {
  const bool unknown = at < file_.size() && layout_of(static_cast<Tag>(file_[at])).size == 0;
  return {unknown ? ErrorCode::kUnsupported : ErrorCode::kTruncated,
          unknown ? "unknown tag " + std::to_string(file_[at]) : "the class ends here",
          {.path = "constant pool entry #" + std::to_string(index), .byte_offset = at}};
}

Error ConstantPool::bad_entry(std::uint16_t index, std::string_view message) const {
  return {ErrorCode::kMalformed,
          std::string(name_of(tag(PoolIndex(index)))) + " " + std::string(message),
          {.path = "constant pool entry #" + std::to_string(index), .byte_offset = offsets_[index]}};
}

Result<void> ConstantPool::check_references() const {
  const std::uint32_t count = this->count();
  const Tag* const tags = tags_.data();
  const std::uint32_t* const offsets = offsets_.data();
  const std::uint8_t* const file = file_.data();
  const auto points_at = [=](const std::uint8_t* reference, std::uint32_t kinds) {
    const std::uint32_t index = load_u2(reference);
    return (kinds >> static_cast<unsigned>(tags[index < count ? index : 0])) & 1U;  // 0 is never usable
  };
  // Half of all entries are Utf8, in an order nobody can foresee. A batch of the others is collected without a branch.
  constexpr std::uint32_t kBatch = 64;
  for (std::uint32_t begin = 1; begin < count; begin += kBatch) {
    std::uint16_t batch[kBatch];
    std::uint32_t size = 0;
    for (std::uint32_t i = begin; i < std::min(begin + kBatch, count); ++i) {
      batch[size] = static_cast<std::uint16_t>(i);
      size += tags[i] > Tag::kUtf8 ? 1 : 0;
    }
    for (std::uint32_t k = 0; k < size; ++k) {
      const std::uint32_t i = batch[k];
      const std::uint8_t* const entry = file + offsets[i];
      const EntryLayout& layout = layout_of(tags[i]);
      const std::uint32_t fits =
          points_at(entry + layout.first, layout.first_kinds) & points_at(entry + layout.second, layout.second_kinds);
      if (fits == 0) [[unlikely]]
        return bad_entry(static_cast<std::uint16_t>(i), expectation_of(tags[i]));
    }
  }
  return {};
}

Bytes ConstantPool::entry(PoolIndex index) const {
  const Tag kind = tag(index);
  if (kind == Tag::kUnusable) return {};
  const EntryLayout& layout = layout_of(kind);
  return file_.subspan(offset(index), std::size_t{layout.size} + (load_u2(at(index) + 1) & layout.text));
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

bool ConstantPool::has_nan() const {
  for (std::uint32_t i = 1; i < count(); ++i) {
    const PoolIndex index(static_cast<std::uint16_t>(i));
    if (is(index, Tag::kFloat) && std::isnan(std::bit_cast<float>(u4_value(index)))) return true;
    if (is(index, Tag::kDouble) && std::isnan(std::bit_cast<double>(u8_value(index)))) return true;
  }
  return false;
}

}  // namespace sonde::classfile
