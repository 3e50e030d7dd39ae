// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. The tables in which HotSpot describes its own data structures (vmStructs.hpp), exported by libjvm
// for the serviceability agent. Whatever is not in them is unknown: there are no guesses here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sonde::agent::hotspot {

class VmStructs {
 public:
  // Reads the tables of the libjvm in this process; all empty if there are none.
  static VmStructs load();
  // Only what is said of this type, while the JVM boots and time counts.
  static VmStructs load_type(std::string_view type);

  // Offset of a field; nothing if the JVM has no such field.
  [[nodiscard]] std::optional<std::uint64_t> offset(std::string_view type, std::string_view field) const;
  // Address of a static field.
  [[nodiscard]] std::optional<std::uint64_t> address(std::string_view type, std::string_view field) const;
  // Name of a field's type, "" if there is no such field.
  [[nodiscard]] std::string field_type(std::string_view type, std::string_view field) const;
  [[nodiscard]] std::optional<std::uint64_t> size(std::string_view type) const;
  [[nodiscard]] std::optional<std::int64_t> constant(std::string_view name) const;
  // Where the JVM keeps the value of a flag (-XX:Name=...), which must be one of 64 bits; null if it has no such flag.
  [[nodiscard]] std::int64_t* flag(std::string_view name) const;

 private:
  struct Field {
    std::string type;
    bool is_static;
    std::uint64_t place;  // offset or address
  };
  // Of all types, or of one.
  void load_fields(std::string_view only = "");
  void load_types(std::string_view only = "");
  void load_constants();

  std::unordered_map<std::string, Field> fields_;  // "JavaThread::_anchor"
  std::unordered_map<std::string, std::uint64_t> sizes_;
  std::unordered_map<std::string, std::int64_t> constants_;
};

}  // namespace sonde::agent::hotspot
