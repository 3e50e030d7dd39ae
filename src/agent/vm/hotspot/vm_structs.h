// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. The tables in which HotSpot describes its own data structures (vmStructs.hpp), exported by libjvm
// for the serviceability agent. Whatever is not in them is unknown: there are no guesses here.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sonde::agent::hotspot {

class VmStructs {
 public:
  // Reads the tables of the libjvm in this process; all empty if there are none.
  static VmStructs load();
  // Only what is said of these types, while the JVM boots and time counts.
  using Types = std::initializer_list<std::string_view>;
  static VmStructs load_types_of(Types types);

  // Begin and end of the library that the tables are in, as it lies in memory; 0, 0 if there is none.
  static std::pair<std::uint64_t, std::uint64_t> image();

  // Offset of a field; nothing if the JVM has no such field.
  [[nodiscard]] std::optional<std::uint64_t> offset(std::string_view type, std::string_view field) const;
  // Address of a static field.
  [[nodiscard]] std::optional<std::uint64_t> address(std::string_view type, std::string_view field) const;
  // Name of a field's type, "" if there is no such field.
  [[nodiscard]] std::string field_type(std::string_view type, std::string_view field) const;
  [[nodiscard]] std::optional<std::uint64_t> size(std::string_view type) const;
  [[nodiscard]] std::optional<std::int64_t> constant(std::string_view name) const;
  // A flag of the JVM (-XX:Name=...).
  struct Flag {
    void* value;      // of the type that it has; null if the JVM has no such flag
    bool is_default;  // nobody set it
  };
  [[nodiscard]] Flag flag(std::string_view name) const;

 private:
  struct Field {
    std::string type;
    bool is_static;
    std::uint64_t place;  // offset or address
  };
  // Of all types, or of some.
  void load_fields(Types only = {});
  void load_types(Types only = {});
  void load_constants();

  std::unordered_map<std::string, Field> fields_;  // "JavaThread::_anchor"
  std::unordered_map<std::string, std::uint64_t> sizes_;
  std::unordered_map<std::string, std::int64_t> constants_;
};

}  // namespace sonde::agent::hotspot
