// SPDX-License-Identifier: Apache-2.0
#include "agent/session/nowhere.h"

#include <sys/mman.h>

namespace sonde::agent {

namespace {

bool map_at(std::uint64_t address) {
  void* wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): an agreed address
  void* got = mmap(wanted, kNowhereSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != MAP_FAILED && got != wanted) munmap(got, kNowhereSize);  // a kernel that does not know the flag
  return got == wanted;
}

}  // namespace

Result<void> map_nowhere() {
  if (map_at(kBias)) return {};
  return Error{ErrorCode::kIo, "the 4 MiB at address 0x70000000 are taken in this process"};
}

Result<std::uint64_t> map_nowhere_somewhere() {
  // A displacement in compiled code has 31 bits.
  static std::uint64_t found = 0;
  for (std::uint64_t address = kBias; found == 0 && address >= kBiasStep; address -= kBiasStep) {
    if (map_at(address)) found = address;
  }
  if (found != 0) return found;
  return Error{ErrorCode::kIo, "no 4 MiB below 2 GiB of address space are free in this process"};
}

}  // namespace sonde::agent
