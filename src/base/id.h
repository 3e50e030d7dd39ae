// SPDX-License-Identifier: Apache-2.0
// Distinct types for numbers that must not be mixed up: an index into one table is not an index into another.
//   struct MethodTag; using MethodId = Id<MethodTag, std::uint32_t>;
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace sonde {

template <typename Tag, typename Rep>
class Id {
 public:
  using rep = Rep;

  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  Rep value_{};
};

}  // namespace sonde

template <typename Tag, typename Rep>
struct std::hash<sonde::Id<Tag, Rep>> {
  std::size_t operator()(sonde::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
