// SPDX-License-Identifier: Apache-2.0
// The text form of weights, on arbitrary bytes: an error has a line, and what is accepted is within its bounds.
#include "base/result.h"
#include "classfile/opcode_weights.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde::classfile;
  const auto weights = OpcodeWeights::parse({reinterpret_cast<const char*>(data), size});
  if (!weights.ok()) {
    SONDE_CHECK(weights.error().where.path.starts_with("line "));
    return 0;
  }
  SONDE_CHECK(weights->scale() >= 1 && weights->scale() <= OpcodeWeights::kMostScale);
  for (int opcode = 0; opcode < kOpcodeCount; ++opcode)
    SONDE_CHECK(weights->of(static_cast<Opcode>(opcode)) <= OpcodeWeights::kMost);
  return 0;
}
