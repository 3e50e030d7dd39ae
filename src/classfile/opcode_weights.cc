// SPDX-License-Identifier: Apache-2.0
#include "classfile/opcode_weights.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

namespace sonde::classfile {
namespace {

using Group = OpcodeGroup;

constexpr std::string_view kFirstLine = "sonde-weights 1";

// Opcodes up to and including `last` that are above the row before (JVMS 6.5, in numeric order).
struct Row {
  Opcode last;
  Group group;
};
constexpr Row kRows[] = {
    {Opcode::ldc2_w, Group::kConstant},
    {Opcode::aload_3, Group::kLoad},
    {Opcode::saload, Group::kArrayLoad},
    {Opcode::astore_3, Group::kStore},
    {Opcode::sastore, Group::kArrayStore},
    {Opcode::swap, Group::kStack},
    {Opcode::iadd, Group::kIntMath},
    {Opcode::ladd, Group::kLongMath},
    {Opcode::dadd, Group::kFloatMath},
    {Opcode::isub, Group::kIntMath},
    {Opcode::lsub, Group::kLongMath},
    {Opcode::dsub, Group::kFloatMath},
    {Opcode::imul, Group::kIntMath},
    {Opcode::lmul, Group::kLongMath},
    {Opcode::dmul, Group::kFloatMath},
    {Opcode::ldiv, Group::kDivide},
    {Opcode::ddiv, Group::kFloatDivide},
    {Opcode::lrem, Group::kDivide},
    {Opcode::drem, Group::kFloatDivide},
    {Opcode::ineg, Group::kIntMath},
    {Opcode::lneg, Group::kLongMath},
    {Opcode::dneg, Group::kFloatMath},
    {Opcode::ishl, Group::kIntMath},
    {Opcode::lshl, Group::kLongMath},
    {Opcode::ishr, Group::kIntMath},
    {Opcode::lshr, Group::kLongMath},
    {Opcode::iushr, Group::kIntMath},
    {Opcode::lushr, Group::kLongMath},
    {Opcode::iand, Group::kIntMath},
    {Opcode::land, Group::kLongMath},
    {Opcode::ior, Group::kIntMath},
    {Opcode::lor, Group::kLongMath},
    {Opcode::ixor, Group::kIntMath},
    {Opcode::lxor, Group::kLongMath},
    {Opcode::iinc, Group::kIntMath},
    {Opcode::i2s, Group::kConvert},
    {Opcode::dcmpg, Group::kCompare},
    {Opcode::ret, Group::kBranch},
    {Opcode::lookupswitch, Group::kSwitch},
    {Opcode::return_, Group::kReturn},
    {Opcode::putstatic, Group::kStatic},
    {Opcode::putfield, Group::kField},
    {Opcode::invokestatic, Group::kInvoke},
    {Opcode::invokeinterface, Group::kInvokeInterface},
    {Opcode::invokedynamic, Group::kInvokeDynamic},
    {Opcode::new_, Group::kNew},
    {Opcode::anewarray, Group::kNewArray},
    {Opcode::arraylength, Group::kField},
    {Opcode::athrow, Group::kThrow},
    {Opcode:: instanceof, Group::kTypeCheck},
    {Opcode::monitorexit, Group::kMonitor},
    {Opcode::wide, Group::kConstant},  // belongs to the instruction it widens
    {Opcode::multianewarray, Group::kNewArray},
    {Opcode::jsr_w, Group::kBranch},
};

Error malformed(std::string message, std::size_t line) {
  return {ErrorCode::kMalformed, std::move(message), {.path = "line " + std::to_string(line), .byte_offset = {}}};
}

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// What a file says, before it is known to be complete.
struct Entries {
  std::unordered_map<std::string_view, std::uint32_t> weights;  // of groups and opcodes, by name
  std::optional<std::uint32_t> scale;
  std::optional<std::string_view> name;
};

bool is_name(std::string_view word) {
  const auto is_opcode = [&](const OpcodeInfo& info) { return info.mnemonic == word; };
  return word == "default" || std::ranges::find(kOpcodeGroupNames, word) != kOpcodeGroupNames.end() ||
         std::ranges::any_of(kOpcodes, is_opcode);
}

Result<void> add(Entries& entries, std::string_view key, std::string_view value, std::size_t line) {
  const std::string shown(key);
  if (key == "name") {
    if (entries.name) return malformed("`name` was there before", line);
    entries.name = value;
    return {};
  }
  if (key == "unit") return {};  // for people
  if (key == "scale") {
    if (entries.scale) return malformed("`scale` was there before", line);
    entries.scale = number(value, OpcodeWeights::kMostScale);
    if (!entries.scale || *entries.scale == 0) return malformed("`scale` is a number from 1 to 1000", line);
    return {};
  }
  if (!is_name(key)) return malformed("`" + shown + "` is no opcode, no group of opcodes and no setting", line);
  const auto weight = number(value, OpcodeWeights::kMost);
  if (!weight) return malformed("the weight of `" + shown + "` is no whole number from 0 to 10000", line);
  if (!entries.weights.emplace(key, *weight).second) return malformed("`" + shown + "` was there before", line);
  return {};
}

Result<Entries> read_lines(std::string_view text) {
  Entries entries;
  bool has_first = false;
  std::size_t line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    ++line_number;
    if (line.empty() || line.front() == '#') continue;
    if (!has_first && line != kFirstLine)
      return malformed("a file of weights begins with `" + std::string(kFirstLine) + "`", line_number);
    if (!has_first) {
      has_first = true;
      continue;
    }
    const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
    TRY(add(entries, line.substr(0, space), trimmed(line.substr(space)), line_number));
  }
  if (!has_first) return malformed("a file of weights begins with `" + std::string(kFirstLine) + "`", 1);
  return entries;
}

}  // namespace

OpcodeGroup group_of(Opcode opcode) {
  const auto row = std::ranges::find_if(kRows, [&](const Row& r) { return opcode <= r.last; });
  return row == std::end(kRows) ? Group::kBranch : row->group;
}

Result<OpcodeWeights> OpcodeWeights::parse(std::string_view text) {
  const Entries entries = TRY(read_lines(text));
  OpcodeWeights result;
  result.scale_ = entries.scale.value_or(1);
  result.name_ = entries.name.value_or("");
  const auto find = [&](std::string_view key, std::uint32_t otherwise) {
    const auto found = entries.weights.find(key);
    return found == entries.weights.end() ? otherwise : found->second;
  };
  const std::uint32_t by_default = find("default", result.scale_);
  for (int value = 0; value < kOpcodeCount; ++value) {
    const auto opcode = static_cast<Opcode>(value);
    const std::string_view group = kOpcodeGroupNames[static_cast<std::size_t>(group_of(opcode))];
    result.weights_[static_cast<std::size_t>(value)] = find(info_of(opcode).mnemonic, find(group, by_default));
  }
  return result;
}

}  // namespace sonde::classfile
