// SPDX-License-Identifier: Apache-2.0
#include "agent/session/class_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "agent/session/hash_bytes.h"
#include "agent/session/method_table.h"
#include "arena/layout.h"

namespace sonde::agent {
namespace {

using Entry = ClassCacheIndex::Entry;

constexpr char kMagic[8] = {'S', 'O', 'N', 'D', 'E', 'C', 'L', 'S'};
constexpr std::uint32_t kVersion = 1;
// The JDK classes of a large program; more is of no use to the next one.
constexpr std::uint64_t kLargestFile = 48 << 20;
// A file is made again once it would grow by a tenth.
constexpr std::uint64_t kWorthwhileShare = 10;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t class_count;
  std::uint64_t maker;
  std::uint64_t size;  // of the file
  std::uint32_t next_method;
  std::uint32_t next_class;
  std::uint64_t reserved;
  std::uint64_t checksum;  // of the header up to here, and the index
};
static_assert(sizeof(FileHeader) == ClassCacheIndex::kHeaderSize && sizeof(Entry) == 40);

std::uint64_t padded(std::uint64_t size) { return (size + 7) / 8 * 8; }

std::uint64_t checksum_of(const FileHeader& header, Bytes index) {
  const Bytes start(reinterpret_cast<const std::uint8_t*>(&header), offsetof(FileHeader, checksum));
  return hash_bytes(index, hash_bytes(start));
}

Error malformed(const char* what) { return {ErrorCode::kMalformed, what}; }

bool has_sensible_number(Bytes record) {
  arena::MethodRecord method;
  std::memcpy(&method, record.data(), sizeof method);
  return method.method_id % 2 == 0 && method.method_id < MethodTable::kMethods;
}

// Complete, and of the kinds that a class has.
bool are_records(Bytes records) {
  while (!records.empty()) {
    arena::RecordHeader header;
    if (records.size() < sizeof header) return false;
    std::memcpy(&header, records.data(), sizeof header);
    const std::size_t least = header.kind == arena::RecordKind::kClass    ? sizeof(arena::ClassRecord)
                              : header.kind == arena::RecordKind::kMethod ? sizeof(arena::MethodRecord)
                                                                          : records.size() + 1;
    if (header.size < least || header.size > records.size() || header.size % 8 != 0) return false;
    if (header.kind == arena::RecordKind::kMethod && !has_sensible_number(records)) return false;
    records = records.subspan(header.size);
  }
  return true;
}

bool read_at(int file, std::uint64_t offset, std::uint8_t* to, std::size_t size) {
  return pread(file, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

bool write_all(int file, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::uint64_t ClassCacheIndex::index_end(Bytes header) {
  FileHeader h;
  if (header.size() < sizeof h) return 0;
  std::memcpy(&h, header.data(), sizeof h);
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0 || h.version != kVersion || h.class_count > kMostClasses)
    return 0;
  return sizeof h + std::uint64_t{h.class_count} * sizeof(Entry);
}

Result<ClassCacheIndex> ClassCacheIndex::parse(Bytes start, std::uint64_t file_size, std::uint64_t maker) {
  const std::uint64_t end = index_end(start);
  if (end == 0) return malformed("is no cache of classes");
  if (end > start.size()) return Error{ErrorCode::kTruncated, "ends before its index"};
  FileHeader h;
  std::memcpy(&h, start.data(), sizeof h);
  const Bytes index = start.subspan(sizeof h, end - sizeof h);
  if (h.checksum != checksum_of(h, index)) return malformed("was damaged");
  if (h.maker != maker) return Error{ErrorCode::kUnsupported, "is of another Sonde or another JDK"};
  if (h.size != file_size) return Error{ErrorCode::kTruncated, "is not as long as it was"};
  ClassCacheIndex result;
  result.entries_.resize(h.class_count);
  if (!index.empty()) std::memcpy(result.entries_.data(), index.data(), index.size());
  const auto is_inside = [&](const Entry& e) {
    return e.offset >= end && e.offset <= h.size && e.size() <= h.size - e.offset && e.size() <= kLargestFile;
  };
  if (!std::ranges::all_of(result.entries_, is_inside) ||
      !std::ranges::is_sorted(result.entries_, {}, &Entry::original_hash))
    return malformed("has an index that makes no sense");
  result.next_method_ = h.next_method;
  result.next_class_ = h.next_class;
  return result;
}

const Entry* ClassCacheIndex::find(Bytes original) const {
  if (entries_.empty()) return nullptr;
  const std::uint64_t hash = hash_bytes(original);
  const auto found = std::ranges::lower_bound(entries_, hash, {}, &Entry::original_hash);
  const bool is_it = found != entries_.end() && found->original_hash == hash && found->original_size == original.size();
  return is_it ? &*found : nullptr;
}

std::optional<CachedClass> ClassCacheIndex::parse_class(const Entry& entry, Bytes content) {
  if (content.size() != entry.size() || hash_bytes(content) != entry.checksum) return std::nullopt;
  const CachedClass result = {.name = as_text(content.subspan(entry.size() - entry.name_size)),
                              .bytes = content.subspan(entry.records_size, entry.bytes_size),
                              .records = content.first(entry.records_size)};
  if (!are_records(result.records)) return std::nullopt;
  return result;
}

ClassCache::~ClassCache() {
  if (file_ >= 0) close(file_);
}

void ClassCache::open(const std::string& path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return;
  ByteWriter start;
  if (!read_at(file_, 0, start.extend(ClassCacheIndex::kHeaderSize), ClassCacheIndex::kHeaderSize)) return;
  const std::uint64_t end = ClassCacheIndex::index_end(start.view());
  if (end == 0) return;
  const std::size_t rest = end - ClassCacheIndex::kHeaderSize;
  if (!read_at(file_, ClassCacheIndex::kHeaderSize, start.extend(rest), rest)) return;
  auto index = ClassCacheIndex::parse(start.view(), static_cast<std::uint64_t>(status.st_size), maker_);
  if (!index.ok()) return;
  index_ = std::move(index).value();
  taken_.resize(index_.entries().size());
  file_size_ = static_cast<std::uint64_t>(status.st_size);
}

std::optional<CachedClass> ClassCache::read(const Entry& entry) {
  content_.clear();
  std::uint8_t* to = content_.extend(entry.size());
  if (!read_at(file_, entry.offset, to, entry.size())) return std::nullopt;
  return ClassCacheIndex::parse_class(entry, content_.view());
}

std::optional<CachedClass> ClassCache::take(Bytes original) {
  const Entry* entry = index_.find(original);
  if (entry == nullptr) return std::nullopt;
  const auto position = static_cast<std::size_t>(entry - index_.entries().data());
  if (taken_[position]) return std::nullopt;
  taken_[position] = true;
  return read(*entry);
}

void ClassCache::add(Bytes original, const CachedClass& made) {
  const std::uint64_t hash = hash_bytes(original);
  const std::uint64_t size = made.records.size() + made.bytes.size() + made.name.size();
  if (file_size_ + new_content_.size() + size > kLargestFile) return;
  if (index_.find(original) != nullptr || !new_hashes_.insert(hash).second) return;
  Entry entry = {.original_hash = hash,
                 .offset = 0,
                 .checksum = 0,
                 .original_size = static_cast<std::uint32_t>(original.size()),
                 .records_size = static_cast<std::uint32_t>(made.records.size()),
                 .bytes_size = static_cast<std::uint32_t>(made.bytes.size()),
                 .name_size = static_cast<std::uint32_t>(made.name.size())};
  append(made, entry, new_content_);
  new_entries_.push_back(entry);
}

void ClassCache::append(const CachedClass& made, Entry& entry, ByteWriter& content) {
  entry.offset = content.size();
  content.bytes(made.records);
  content.bytes(made.bytes);
  content.text(made.name);
  entry.checksum = hash_bytes(content.view().subspan(entry.offset));
  content.zeros(padded(content.size()) - content.size());
}

bool ClassCache::has_news() const {
  return !new_entries_.empty() && new_content_.size() * kWorthwhileShare >= file_size_;
}

bool ClassCache::write(const std::string& path, std::uint32_t next_method, std::uint32_t next_class) {
  std::vector<Entry> entries = std::move(new_entries_);
  ByteWriter content = std::move(new_content_);
  for (Entry entry : index_.entries()) {
    const auto old = read(entry);
    if (!old || entries.size() == ClassCacheIndex::kMostClasses) continue;
    append(*old, entry, content);
    entries.push_back(entry);
  }
  const std::uint64_t start = sizeof(FileHeader) + entries.size() * sizeof(Entry);
  for (Entry& entry : entries) entry.offset += start;
  std::ranges::sort(entries, {}, &Entry::original_hash);
  FileHeader header = {.magic = {},
                       .version = kVersion,
                       .class_count = static_cast<std::uint32_t>(entries.size()),
                       .maker = maker_,
                       .size = start + content.size(),
                       .next_method = next_method,
                       .next_class = next_class,
                       .reserved = 0,
                       .checksum = 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  const Bytes index(reinterpret_cast<const std::uint8_t*>(entries.data()), entries.size() * sizeof(Entry));
  header.checksum = checksum_of(header, index);
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const bool written = write_all(file, {reinterpret_cast<const std::uint8_t*>(&header), sizeof header}) &&
                       write_all(file, index) && write_all(file, content.view());
  close(file);
  if (written && rename(temporary.c_str(), path.c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

}  // namespace sonde::agent
