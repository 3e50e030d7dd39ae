// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. A file with instrumented classes of the JDK, made by earlier recordings, so
// that they need not be rewritten each time a JVM starts. A class is found by a hash of its original bytes: one that
// another agent or a new JDK has changed is not in the file.
//
//   +------------+ 0
//   | FileHeader |  what made the file, and the numbers that its classes use
//   | IndexEntry |  of each class, by hash of its original bytes
//   | ...        |
//   +------------+
//   | class      |  records for the arena, instrumented bytes, name; padded to 8 bytes
//   | ...        |
//   +------------+ FileHeader::size
//
// Numbers of methods and classes are constants in the instrumented bytes, so they are the file's for good; recordings
// that use it number what else they meet from next_method and next_class on. Nothing in a file is believed: header and
// index have a checksum, each class has one, and what does not fit is as if it were not there. It is read, not mapped:
// a file that somebody cuts off is then a short read and no SIGBUS.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::agent {

struct CachedClass {
  std::string_view name;  // "java/lang/String"
  Bytes bytes;            // instrumented
  Bytes records;          // ClassRecord and MethodRecords; those of callees have no class id
};

// Header and index of such a file, and what follows from them.
class ClassCacheIndex {
 public:
  struct Entry {
    std::uint64_t original_hash;
    std::uint64_t offset;
    std::uint64_t checksum;  // of records, bytes and name
    std::uint32_t original_size;
    std::uint32_t records_size;
    std::uint32_t bytes_size;
    std::uint32_t name_size;

    [[nodiscard]] std::uint64_t size() const { return std::uint64_t{records_size} + bytes_size + name_size; }
  };

  ClassCacheIndex() = default;
  // `start` is the beginning of the file: kHeaderSize bytes say how long the index is (index_end), which must be there.
  static Result<ClassCacheIndex> parse(Bytes start, std::uint64_t file_size, std::uint64_t maker);
  static constexpr std::size_t kHeaderSize = 56;
  static constexpr std::uint32_t kMostClasses = 1 << 16;
  // 0 if this is no such file.
  static std::uint64_t index_end(Bytes header);

  [[nodiscard]] const Entry* find(Bytes original) const;
  // What is at the entry's offset, if it is what was written there.
  static std::optional<CachedClass> parse_class(const Entry& entry, Bytes content);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::uint32_t next_method() const { return next_method_; }
  [[nodiscard]] std::uint32_t next_class() const { return next_class_; }

 private:
  std::vector<Entry> entries_;
  std::uint32_t next_method_ = 0;
  std::uint32_t next_class_ = 0;
};

class ClassCache {
 public:
  // `maker` stands for everything but the original bytes that decides what a class becomes.
  explicit ClassCache(std::uint64_t maker) : maker_(maker) {}
  ~ClassCache();
  ClassCache(const ClassCache&) = delete;
  ClassCache& operator=(const ClassCache&) = delete;

  // The cache stays empty if the file is missing, damaged, of another maker, or could have been written by others.
  void open(const std::string& path);
  [[nodiscard]] const ClassCacheIndex& index() const { return index_; }

  // Once for each class: two classes with the same bytes are two classes. Valid until the next call.
  std::optional<CachedClass> take(Bytes original);

  // A class for the next file.
  void add(Bytes original, const CachedClass& made);
  // Whether there is so much new that a file is worth its while.
  [[nodiscard]] bool has_news() const;
  // All of the file that was opened, and what was added. Written under another name first.
  [[nodiscard]] bool write(const std::string& path, std::uint32_t next_method, std::uint32_t next_class);

 private:
  std::optional<CachedClass> read(const ClassCacheIndex::Entry& entry);
  static void append(const CachedClass& made, ClassCacheIndex::Entry& entry, ByteWriter& content);

  const std::uint64_t maker_;
  int file_ = -1;
  std::uint64_t file_size_ = 0;
  ClassCacheIndex index_;
  std::vector<bool> taken_;
  ByteWriter content_;                               // of the class taken last
  std::vector<ClassCacheIndex::Entry> new_entries_;  // offsets are in new_content_
  std::unordered_set<std::uint64_t> new_hashes_;
  ByteWriter new_content_;
};

}  // namespace sonde::agent
