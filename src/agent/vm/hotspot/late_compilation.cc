// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/late_compilation.h"

#include <array>
#include <atomic>
#include <string_view>

#include "agent/vm/hotspot/vm_structs.h"

namespace sonde::agent::hotspot {
namespace {

constexpr std::array<std::string_view, 4> kThresholds = {"Tier3InvocationThreshold", "Tier3MinInvocationThreshold",
                                                         "Tier3CompileThreshold", "Tier3BackEdgeThreshold"};
constexpr std::int64_t kLargest = 1'000'000;  // somebody set it who wants something else
constexpr std::int64_t kLater = 1000;         // times as many calls

constinit std::atomic<bool> g_is_late{false};

}  // namespace

LateCompilation::LateCompilation() : is_first_(!g_is_late.exchange(true)) {
  if (!is_first_) return;
  const VmStructs structs = VmStructs::load_types_of({"JVMFlag"});
  for (const std::string_view name : kThresholds) {
    auto* const place = static_cast<std::int64_t*>(structs.flag(name).value);
    if (place == nullptr || *place <= 0 || *place > kLargest) continue;
    thresholds_.push_back({place, *place});
    __atomic_store_n(place, *place * kLater, __ATOMIC_RELAXED);
  }
}

LateCompilation::~LateCompilation() {
  for (const Threshold& threshold : thresholds_) __atomic_store_n(threshold.place, threshold.value, __ATOMIC_RELAXED);
  if (is_first_) g_is_late.store(false);
}

}  // namespace sonde::agent::hotspot
