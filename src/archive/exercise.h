// SPDX-License-Identifier: Apache-2.0
// What the fuzzers and the damage tests do with hostile bytes: open, list, read everything. The results do not matter,
// only that nothing crashes and that no entry gets more memory than the limit.
#pragma once

#include <vector>

#include "archive/jimage.h"
#include "archive/zip.h"

namespace sonde::archive {

inline constexpr std::uint64_t kExerciseLimit = 64 * 1024;

inline void exercise_zip(Bytes bytes) {
  const Result<ZipArchive> archive = ZipArchive::open(bytes, kExerciseLimit);
  if (!archive.ok()) return;
  std::vector<std::uint8_t> scratch;
  for (const ZipEntry& entry : archive->entries()) {
    const Result<Bytes> content = archive->read(entry, scratch);
    if (content.ok()) SONDE_CHECK(content->size() == entry.uncompressed_size);
  }
  SONDE_CHECK(scratch.size() <= kExerciseLimit + 1);
}

inline void exercise_jimage(Bytes bytes) {
  const Result<JImage> image = JImage::open(bytes, kExerciseLimit);
  if (!image.ok()) return;
  std::vector<std::uint8_t> scratch;
  for (const JImageResource& resource : image->resources()) {
    SONDE_CHECK(resource.path().starts_with('/'));
    const Result<Bytes> content = image->read(resource, scratch);
    if (content.ok()) SONDE_CHECK(content->size() == resource.uncompressed_size);
  }
  SONDE_CHECK(scratch.size() <= kExerciseLimit + 1);
}

}  // namespace sonde::archive
