// SPDX-License-Identifier: Apache-2.0
#include "instrument/known_methods.h"

#include <algorithm>
#include <cstring>

#include "classfile/annotations.h"

namespace sonde::instrument {
namespace {

constexpr std::uint64_t kKindMask = 3;

std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return (hash ^ 0xff) * 1099511628211U;  // a separator that no UTF-8 text has
}

}  // namespace

bool is_intrinsic(const classfile::ClassFile& cls, const classfile::Member& method) {
  constexpr std::string_view kAnnotation = "Ljdk/internal/vm/annotation/IntrinsicCandidate;";
  if (!classfile::has_annotation(cls.pool(), method, kAnnotation)) return false;
  // HotSpot knows it to skip it when it looks for callers. No compiler has code for it, and all that reflection calls
  // is below it.
  return cls.name() != "java/lang/reflect/Method" || method.name != "invoke";
}

bool is_unavoidable_intrinsic(const classfile::ClassFile& cls, const classfile::Member& method) {
  constexpr std::string_view kMath[] = {"sin", "cos",   "tan", "tanh", "cbrt", "exp",
                                        "log", "log10", "pow", "sqrt", "fma",  "abs"};
  const auto is_of_class = [&](std::string_view name) { return cls.name() == name; };
  if (!is_intrinsic(cls, method)) return false;
  if (cls.name().starts_with("java/lang/ref/") || is_of_class("java/lang/Object")) return true;
  if (is_of_class("java/lang/Float")) return method.name == "float16ToFloat" || method.name == "floatToFloat16";
  return (is_of_class("java/lang/Math") || is_of_class("java/lang/StrictMath")) &&
         std::ranges::find(kMath, method.name) != std::end(kMath);
}

bool may_initialise_classes(const classfile::ClassFile& cls, const classfile::Member& method) {
  return !is_intrinsic(cls, method) || cls.name() == "java/lang/invoke/MethodHandle" ||
         cls.name() == "java/lang/invoke/VarHandle" || method.name == "allocateInstance";
}

bool is_bound(const classfile::ClassFile& cls, const classfile::Member& method) {
  return method.has(classfile::kAccStatic) || method.has(classfile::kAccPrivate) || method.has(classfile::kAccFinal) ||
         (cls.access_flags() & classfile::kAccFinal) != 0 || method.name == "<init>";
}

std::uint64_t KnownMethods::key_of(const classfile::MemberRef& method) {
  std::uint64_t hash = fnv(14695981039346656037U, method.class_name);
  hash = fnv(hash, method.name);
  return fnv(hash, method.descriptor) & ~kKindMask;
}

void KnownMethods::add(const classfile::MemberRef& method, KnownKind kind) {
  entries_.push_back(key_of(method) | static_cast<std::uint64_t>(kind));
}

void KnownMethods::sort() { std::ranges::sort(entries_); }

std::optional<std::uint32_t> KnownMethods::position(const classfile::MemberRef& method) const {
  const std::uint64_t key = key_of(method);
  const auto found = std::ranges::lower_bound(entries_, key);
  if (found == entries_.end() || (*found & ~kKindMask) != key) return std::nullopt;
  return static_cast<std::uint32_t>(found - entries_.begin());
}

KnownKind KnownMethods::find(const classfile::MemberRef& method) const {
  const auto found = position(method);
  return found ? static_cast<KnownKind>(entries_[*found] & kKindMask) : KnownKind::kNone;
}

Result<KnownMethods> KnownMethods::parse(Bytes bytes) {
  if (bytes.size() % sizeof(std::uint64_t) != 0) {
    return Error{ErrorCode::kMalformed,
                 "list of known methods is not made of 8-byte entries",
                 {.path = {}, .byte_offset = bytes.size()}};
  }
  KnownMethods known;
  known.entries_.resize(bytes.size() / sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(known.entries_.data(), bytes.data(), bytes.size());
  if (!std::ranges::is_sorted(known.entries_)) {
    return Error{ErrorCode::kMalformed, "list of known methods is not sorted"};
  }
  return known;
}

std::vector<std::uint8_t> KnownMethods::serialize() const {
  std::vector<std::uint8_t> bytes(entries_.size() * sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), entries_.data(), bytes.size());
  return bytes;
}

}  // namespace sonde::instrument
