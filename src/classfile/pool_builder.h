// SPDX-License-Identifier: Apache-2.0
// Growth of a constant pool: entries are looked up, in the class and among those added, before they are appended.
// Existing indices never change, so nothing else in the class has to be rewritten. When the pool is full the builder
// remembers it and returns index 0; ClassEditor::write then refuses the class.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "classfile/constant_pool.h"
#include "classfile/names.h"

namespace sonde::classfile {

class PoolBuilder {
 public:
  // Forgets everything and starts from this pool, which must outlive the edits.
  void reset(const ConstantPool& pool);

  PoolIndex utf8(std::string_view text);
  PoolIndex integer(std::int32_t value);
  PoolIndex long_integer(std::int64_t value);
  PoolIndex class_info(std::string_view name);
  PoolIndex name_and_type(std::string_view name, std::string_view descriptor);
  PoolIndex method_ref(const MemberRef& method);

  [[nodiscard]] bool is_full() const { return full_; }
  [[nodiscard]] std::uint16_t count() const { return static_cast<std::uint16_t>(count_); }
  [[nodiscard]] Bytes added() const { return added_.view(); }

 private:
  static constexpr std::uint32_t kMaxCount = 65535;

  PoolIndex two_indices(Tag tag, PoolIndex first, PoolIndex second);
  PoolIndex one_index(Tag tag, PoolIndex index);
  // The entry with exactly these bytes, found or appended.
  PoolIndex intern(Bytes entry);
  void build_table();
  void insert(std::uint16_t index, Bytes entry);
  [[nodiscard]] Bytes entry_at(std::uint16_t index) const;

  const ConstantPool* pool_ = nullptr;
  std::uint32_t count_ = 0;
  bool full_ = false;
  ByteWriter added_;
  struct Added {
    std::uint32_t begin;  // in added_
    std::uint32_t size;   // 0 for the second slot of a long
  };
  std::vector<Added> added_entries_;
  // Open addressing over entry bytes, built when the first entry is asked for: most classes need none.
  std::vector<std::uint16_t> table_;
  std::vector<std::uint8_t> scratch_;
  // The few methods that passes call again and again.
  struct KnownRef {
    std::string class_name, name, descriptor;
    PoolIndex index;
  };
  std::vector<KnownRef> known_refs_;
};

}  // namespace sonde::classfile
