// SPDX-License-Identifier: Apache-2.0
#include "base/running_kernel.h"

#include <cstdio>

namespace sonde {

std::string running_kernel() {
  char id[64] = {};
  if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (std::fscanf(file, "%63s", id) != 1) id[0] = 0;
    std::fclose(file);
  }
  return std::string("[kernel ") + id + "]";
}

}  // namespace sonde
