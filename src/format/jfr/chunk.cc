// SPDX-License-Identifier: Apache-2.0
#include "format/jfr/chunk.h"

#include <algorithm>

namespace sonde::format::jfr {
namespace {

constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;
constexpr std::uint8_t kFinished = 0;
constexpr std::uint8_t kCompressedNumbers = 1;
constexpr std::uint8_t kFinalChunk = 2;

}  // namespace

std::uint64_t Chunk::text_constant(TypeId type, std::string_view text) {
  Encoder value;
  value.text(text);
  return pool(type).add(value.bytes());
}

std::size_t Chunk::size() const {
  std::size_t size = events_.size();
  for (const Pool& pool : pools_) size += pool.bytes().size();
  return size;
}

std::string Chunk::checkpoint_body(std::uint64_t ticks) const {
  Encoder body;
  body.number(static_cast<std::uint64_t>(TypeId::kCheckpoint));
  body.number(ticks);
  body.number(0);  // duration
  body.number(0);  // no checkpoint before this one
  body.u1(0);      // of the usual kind
  body.number(static_cast<std::uint64_t>(std::ranges::count_if(pools_, [](const Pool& p) { return p.count() != 0; })));
  for (std::size_t type = 0; type < pools_.size(); ++type) {
    if (pools_[type].count() == 0) continue;
    body.number(type);
    body.number(pools_[type].count());
    body.raw(pools_[type].bytes());
  }
  return std::string(body.bytes());
}

std::string Chunk::finish(std::uint64_t recording_start, std::uint64_t start, std::uint64_t end,
                          std::span<const std::string_view> value_names, Place place) const {
  Encoder rest;
  rest.event(metadata_body(start, value_names));
  const std::size_t checkpoint_at = kHeaderSize + events_.size() + rest.size();
  rest.event(checkpoint_body(start));

  Encoder chunk;
  chunk.raw(kMagic);
  chunk.big_endian(kMajor, 2);
  chunk.big_endian(kMinor, 2);
  chunk.big_endian(kHeaderSize + events_.size() + rest.size(), 8);
  chunk.big_endian(checkpoint_at, 8);
  chunk.big_endian(kHeaderSize + events_.size(), 8);  // metadata
  chunk.big_endian(recording_start + start, 8);
  chunk.big_endian(end - start, 8);
  chunk.big_endian(start, 8);
  chunk.big_endian(kTicksPerSecond, 8);
  chunk.u1(kFinished);
  chunk.big_endian(0, 2);
  chunk.u1(place == Place::kLast ? kCompressedNumbers | kFinalChunk : kCompressedNumbers);
  chunk.raw(events_.bytes());
  chunk.raw(rest.bytes());
  return std::string(chunk.bytes());
}

}  // namespace sonde::format::jfr
