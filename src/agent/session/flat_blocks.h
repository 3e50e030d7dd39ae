// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that starts, ends or loads a class. Mode exact:flat: blocks of counters for
// threads, and room in all of them for methods. A block belongs to one thread at a time; once many threads of one kind
// have ended, the next ones go on with their blocks.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arena/writer.h"

namespace sonde::agent {

class FlatBlocks {
 public:
  explicit FlatBlocks(arena::Writer& arena) : arena_(arena) {}

  // What SondeFlat adds to the address of a method's counters. 0 if there is no room: the thread is not counted.
  std::uint64_t lease(std::string_view thread_name, bool is_virtual);
  void release(std::uint64_t block_offset);

  // Before code that counts in this id's slot exists. False if there is no room: the method must not be counted.
  bool make_room_for(std::uint32_t method_id);

 private:
  struct Kind {
    std::size_t created = 0;
    std::vector<std::uint32_t> free;
  };

  std::uint32_t create(const std::string& kind);

  arena::Writer& arena_;
  std::mutex mutex_;  // guards what follows
  std::uint32_t last_method_ = 0;
  std::vector<std::string> kind_of_block_ = std::vector<std::string>(arena::kFirstFlatBlock);
  std::unordered_map<std::string, Kind> kinds_;
};

}  // namespace sonde::agent
