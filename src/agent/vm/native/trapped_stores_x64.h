// SPDX-License-Identifier: Apache-2.0
// Stores that are calls, though whoever compiled them does not know: a store into a range that nobody may write to ends
// in our handler of SIGSEGV, which sends the thread to a function of ours and from there to the instruction behind the
// store. No register changes, no memory but what that function writes. So a compiler has nothing to save for it, nor to
// forget (docs/design/0005). A signal takes some 1.6 us: it has to be rare.
//
// The function runs on the thread's own stack and is not called by a handler, so it may take locks and memory, unless
// whoever stores may hold them. Faults elsewhere go to the handler that was there before.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace sonde::agent {

struct TrappedStore {
  std::uint64_t address;  // that was stored to
  std::uint64_t pc;       // of the instruction behind the store
  std::uint64_t sp;       // before and after it
};

// Reserves a range of this size and calls `on_store` for stores into it, from now on and for good: there is one such
// range in a process. Returns where it begins.
Result<std::uint64_t> trap_stores(std::uint64_t size, void (*on_store)(const TrappedStore&));

}  // namespace sonde::agent
