// SPDX-License-Identifier: Apache-2.0
// A weight for each opcode, so that counts of executed bytecodes can stand for something else than their number: time
// on a certain machine, above all (papers/000, section 10). Weights are whole numbers, `scale` of them are one
// bytecode's worth; so sums are the same everywhere. The text form is docs/reference/weights.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "classfile/opcode.h"

namespace sonde::classfile {

// Opcodes that cost about the same and are weighed together.
enum class OpcodeGroup : std::uint8_t {
  kConstant,
  kLoad,
  kStore,
  kStack,
  kArrayLoad,
  kArrayStore,
  kIntMath,
  kLongMath,
  kFloatMath,
  kDivide,
  kFloatDivide,
  kConvert,
  kCompare,
  kBranch,
  kSwitch,
  kReturn,
  kField,
  kStatic,
  kInvoke,
  kInvokeInterface,
  kInvokeDynamic,
  kNew,
  kNewArray,
  kTypeCheck,
  kMonitor,
  kThrow,
};
inline constexpr std::size_t kOpcodeGroups = 26;
inline constexpr std::array<std::string_view, kOpcodeGroups> kOpcodeGroupNames = {
    "constant",  "load",       "store",      "stack",        "array_load", "array_store",      "int_math",
    "long_math", "float_math", "divide",     "float_divide", "convert",    "compare",          "branch",
    "switch",    "return",     "field",      "static",       "invoke",     "invoke_interface", "invoke_dynamic",
    "new",       "new_array",  "type_check", "monitor",      "throw"};

OpcodeGroup group_of(Opcode opcode);

class OpcodeWeights {
 public:
  // Of one opcode. A method without loops executes each of its 65,535 bytes at most once: its sum fits an int.
  static constexpr std::uint32_t kMost = 10'000;
  static constexpr std::uint32_t kMostScale = 1'000;

  // Each bytecode counts as one.
  OpcodeWeights() { weights_.fill(1); }
  static Result<OpcodeWeights> parse(std::string_view text);

  [[nodiscard]] std::uint32_t of(Opcode opcode) const { return weights_[static_cast<std::uint8_t>(opcode)]; }
  [[nodiscard]] std::uint32_t scale() const { return scale_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::array<std::uint32_t, 256> weights_{};
  std::uint32_t scale_ = 1;
  std::string name_;
};

}  // namespace sonde::classfile
