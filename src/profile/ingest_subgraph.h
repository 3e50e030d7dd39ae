// SPDX-License-Identifier: Apache-2.0
// From the trees of a call subgraph to nodes of a profile; a part of ingest.cc.
#pragma once

#include <functional>
#include <unordered_map>

#include "arena/reader.h"
#include "profile/profile.h"

namespace sonde::profile {

Subgraph subgraph_of(const arena::Summary& summary);

// What the instrumentation itself took is off the times (papers/003, section 5.3). `threads` are by tree.
void add_subgraph(const arena::Reader& reader, Profile& profile, arena::Damage& damage,
                  std::unordered_map<std::uint32_t, Thread>& threads,
                  const std::function<MethodId(const arena::SubgraphContext&)>& method_of);

}  // namespace sonde::profile
