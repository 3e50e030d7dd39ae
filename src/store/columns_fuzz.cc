// SPDX-License-Identifier: Apache-2.0
// Any bytes as a column of a call tree; the first two say how many numbers are wanted.
#include <cstddef>
#include <cstdint>

#include "store/columns.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  sonde::store::ColumnDecoder decoder;
  const std::size_t count = data[0] | std::size_t{data[1]} << 8;
  const auto values = decoder.decode({data + 2, size - 2}, count);
  SONDE_CHECK(!values.ok() || values->size() == count);
  return 0;
}
