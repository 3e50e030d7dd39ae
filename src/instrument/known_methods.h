// SPDX-License-Identifier: Apache-2.0
// Methods that are counted where they are called, because nothing can be inserted into them: native ones, and those
// that the JIT compiler replaces by code of its own (@IntrinsicCandidate) at a moment nobody controls. The host makes
// the list from the JDK that is about to run; only methods that a call reaches whatever the receiver are in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/class_file.h"

namespace sonde::instrument {

// Whether HotSpot's compilers may replace it by code of their own: in classes of the JDK only.
bool is_intrinsic(const classfile::ClassFile& cls, const classfile::Member& method);
// Those among them that it replaces with all intrinsics switched off, too: the interpreter has code of its own for
// them.
bool is_unavoidable_intrinsic(const classfile::ClassFile& cls, const classfile::Member& method);

// Whether the JVM may initialise a class on its behalf. If not, an initialiser that seems to be called by it was run by
// its caller, between this call and the next.
bool may_initialise_classes(const classfile::ClassFile& cls, const classfile::Member& method);

// Whether a call of this name can only mean this method, whatever the receiver's class.
bool is_bound(const classfile::ClassFile& cls, const classfile::Member& method);

// kNativeIntrinsic: native, and no class is initialised on its behalf.
enum class KnownKind : std::uint8_t { kNone = 0, kNative = 1, kIntrinsic = 2, kNativeIntrinsic = 3 };

class KnownMethods {
 public:
  // The form in which host and agent exchange the list: 64-bit hashes in ascending order, the kind in the low 2 bits.
  static Result<KnownMethods> parse(Bytes bytes);
  [[nodiscard]] std::vector<std::uint8_t> serialize() const;

  void add(const classfile::MemberRef& method, KnownKind kind);
  void sort();  // after the last add

  [[nodiscard]] KnownKind find(const classfile::MemberRef& method) const;
  // Its place in the list, from 0 on.
  [[nodiscard]] std::optional<std::uint32_t> position(const classfile::MemberRef& method) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  static std::uint64_t key_of(const classfile::MemberRef& method);

  std::vector<std::uint64_t> entries_;
};

}  // namespace sonde::instrument
