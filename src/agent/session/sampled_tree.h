// SPDX-License-Identifier: Apache-2.0
// Context: [agent], the thread whose tree it is. Samples of contexts that are known by their call sites (site_table.h),
// as SondeSteps counts them: `bytecodes` of a node, or of a leaf's call site, are samples.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "agent/session/site_table.h"
#include "agent/session/tree_writer.h"

namespace sonde::agent {

class SampledTree {
 public:
  SampledTree(const arena::Writer& arena, arena::TreeHeader& tree, const SiteTable& sites, TreeWriter::Grow grow)
      : arena_(arena), tree_(tree), sites_(sites), writer_(arena, tree, extras_, std::move(grow)) {}

  // What the thread executed up to here, samples or not.
  void add_executed(std::uint64_t bytecodes) { writer_.root().bytecodes += bytecodes; }
  // Where samples of a context are counted that has this name already; null if none has. A context may have many.
  [[nodiscard]] std::uint64_t* find_known(std::uint64_t name) const {
    const auto known = known_.find(name);
    return known != known_.end() ? known->second : nullptr;
  }
  // The same of one that is new: the method of site `first`, called from these sites, the outermost first.
  std::uint64_t& add(std::uint64_t name, std::span<const std::uint32_t> callers, std::uint32_t first);
  // The same without a name.
  std::uint64_t& at(std::span<const std::uint32_t> callers, std::uint32_t first);
  // Calls use(name, samples) for all that are known.
  template <typename Use>
  void for_each_known(Use&& use) const {
    for (const auto& [name, samples] : known_) use(name, samples);
  }

 private:
  // Programs that make code as they run have any number; a name that is forgotten costs as much as a new one.
  static constexpr std::size_t kMostKnown = 1U << 18U;

  const arena::Writer& arena_;
  arena::TreeHeader& tree_;
  const SiteTable& sites_;
  ExtraIndex extras_;
  TreeWriter writer_;
  std::unordered_map<std::uint64_t, std::uint64_t*> known_;
};

}  // namespace sonde::agent
