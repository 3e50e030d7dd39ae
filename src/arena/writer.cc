// SPDX-License-Identifier: Apache-2.0
#include "arena/writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace sonde::arena {
namespace {

constexpr std::uint64_t kReserveStep = 16 << 20;
constexpr std::uint64_t kSmallReserveStep = 1 << 20;
constexpr std::uint64_t kRecordsChunk = 256 << 10;
constexpr std::uint64_t kFlatBlocksStep = 16;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Error io_error(const char* what, const char* path) {
  return {ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno), {.path = path, .byte_offset = {}}};
}

// Disk blocks for a range of a file. Where the file system has no fallocate, zeros are written: reserving must either
// succeed for good or fail now.
bool reserve_on_disk(int file, std::uint64_t begin, std::uint64_t end) {
  int result = 0;
  do {
    result = fallocate(file, 0, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return true;
  if (errno != EOPNOTSUPP) return false;
  static constexpr char kZeros[4096] = {};
  for (std::uint64_t at = begin; at < end;) {
    const ssize_t written =
        pwrite(file, kZeros, std::min<std::uint64_t>(sizeof kZeros, end - at), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

Writer::~Writer() {
  if (memory_ != nullptr) munmap(memory_, mapped_);
  if (file_ >= 0) close(file_);
}

Result<void> Writer::create(const char* path, const Options& options) {
  file_ = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) return io_error("cannot create", path);
  auto mapped = map(path, options);
  if (!mapped.ok()) unlink(path);
  return mapped;
}

void Writer::leave_memory() {
  if (memory_ == nullptr) return;
  const std::uint64_t used = round_up(header().next.load(), kFlatPageSize);
  const std::uint64_t flat = header().flat_offset;
  const std::uint64_t flat_used = flat_planes_ * kFlatPlaneSize;
  // Where this fails the file stays mapped, which costs its disk and nothing else.
  const auto leave = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    (void)mmap(memory_ + begin, end - begin, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  };
  const auto unmap = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin < end) munmap(memory_ + begin, end - begin);
  };
  leave(0, used);
  if (flat == 0) {
    unmap(used, mapped_);
  } else {
    unmap(used, flat);
    leave(flat, flat + flat_used);
    unmap(flat + flat_used, mapped_);
  }
  memory_ = nullptr;
}

Result<void> Writer::map(const char* path, const Options& options) {
  const bool flat = (options.flags & kFlat) != 0 || options.has_flat_region;
  const std::uint64_t flat_offset = round_up(options.capacity, kFlatPageSize);
  const std::uint64_t size = flat ? flat_offset + kFlatRegionSize : options.capacity;
  if (ftruncate(file_, static_cast<off_t>(size)) != 0) return io_error("cannot set its size", path);
  if (!reserve_on_disk(file_, 0, kSmallReserveStep)) return io_error("no room on the disk", path);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (memory == MAP_FAILED) return io_error("cannot map", path);
  memory_ = static_cast<std::uint8_t*>(memory);
  mapped_ = size;
  // One page for each thread and plane is touched; reading ahead would make a hundred.
  if (flat) madvise(memory_ + flat_offset, kFlatRegionSize, MADV_RANDOM);
  bias_ = options.address_bias;
  ArenaHeader& h = header();
  h.version = kVersion;
  h.flags = options.flags;
  h.base_address = address(memory_);
  h.capacity = options.capacity;
  h.flat_offset = flat ? flat_offset : 0;
  h.next.store(kHeaderSize);
  h.reserved.store(kSmallReserveStep);
  h.pid = static_cast<std::uint32_t>(getpid());
  // The magic comes last: a file without it is one that was never finished being made.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  return {};
}

bool Writer::reserve(std::uint64_t end) {
  ArenaHeader& h = header();
  const std::uint64_t have = h.reserved.load(std::memory_order_relaxed);
  if (end <= have) return true;
  if (end + h.flat_reserved.load(std::memory_order_relaxed) > h.capacity) return false;
  for (const std::uint64_t step : {kReserveStep, kSmallReserveStep}) {
    const std::uint64_t wanted = std::min(round_up(end, step), h.capacity);
    if (reserve_on_disk(file_, have, wanted)) {
      h.reserved.store(wanted, std::memory_order_release);
      return true;
    }
  }
  return false;
}

bool Writer::reserve_flat_pages(std::uint64_t plane, std::uint64_t first_block, std::uint64_t end_block) {
  if (first_block == end_block) return true;
  ArenaHeader& h = header();
  const std::uint64_t begin = h.flat_offset + plane * kFlatPlaneSize + first_block * kFlatPageSize;
  const std::uint64_t size = (end_block - first_block) * kFlatPageSize;
  const std::uint64_t sum = h.flat_reserved.load(std::memory_order_relaxed) + size;
  if (h.next.load(std::memory_order_relaxed) + sum > h.capacity || !reserve_on_disk(file_, begin, begin + size))
    return false;
  h.flat_reserved.store(sum, std::memory_order_relaxed);
  return true;
}

bool Writer::reserve_flat(std::uint32_t last_method_id, std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t planes = std::max(last_method_id / kFlatPageSlots + 1, flat_planes_);
  blocks = std::max(round_up(blocks, kFlatBlocksStep), flat_blocks_);
  if (planes > kFlatPlanes || blocks > kFlatBlocks) return false;
  for (std::uint64_t plane = 0; plane < flat_planes_; ++plane) {
    if (!reserve_flat_pages(plane, flat_blocks_, blocks)) return false;
  }
  flat_blocks_ = blocks;
  for (; flat_planes_ < planes; ++flat_planes_) {
    if (!reserve_flat_pages(flat_planes_, 0, blocks)) return false;
  }
  return true;
}

bool Writer::has_room(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  return reserve(header().next.load(std::memory_order_relaxed) + size + 2 * sizeof(ChunkHeader));
}

ChunkHeader* Writer::new_chunk(ChunkKind kind, std::uint32_t tree, std::uint64_t size) {
  size = round_up(size + sizeof(ChunkHeader), 64);
  const std::lock_guard lock(mutex_);
  ArenaHeader& h = header();
  const std::uint64_t begin = h.next.load(std::memory_order_relaxed);
  if (!reserve(begin + size)) return nullptr;
  auto* chunk = reinterpret_cast<ChunkHeader*>(memory_ + begin);
  chunk->kind = kind;
  chunk->tree = tree;
  chunk->size = size;
  chunk->used.store(sizeof(ChunkHeader), std::memory_order_relaxed);
  h.next.store(begin + size, std::memory_order_release);  // pairs with the reader's acquire load
  return chunk;
}

bool Writer::map_again(const void* pages, std::uint64_t size, void* at) {
  const auto offset = static_cast<off_t>(static_cast<const std::uint8_t*>(pages) - memory_);
  return mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, offset) == at;
}

bool Writer::append(Bytes record) {
  const auto fits = [&] {
    return records_ != nullptr && records_->used.load(std::memory_order_relaxed) + record.size() <= records_->size;
  };
  // Callers may come from several threads; the chunk is theirs one after the other.
  static_assert(kRecordsChunk > 128 << 10, "the longest record, two names of 64 KiB, fits");
  std::unique_lock lock(mutex_);
  if (!fits()) {
    lock.unlock();
    ChunkHeader* chunk = new_chunk(ChunkKind::kRecords, 0, std::max<std::uint64_t>(kRecordsChunk, record.size()));
    lock.lock();
    if (chunk == nullptr) return false;
    if (!fits()) records_ = chunk;
  }
  const std::uint64_t used = records_->used.load(std::memory_order_relaxed);
  if (used + record.size() > records_->size) return false;
  std::memcpy(reinterpret_cast<std::uint8_t*>(records_) + used, record.data(), record.size());
  records_->used.store(used + record.size(), std::memory_order_release);  // pairs with the reader's acquire load
  return true;
}

}  // namespace sonde::arena
