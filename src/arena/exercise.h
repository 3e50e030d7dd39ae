// SPDX-License-Identifier: Apache-2.0
// Reads an arena to its end; what the fuzzer and the tests of damage run on any bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "arena/reader.h"

namespace sonde::arena {

struct Exercised {
  bool is_open = false;
  std::uint64_t contexts = 0;
  std::uint64_t damage = 0;
};

inline Exercised exercise(Bytes bytes) {
  std::vector<std::uint64_t> aligned((bytes.size() + 7) / 8);
  if (!bytes.empty()) std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const auto reader = Reader::over({reinterpret_cast<const std::uint8_t*>(aligned.data()), bytes.size()});
  if (!reader.ok()) return {};
  Exercised result = {.is_open = true, .damage = reader->damage().count()};
  std::uint64_t length = 0;  // of all texts, so that all their bytes are read
  for (const ClassEntry& cls : reader->classes())
    length += std::string(cls.name).size() + std::string(cls.source_file).size();
  for (const ThreadEntry& thread : reader->threads()) length += std::string(thread.name).size();
  for (const MethodEntry& method : reader->methods()) {
    length += std::string(method.name).size() + std::string(method.descriptor).size() + method.site(1).line;
  }
  for (const TreeEntry& tree : reader->trees()) {
    Damage damage;
    (void)reader->walk(
        tree, [&](const Context& context) { result.contexts += context.depth != 0 ? 1 : 0; }, damage);
    result.damage += damage.count();
  }
  result.damage += length == ~std::uint64_t{0} ? 1 : 0;
  return result;
}

}  // namespace sonde::arena
