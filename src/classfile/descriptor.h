// SPDX-License-Identifier: Apache-2.0
// Field and method descriptors (JVMS 4.3), read without allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::classfile {

// Takes the first type off a descriptor: "[[ILfoo;J" -> "[[I". Empty if there is no well-formed type.
std::string_view first_type(std::string_view descriptor);

// Slots a value of this type takes: 0 for V, 2 for J and D, else 1.
constexpr std::uint8_t slots_of(char type) { return type == 'V' ? 0 : (type == 'J' || type == 'D') ? 2 : 1; }

// "(ILjava/lang/String;)V", parameter by parameter.
class MethodDescriptor {
 public:
  static std::optional<MethodDescriptor> parse(std::string_view descriptor);

  [[nodiscard]] std::string_view parameters() const { return parameters_; }  // types one after the other
  [[nodiscard]] std::string_view return_type() const { return return_type_; }
  [[nodiscard]] std::uint32_t parameter_slots() const { return parameter_slots_; }  // without `this`
  [[nodiscard]] std::uint32_t return_slots() const { return slots_of(return_type_[0]); }

 private:
  std::string_view parameters_;
  std::string_view return_type_;
  std::uint32_t parameter_slots_ = 0;
};

bool is_field_descriptor(std::string_view descriptor);

}  // namespace sonde::classfile
