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
  // Where samples of the method of site `first` are counted, called from these sites, the outermost first. `hash`
  // stands for all of them.
  std::uint64_t& samples_of(std::span<const std::uint32_t> callers, std::uint32_t first, std::uint64_t hash);

 private:
  std::uint64_t& find(std::span<const std::uint32_t> callers, std::uint32_t first);

  const arena::Writer& arena_;
  arena::TreeHeader& tree_;
  const SiteTable& sites_;
  ExtraIndex extras_;
  TreeWriter writer_;
  std::unordered_map<std::uint64_t, std::uint64_t*> known_;
};

}  // namespace sonde::agent
