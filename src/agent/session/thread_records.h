// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What a recording says of threads, and which of them may share a call tree or a block of counters,
// one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "arena/writer.h"

namespace sonde::agent {

// So many threads of one kind have a tree or block of their own, under their own name.
inline constexpr std::size_t kThreadsOfAKind = 256;

// "pool-3-thread-17" and "pool-3-thread-18" are of one kind, and so are virtual threads without names.
std::string kind_of_thread(std::string_view name, bool is_virtual);

// Writes that a thread uses a tree (or block) from now on.
void record_thread(arena::Writer& arena, std::uint32_t tree_id, std::string_view name, bool is_virtual);

}  // namespace sonde::agent
