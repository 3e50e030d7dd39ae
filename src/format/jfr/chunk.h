// SPDX-License-Identifier: Apache-2.0
// One chunk of a recording: events, the constants they refer to, metadata. A chunk knows its size in its first bytes,
// so it is built in memory; a recording is as many chunks as needed, one behind the other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/jfr/types.h"

namespace sonde::format::jfr {

// The constants of one type: equal ones are written once. Numbers start at 1; 0 is null.
class Pool {
 public:
  std::uint64_t add(std::string_view value) {
    const auto [it, is_new] = numbers_.try_emplace(std::string(value), count_ + 1);
    if (is_new) append(value);
    return it->second;
  }
  // For what is known to be new.
  std::uint64_t append(std::string_view value) {
    bytes_.number(++count_);
    bytes_.raw(value);
    return count_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_.bytes(); }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  Encoder bytes_;
  std::uint64_t count_ = 0;
};

enum class Place : std::uint8_t { kLast, kFurtherFollow };

class Chunk {
 public:
  Pool& pool(TypeId type) { return pools_[static_cast<std::size_t>(type)]; }
  void event(const Encoder& body) { events_.event(body.bytes()); }

  std::uint64_t text_constant(TypeId type, std::string_view text);

  [[nodiscard]] bool is_empty() const { return events_.size() == 0; }
  // Of what it takes so far.
  [[nodiscard]] std::size_t size() const;

  // Times in nanoseconds, `start` since the recording began; a tick is a nanosecond.
  [[nodiscard]] std::string finish(std::uint64_t recording_start, std::uint64_t start, std::uint64_t end,
                                   std::span<const std::string_view> value_names, Place place) const;

 private:
  [[nodiscard]] std::string checkpoint_body(std::uint64_t ticks) const;

  Encoder events_;
  std::array<Pool, 128> pools_;
};

}  // namespace sonde::format::jfr
