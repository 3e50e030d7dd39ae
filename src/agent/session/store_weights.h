// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What each bytecode counts, for the reader of the recording.
#pragma once

#include <cstring>
#include <vector>

#include "agent/session/sampling_options.h"
#include "arena/writer.h"

namespace sonde::agent {

inline void store_weights(arena::Writer& arena, const SamplingOptions& sampling) {
  const std::string& text = sampling.weights_text;
  const std::size_t size = (sizeof(arena::WeightsRecord) + text.size() + 7) / 8 * 8;
  const arena::WeightsRecord record = {
      .header = {.kind = arena::RecordKind::kWeights, .reserved = 0, .size = static_cast<std::uint32_t>(size)},
      .length = static_cast<std::uint32_t>(text.size()),
      .reserved = 0};
  std::vector<std::uint8_t> bytes(size);
  std::memcpy(bytes.data(), &record, sizeof record);
  std::memcpy(bytes.data() + sizeof record, text.data(), text.size());
  arena.header().weight_scale = sampling.scale();
  if (!arena.append(bytes)) arena.count(Counter::kRecordsDropped);
}

}  // namespace sonde::agent
