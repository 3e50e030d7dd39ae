// SPDX-License-Identifier: Apache-2.0
// The constant pool as a view over class file bytes (JVMS 4.4). Parsing checks every entry and every reference
// between entries, so that the accessors here need no error path for indices that were checked with is().
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/names.h"

namespace sonde::classfile {

enum class Tag : std::uint8_t {
  kUnusable = 0,  // index 0 and the slot after a long or double
  kUtf8 = 1,
  kInteger = 3,
  kFloat = 4,
  kLong = 5,
  kDouble = 6,
  kClass = 7,
  kString = 8,
  kFieldref = 9,
  kMethodref = 10,
  kInterfaceMethodref = 11,
  kNameAndType = 12,
  kMethodHandle = 15,
  kMethodType = 16,
  kDynamic = 17,
  kInvokeDynamic = 18,
  kModule = 19,
  kPackage = 20,
};

std::string_view name_of(Tag tag);  // "Methodref"; "" if unknown

// For sets of tags.
constexpr std::uint32_t bit(Tag tag) { return 1U << static_cast<unsigned>(tag); }

inline constexpr std::uint8_t kUtf8Header = 3;  // tag and length

struct NameAndType {
  std::string_view name;
  std::string_view descriptor;
};

struct MemberRef {
  std::string_view class_name;
  std::string_view name;
  std::string_view descriptor;
};

class ConstantPool {
 public:
  // Reads constant_pool_count and the entries; leaves the reader after them. `file` owns the bytes. What was in the
  // pool before is gone, its memory is used again.
  [[nodiscard]] Result<void> parse(Bytes file, ByteReader& reader);

  // One more than the largest index, as in the format.
  [[nodiscard]] std::uint16_t count() const { return static_cast<std::uint16_t>(offsets_.size()); }
  [[nodiscard]] Tag tag(PoolIndex index) const {
    return index.value() < tags_.size() ? tags_[index.value()] : Tag::kUnusable;
  }
  [[nodiscard]] std::span<const Tag> tags() const { return tags_; }  // by index
  [[nodiscard]] bool is(PoolIndex index, Tag expected) const { return tag(index) == expected; }
  // All entry bytes, without the count.
  [[nodiscard]] Bytes bytes() const { return file_.subspan(begin_, end_ - begin_); }
  // The bytes of one entry from its tag on.
  [[nodiscard]] Bytes entry(PoolIndex index) const;
  [[nodiscard]] std::uint32_t offset(PoolIndex index) const { return offsets_[index.value()]; }

  // Each expects an entry of the kind in its name; anything else gives empty text or zero.
  [[nodiscard, gnu::always_inline]] std::string_view utf8(PoolIndex index) const {
    if (!is(index, Tag::kUtf8)) return {};
    const std::uint8_t* p = at(index);
    return {reinterpret_cast<const char*>(p + kUtf8Header), load_u2(p + 1)};
  }
  [[nodiscard]] std::string_view class_name(PoolIndex index) const;  // also Module, Package, String, MethodType
  [[nodiscard]] NameAndType name_and_type(PoolIndex index) const;
  // Fieldref, Methodref, InterfaceMethodref; for Dynamic and InvokeDynamic the class name is empty.
  [[nodiscard]] MemberRef member(PoolIndex index) const;
  [[nodiscard]] std::uint32_t u4_value(PoolIndex index) const;         // Integer and Float, as bits
  [[nodiscard]] std::uint64_t u8_value(PoolIndex index) const;         // Long and Double, as bits
  [[nodiscard]] std::uint8_t reference_kind(PoolIndex index) const;    // MethodHandle
  [[nodiscard]] PoolIndex reference_index(PoolIndex index) const;      // MethodHandle
  [[nodiscard]] std::uint16_t bootstrap_index(PoolIndex index) const;  // Dynamic, InvokeDynamic
  // Whether a Float or Double in it is not equal to itself.
  [[nodiscard]] bool has_nan() const;

 private:
  // Tight loops: inlined they would have too few registers.
  [[nodiscard, gnu::noinline]] Result<std::uint32_t> read_entries(std::uint16_t count);
  [[nodiscard, gnu::noinline]] Result<void> check_references() const;
  [[nodiscard, gnu::cold]] Error bad_size(std::uint32_t index, std::size_t at) const;
  [[nodiscard, gnu::cold]] Error bad_entry(std::uint16_t index, std::string_view message) const;
  [[nodiscard]] const std::uint8_t* at(PoolIndex index) const { return file_.data() + offsets_[index.value()]; }
  [[nodiscard]] PoolIndex u2_at(PoolIndex index, int offset) const { return PoolIndex(load_u2(at(index) + offset)); }

  Bytes file_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  // Offset of each entry's tag in the file; 0 for the unusable slots. Tags are asked for much more often than entries
  // are read, so they have an array of their own.
  std::vector<std::uint32_t> offsets_;
  std::vector<Tag> tags_;
};

}  // namespace sonde::classfile
