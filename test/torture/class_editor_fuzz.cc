// SPDX-License-Identifier: Apache-2.0
// Parser, checker, printer and all torture passes on arbitrary bytes. Seeds: test/fuzz/corpus/class_editor_fuzz.
#include <cstdio>
#include <cstdlib>

#include "exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong = sonde::torture::exercise({data, size});
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
