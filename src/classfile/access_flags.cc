// SPDX-License-Identifier: Apache-2.0
#include "classfile/access_flags.h"

#include <string_view>

namespace sonde::classfile {
namespace {

constexpr unsigned kClass = static_cast<unsigned>(FlagsOf::kClass);
constexpr unsigned kInner = static_cast<unsigned>(FlagsOf::kInnerClass);
constexpr unsigned kField = static_cast<unsigned>(FlagsOf::kField);
constexpr unsigned kMethod = static_cast<unsigned>(FlagsOf::kMethod);
constexpr unsigned kParameter = static_cast<unsigned>(FlagsOf::kParameter);
constexpr unsigned kModule = static_cast<unsigned>(FlagsOf::kModule);
constexpr unsigned kRequires = static_cast<unsigned>(FlagsOf::kRequires);
constexpr unsigned kExports = static_cast<unsigned>(FlagsOf::kExports);
constexpr unsigned kAnyType = kClass | kInner;
constexpr unsigned kMembers = kInner | kField | kMethod;

struct Row {
  std::uint16_t flag;
  unsigned where;
  std::string_view word;
};

// In the order in which Java source would have them.
constexpr Row kRows[] = {
    {0x0001, kClass | kMembers, "public"},
    {0x0002, kMembers, "private"},
    {0x0004, kMembers, "protected"},
    {0x0400, kAnyType | kMethod, "abstract"},
    {0x0008, kMembers, "static"},
    {0x0010, kClass | kMembers | kParameter, "final"},
    {0x0020, kMethod, "synchronized"},
    {0x0020, kClass, "super"},
    {0x0020, kModule, "open"},
    {0x0020, kRequires, "transitive"},
    {0x0040, kField, "volatile"},
    {0x0040, kMethod, "bridge"},
    {0x0040, kRequires, "static"},
    {0x0080, kField, "transient"},
    {0x0080, kMethod, "varargs"},
    {0x0100, kMethod, "native"},
    {0x0200, kAnyType, "interface"},
    {0x0800, kMethod, "strictfp"},
    {0x1000, kClass | kMembers | kParameter | kModule | kRequires | kExports, "synthetic"},
    {0x2000, kAnyType, "annotation"},
    {0x4000, kAnyType | kField, "enum"},
    {0x8000, kParameter | kModule | kRequires | kExports, "mandated"},
    {0x8000, kClass, "module"},
};

}  // namespace

std::string flag_words(std::uint16_t flags, FlagsOf what) {
  std::string words;
  const auto add = [&words](std::string_view word) {
    if (!words.empty()) words += ' ';
    words += word;
  };
  for (const Row& row : kRows) {
    if ((row.where & static_cast<unsigned>(what)) == 0 || (flags & row.flag) == 0) continue;
    add(row.word);
    flags = static_cast<std::uint16_t>(flags & ~row.flag);
  }
  for (unsigned bit = 1; bit <= 0x8000 && flags != 0; bit <<= 1) {
    if ((flags & bit) == 0) continue;
    std::string unknown = "0x0000";
    for (std::size_t digit = 0; digit < 4; ++digit) unknown[5 - digit] = "0123456789abcdef"[bit >> (4 * digit) & 0xF];
    add(unknown);
    flags = static_cast<std::uint16_t>(flags & ~bit);
  }
  return words;
}

}  // namespace sonde::classfile
