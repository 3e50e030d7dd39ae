// SPDX-License-Identifier: Apache-2.0
// Numbers of the class file format that must not be mixed up, and its names for flags and attributes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/id.h"

namespace sonde::classfile {

// An offset into the code array of the method as it was parsed. Offsets after editing are not Pcs.
using Pc = Id<struct PcTag, std::uint32_t>;
// An index into the constant pool; 0 means "none" where the format allows it.
using PoolIndex = Id<struct PoolIndexTag, std::uint16_t>;
// A local variable slot.
using LocalIndex = Id<struct LocalIndexTag, std::uint16_t>;

inline constexpr std::uint32_t kMagic = 0xCAFEBABE;
// Versions whose structure this library was written against. Newer ones are parsed if nothing in them is unknown.
inline constexpr std::uint16_t kOldestMajor = 45;
inline constexpr std::uint16_t kNewestMajor = 69;
// From this version on the verifier type-checks with StackMapTable; before, methods may have no frames.
inline constexpr std::uint16_t kFramesMajor = 50;
inline constexpr std::uint32_t kMaxCodeLength = 65535;

enum AccessFlag : std::uint16_t {
  kAccPublic = 0x0001,
  kAccPrivate = 0x0002,
  kAccProtected = 0x0004,
  kAccStatic = 0x0008,
  kAccFinal = 0x0010,
  kAccSynchronized = 0x0020,
  kAccTransient = 0x0080,
  kAccNative = 0x0100,
  kAccInterface = 0x0200,
  kAccAbstract = 0x0400,
  kAccSynthetic = 0x1000,
};

namespace attribute {
inline constexpr std::string_view kCode = "Code";
inline constexpr std::string_view kLineNumberTable = "LineNumberTable";
inline constexpr std::string_view kLocalVariableTable = "LocalVariableTable";
inline constexpr std::string_view kLocalVariableTypeTable = "LocalVariableTypeTable";
inline constexpr std::string_view kStackMapTable = "StackMapTable";
inline constexpr std::string_view kRuntimeVisibleTypeAnnotations = "RuntimeVisibleTypeAnnotations";
inline constexpr std::string_view kRuntimeInvisibleTypeAnnotations = "RuntimeInvisibleTypeAnnotations";
inline constexpr std::string_view kBootstrapMethods = "BootstrapMethods";
inline constexpr std::string_view kSourceFile = "SourceFile";
}  // namespace attribute

}  // namespace sonde::classfile
