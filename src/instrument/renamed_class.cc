// SPDX-License-Identifier: Apache-2.0
#include "instrument/renamed_class.h"

#include <string>

namespace sonde::instrument {
namespace {

constexpr std::size_t kBeforePool = 8;  // magic and versions
constexpr std::uint8_t kUtf8 = 1;
constexpr std::uint8_t kLong = 5;

// What follows the tag, JVMS 4.4; 0 if there is no such tag.
std::size_t size_after(std::uint8_t tag) {
  switch (tag) {
    case 7:
    case 8:
    case 16:
    case 19:
    case 20: return 2;
    case 15: return 3;
    case 3:
    case 4:
    case 9:
    case 10:
    case 11:
    case 12:
    case 17:
    case 18: return 4;
    case 5:
    case 6: return 8;
    default: return 0;
  }
}

bool takes_two_places(std::uint8_t tag) { return tag == 5 || tag == 6; }

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string renamed(std::string text, std::span<const ClassRenaming> renamings) {
  for (const ClassRenaming& renaming : renamings) {
    if (text == renaming.from) return std::string(renaming.to);
    replace_all(text, "L" + std::string(renaming.from) + ";", "L" + std::string(renaming.to) + ";");
  }
  return text;
}

}  // namespace

Result<std::vector<std::uint8_t>> rename_classes(Bytes class_file, std::span<const ClassRenaming> renamings,
                                                 const ConstantShift& shift) {
  ByteReader in(class_file);
  ByteWriter out;
  out.bytes(in.bytes(kBeforePool));
  const std::uint16_t count = in.u2();
  out.u2(count);
  for (std::uint32_t i = 1; i < count && !in.overran(); ++i) {
    const std::uint8_t tag = in.u1();
    out.u1(tag);
    if (takes_two_places(tag)) ++i;
    if (tag == kLong) {
      const std::uint64_t value = in.u8();
      out.u8(value >= shift.begin && value < shift.end ? value + shift.by : value);
      continue;
    }
    if (tag != kUtf8) {
      const std::size_t size = size_after(tag);
      if (size == 0) return Error{ErrorCode::kMalformed, "unknown constant"};
      out.bytes(in.bytes(size));
      continue;
    }
    const Bytes text = in.bytes(in.u2());
    const std::string name = renamed({reinterpret_cast<const char*>(text.data()), text.size()}, renamings);
    out.u2(static_cast<std::uint16_t>(name.size()));
    out.text(name);
  }
  out.bytes(in.bytes(in.remaining()));
  TRY(in.check("class file"));
  const Bytes all = out.view();
  return std::vector<std::uint8_t>(all.begin(), all.end());
}

}  // namespace sonde::instrument
