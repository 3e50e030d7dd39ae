// SPDX-License-Identifier: Apache-2.0
#include "agent/session/nowhere.h"

#include <sys/mman.h>

namespace sonde::agent {

Result<void> map_nowhere() {
  void* wanted = reinterpret_cast<void*>(kBias);  // NOLINT(performance-no-int-to-ptr): an agreed address
  void* got = mmap(wanted, kNowhereSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return {};
  if (got != MAP_FAILED) munmap(got, kNowhereSize);
  return Error{ErrorCode::kIo, "the 4 MiB at address 0x70000000 are taken in this process"};
}

}  // namespace sonde::agent
