// SPDX-License-Identifier: Apache-2.0
// 64 bits for any bytes, some gigabytes per second. Told apart is what differs by accident; who tries can make two
// texts with the same hash.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/mix.h"

namespace sonde::agent {

inline std::uint64_t hash_bytes(Bytes bytes, std::uint64_t seed = 0) {
  constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15ULL;
  constexpr std::uint64_t kSecond = 0xd6e8feb86659fd93ULL;
  const auto word = [](const std::uint8_t* p, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, p, size);
    return value;
  };
  const auto folded = [](std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t hash = mixed(seed ^ bytes.size() ^ kFirst);
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 16; left -= 16, at += 16) hash = folded(hash ^ word(at, 8) ^ kFirst, hash ^ word(at + 8, 8) ^ kSecond);
  if (left > 8) {
    hash = folded(hash ^ word(at, 8) ^ kFirst, hash ^ word(at + 8, left - 8) ^ kSecond);
  } else if (left != 0) {
    hash = folded(hash ^ word(at, left) ^ kFirst, hash ^ kSecond);
  }
  return mixed(hash);
}

}  // namespace sonde::agent
