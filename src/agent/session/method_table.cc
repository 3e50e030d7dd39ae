// SPDX-License-Identifier: Apache-2.0
#include "agent/session/method_table.h"

#include <sys/mman.h>

#include <algorithm>

namespace sonde::agent {

Result<void> MethodTable::map() {
  void* memory = mmap(nullptr, kMethods * sizeof(std::uint32_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return Error{ErrorCode::kIo, "no address space for the table of methods"};
  words_ = static_cast<std::uint32_t*>(memory);
  return {};
}

void MethodTable::unmap() {
  if (words_ != nullptr) munmap(words_, kMethods * sizeof(std::uint32_t));
  words_ = nullptr;
}

void MethodTable::forget(std::uint32_t largest) {
  const std::size_t size = (std::size_t{std::min(largest, kMethods - 1)} + 1) * sizeof(std::uint32_t);
  madvise(words_, size, MADV_DONTNEED);
}

}  // namespace sonde::agent
