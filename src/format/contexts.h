// SPDX-License-Identifier: Apache-2.0
// The contexts of some threads as one tree, in preorder, callees in the order of their names (then lines): the order in
// which formats write, so that equal profiles give equal files. profile::merge visits such a tree with the metrics of a
// report; here it is a table with all metrics, and call sites may stay apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profile/merge.h"
#include "profile/metric.h"

namespace sonde::format {

// The methods of a profile in the order of their full names.
class MethodOrder {
 public:
  explicit MethodOrder(const profile::Profile& profile);

  [[nodiscard]] std::uint32_t place_of(profile::MethodId method) const { return labels_.label_of(method); }
  [[nodiscard]] profile::MethodId method(std::uint32_t place) const { return methods_[place]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(methods_.size()); }

 private:
  profile::Labels labels_;
  std::vector<profile::MethodId> methods_;  // by place
};

enum class CallSites : std::uint8_t {
  kMerge,  // callees of one caller with the same method are one context
  kKeep,   // if their calls are on different lines, they are several
};

struct Contexts {
  std::vector<std::uint32_t> depth;  // 0 for the outermost frame
  std::vector<profile::MethodId> method;
  std::vector<std::uint16_t> line;                 // of the call, in the caller; 0 if unknown or merged
  std::vector<std::vector<std::uint64_t>> values;  // by value type, then by context: self values

  [[nodiscard]] std::size_t size() const { return depth.size(); }
  [[nodiscard]] bool is_zero(std::size_t context) const {
    for (const auto& column : values) {
      if (column[context] != 0) return false;
    }
    return true;
  }
};

Contexts contexts_of(const profile::Profile& profile, const MethodOrder& order,
                     std::span<const profile::Thread* const> threads, std::span<const profile::MetricInfo> types,
                     CallSites call_sites);

}  // namespace sonde::format
