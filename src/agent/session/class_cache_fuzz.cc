// SPDX-License-Identifier: Apache-2.0
// The file up to its end; its maker and its checksums are made right, so that what they protect is looked at, too.
#include "agent/session/class_cache.h"

#include <vector>

#include "agent/session/hash_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde;
  using agent::ClassCacheIndex;
  using agent::hash_bytes;
  constexpr std::uint64_t kMaker = 7;
  constexpr std::size_t kMakerAt = 16;
  constexpr std::size_t kChecksumAt = ClassCacheIndex::kHeaderSize - 8;
  (void)ClassCacheIndex::parse({data, size}, size, kMaker);
  std::vector<std::uint8_t> file(data, data + size);
  const std::uint64_t end = ClassCacheIndex::index_end(file);
  if (end == 0 || end > size) return 0;
  const auto put = [&](std::size_t at, std::uint64_t value) { std::memcpy(file.data() + at, &value, sizeof value); };
  put(kMakerAt, kMaker);
  put(kMakerAt + 8, size);
  const Bytes all(file);
  put(kChecksumAt, hash_bytes(all.subspan(ClassCacheIndex::kHeaderSize, end - ClassCacheIndex::kHeaderSize),
                              hash_bytes(all.first(kChecksumAt))));
  const auto index = ClassCacheIndex::parse(all, size, kMaker);
  if (!index.ok()) return 0;
  for (ClassCacheIndex::Entry entry : index->entries()) {
    const Bytes content = all.subspan(entry.offset, entry.size());
    entry.checksum = hash_bytes(content);
    (void)ClassCacheIndex::parse_class(entry, content);
  }
  return 0;
}
