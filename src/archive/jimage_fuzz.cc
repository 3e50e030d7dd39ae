// SPDX-License-Identifier: Apache-2.0
// Any bytes as a jimage. Seeds: test/fuzz/corpus/jimage_fuzz.
#include <cstddef>
#include <cstdint>

#include "archive/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sonde::archive::exercise_jimage({data, size});
  return 0;
}
