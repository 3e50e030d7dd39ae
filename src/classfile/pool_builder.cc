// SPDX-License-Identifier: Apache-2.0
#include "classfile/pool_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace sonde::classfile {
namespace {

// Eight bytes at a time, the last ones overlapping those before. No entry is shorter than three bytes.
std::uint32_t hash_of(Bytes bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  const std::uint8_t* p = bytes.data();
  const std::size_t size = bytes.size();
  std::uint64_t hash = size;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kOdd;
    hash ^= hash >> 32;
  };
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8) mix(load_u8(p + i));
    mix(load_u8(p + size - 8));
  } else if (size >= 4) {
    mix(std::uint64_t{load_u4(p)} << 32 | load_u4(p + size - 4));
  } else {
    mix(std::uint64_t{p[0]} << 16 | load_u2(p + size - 2));
  }
  return static_cast<std::uint32_t>(hash);
}

// More than a pass has.
constexpr std::size_t kMaxKnownRefs = 16;

bool equal(Bytes a, Bytes b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace

void PoolBuilder::reset(const ConstantPool& pool) {
  pool_ = &pool;
  count_ = pool.count();
  full_ = false;
  added_.clear();
  added_entries_.clear();
  table_.clear();
  known_refs_.clear();
}

Bytes PoolBuilder::entry_at(std::uint16_t index) const {
  if (index < pool_->count()) return pool_->entry(PoolIndex(index));
  const Added& added = added_entries_[index - pool_->count()];
  return added_.view().subspan(added.begin, added.size);
}

void PoolBuilder::insert(std::uint16_t index, Bytes entry) {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = hash_of(entry) & mask;
  while (table_[slot] != 0) slot = (slot + 1) & mask;
  table_[slot] = index;
}

void PoolBuilder::build_table() {
  table_.assign(std::bit_ceil(std::size_t{count_} * 2 + 32), 0);
  for (std::uint32_t i = 1; i < count_; ++i) {
    const Bytes entry = entry_at(static_cast<std::uint16_t>(i));
    if (!entry.empty()) insert(static_cast<std::uint16_t>(i), entry);
  }
}

PoolIndex PoolBuilder::intern(Bytes entry) {
  // Half full is the limit, since every probe sequence must end at an empty slot.
  if (table_.size() < std::size_t{count_} * 2) build_table();
  const std::size_t mask = table_.size() - 1;
  for (std::size_t slot = hash_of(entry) & mask; table_[slot] != 0; slot = (slot + 1) & mask) {
    if (equal(entry_at(table_[slot]), entry)) return PoolIndex(table_[slot]);
  }
  const bool two_slots = static_cast<Tag>(entry[0]) == Tag::kLong || static_cast<Tag>(entry[0]) == Tag::kDouble;
  const std::uint32_t slots = two_slots ? 2 : 1;
  if (count_ + slots > kMaxCount) {
    full_ = true;
    return PoolIndex(0);
  }
  const auto index = static_cast<std::uint16_t>(count_);
  added_entries_.push_back(
      {.begin = static_cast<std::uint32_t>(added_.size()), .size = static_cast<std::uint32_t>(entry.size())});
  if (two_slots) added_entries_.push_back({.begin = 0, .size = 0});
  added_.bytes(entry);
  count_ += slots;
  insert(index, entry);
  return PoolIndex(index);
}

PoolIndex PoolBuilder::utf8(std::string_view text) {
  if (text.size() > 65535) {
    full_ = true;
    return PoolIndex(0);
  }
  scratch_.resize(3 + text.size());
  scratch_[0] = static_cast<std::uint8_t>(Tag::kUtf8);
  store_u2(scratch_.data() + 1, static_cast<std::uint16_t>(text.size()));
  std::ranges::copy(as_bytes(text), scratch_.begin() + 3);
  return intern(scratch_);
}

PoolIndex PoolBuilder::integer(std::int32_t value) {
  std::array<std::uint8_t, 5> entry{static_cast<std::uint8_t>(Tag::kInteger)};
  store_u4(entry.data() + 1, static_cast<std::uint32_t>(value));
  return intern(entry);
}

PoolIndex PoolBuilder::long_integer(std::int64_t value) {
  std::array<std::uint8_t, 9> entry{static_cast<std::uint8_t>(Tag::kLong)};
  store_u4(entry.data() + 1, static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32));
  store_u4(entry.data() + 5, static_cast<std::uint32_t>(value));
  return intern(entry);
}

PoolIndex PoolBuilder::one_index(Tag tag, PoolIndex index) {
  std::array<std::uint8_t, 3> entry{static_cast<std::uint8_t>(tag)};
  store_u2(entry.data() + 1, index.value());
  return full_ ? PoolIndex(0) : intern(entry);
}

PoolIndex PoolBuilder::two_indices(Tag tag, PoolIndex first, PoolIndex second) {
  std::array<std::uint8_t, 5> entry{static_cast<std::uint8_t>(tag)};
  store_u2(entry.data() + 1, first.value());
  store_u2(entry.data() + 3, second.value());
  return full_ ? PoolIndex(0) : intern(entry);
}

PoolIndex PoolBuilder::class_info(std::string_view name) { return one_index(Tag::kClass, utf8(name)); }

PoolIndex PoolBuilder::name_and_type(std::string_view name, std::string_view descriptor) {
  const PoolIndex name_index = utf8(name);
  return two_indices(Tag::kNameAndType, name_index, utf8(descriptor));
}

PoolIndex PoolBuilder::method_ref(const MemberRef& ref) {
  const auto same = [&](const KnownRef& known) {
    return known.name == ref.name && known.descriptor == ref.descriptor && known.class_name == ref.class_name;
  };
  if (const auto known = std::ranges::find_if(known_refs_, same); known != known_refs_.end()) return known->index;
  const PoolIndex owner = class_info(ref.class_name);
  const PoolIndex index = two_indices(Tag::kMethodref, owner, name_and_type(ref.name, ref.descriptor));
  if (known_refs_.size() < kMaxKnownRefs) {
    known_refs_.push_back({.class_name = std::string(ref.class_name),
                           .name = std::string(ref.name),
                           .descriptor = std::string(ref.descriptor),
                           .index = index});
  }
  return index;
}

}  // namespace sonde::classfile
