// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Reads memory of this process that may not be there any more: a class may be unloaded while its
// method is looked up. A failed read is an answer and not a fault.
#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

bool read_memory(std::uint64_t address, void* out, std::size_t size);

template <typename T>
std::optional<T> read_value(std::uint64_t address) {
  T value;
  if (!read_memory(address, &value, sizeof value)) return std::nullopt;
  return value;
}

// Several pieces of memory at once, all of them or none.
class MemoryPieces {
 public:
  void add(std::uint64_t address, void* out, std::size_t size) SIGNAL_SAFE {
    local_[count_] = {.iov_base = out, .iov_len = size};
    remote_[count_] = {.iov_base = reinterpret_cast<void*>(address), .iov_len = size};
    ++count_;
    whole_ += size;
  }
  template <typename T>
  void add(std::uint64_t address, T& out) SIGNAL_SAFE {
    add(address, &out, sizeof out);
  }
  [[nodiscard]] bool read(pid_t self) const SIGNAL_SAFE {
    return syscall(SYS_process_vm_readv, self, local_, count_, remote_, count_, 0) == static_cast<long>(whole_);
  }

 private:
  static constexpr std::size_t kMax = 6;
  iovec local_[kMax] = {};
  iovec remote_[kMax] = {};
  std::size_t count_ = 0;
  std::size_t whole_ = 0;
};

}  // namespace sonde::agent::hotspot
