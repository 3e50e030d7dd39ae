// SPDX-License-Identifier: Apache-2.0
// The call tree in a recording file: depth, method and line of each context in one table, what was measured in another,
// a row per column and part. A new metric needs nothing here.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "profile/profile.h"

namespace sonde::store {

class Database;

Result<void> write_tree(Database& db, const profile::CallTree& tree);
// Once methods and threads were read. `nodes` is how many contexts the file says it has, `version` that of its format.
Result<void> read_tree(Database& db, profile::Profile& profile, std::uint64_t nodes, std::uint64_t version);

}  // namespace sonde::store
