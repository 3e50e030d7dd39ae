// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. The writing side of an arena: makes the file, maps it, hands out chunks, appends records.
// Chunks of call trees are filled by Java threads (SondeRT) without any help from here.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "arena/layout.h"
#include "base/bytes.h"
#include "base/counters.h"
#include "base/result.h"

namespace sonde::arena {

class Writer {
 public:
  struct Options {
    std::uint64_t capacity;        // how far the file may grow
    std::uint64_t address_bias;    // addresses in the arena are real addresses minus this
    std::uint32_t flags;           // HeaderFlags; kFlat: with a flat region
    bool has_flat_region = false;  // even if kFlat is set later or never
  };

  Writer() = default;
  // Unmaps the arena; whoever writes into it must be gone. The file stays.
  ~Writer();
  // For those who may not be gone: what was handed out is private memory from now on, at the same addresses and for
  // good. The file stays as it is.
  void leave_memory();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Creates the file, which must not exist yet, readable by its owner only. After an error there is no file.
  Result<void> create(const char* path, const Options& options);

  [[nodiscard]] ArenaHeader& header() { return *reinterpret_cast<ArenaHeader*>(memory_); }
  // A real address as it is stored in the arena.
  [[nodiscard]] std::uint64_t address(const void* p) const { return reinterpret_cast<std::uint64_t>(p) - bias_; }
  [[nodiscard]] void* pointer(std::uint64_t address) const { return reinterpret_cast<void*>(address + bias_); }

  // A zeroed chunk of at least this size with its header filled; null if the arena or the disk is full.
  ChunkHeader* new_chunk(ChunkKind kind, std::uint32_t tree, std::uint64_t size);

  // Whether new_chunk would find this much, and the disk had it.
  [[nodiscard]] bool has_room(std::uint64_t size);

  // Makes sure that the counters of all methods up to this id have disk space in this many blocks of the flat region.
  bool reserve_flat(std::uint32_t last_method_id, std::uint64_t blocks);
  [[nodiscard]] std::uint8_t* flat_region() { return memory_ + header().flat_offset; }

  // Maps some pages of the arena a second time at an address, in place of what is there.
  bool map_again(const void* pages, std::uint64_t size, void* at);

  // Copies a complete record (RecordHeader first) into the current chunk of records. False if there is no room.
  bool append(Bytes record);

  void count(Counter counter, std::uint64_t by = 1) {
    header().counters[info_of(counter).id].fetch_add(by, std::memory_order_relaxed);
  }

 private:
  Result<void> map(const char* path, const Options& options);
  bool reserve(std::uint64_t end);
  bool reserve_flat_pages(std::uint64_t plane, std::uint64_t first_block, std::uint64_t end_block);

  std::uint8_t* memory_ = nullptr;
  std::uint64_t mapped_ = 0;
  std::uint64_t bias_ = 0;
  int file_ = -1;
  std::mutex mutex_;  // guards what follows and the header's `next` and `reserved`
  ChunkHeader* records_ = nullptr;
  std::uint64_t flat_planes_ = 0;  // planes x blocks of the flat region have disk space
  std::uint64_t flat_blocks_ = 0;
};

}  // namespace sonde::arena
