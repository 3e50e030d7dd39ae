// SPDX-License-Identifier: Apache-2.0
// Any bytes as an arena. Seeds: test/fuzz/corpus/reader_fuzz.
#include <cstddef>
#include <cstdint>

#include "arena/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sonde::arena::exercise({data, size});
  return 0;
}
