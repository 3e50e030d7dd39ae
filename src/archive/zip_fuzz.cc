// SPDX-License-Identifier: Apache-2.0
// Any bytes as a zip archive. Seeds: test/fuzz/corpus/zip_fuzz.
#include <cstddef>
#include <cstdint>

#include "archive/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sonde::archive::exercise_zip({data, size});
  return 0;
}
