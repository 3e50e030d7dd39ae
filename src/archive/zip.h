// SPDX-License-Identifier: Apache-2.0
// Read-only zip archives: jar, war, zip, jmod (PKWARE APPNOTE 6.3; section numbers in zip.cc refer to it).
//
//   [prefix]  local header, data ...  central directory  [zip64 record, zip64 locator]  end record, comment
//
// The central directory is the truth; local headers only say where the data starts. Bytes in front of the archive (the
// script of a self-executing jar, the "JM" header of a jmod) shift all offsets and are found by where the directory
// really ends. Everything is untrusted: offsets are checked when used, sizes are limits and never allocations.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "archive/inflate.h"
#include "base/bytes.h"
#include "base/result.h"

namespace sonde::archive {

struct ZipEntry {
  static constexpr std::uint16_t kStored = 0;
  static constexpr std::uint16_t kDeflated = 8;

  std::string_view name;  // as stored: may be absolute, hold "..", or occur twice. A label, not a path to write to.
  std::uint64_t compressed_size = 0;
  std::uint64_t uncompressed_size = 0;
  std::uint64_t local_header_offset = 0;  // from the start of the bytes given to open(), prefix included
  std::uint32_t crc32 = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;

  [[nodiscard]] bool is_directory() const { return name.ends_with('/'); }
  [[nodiscard]] bool is_encrypted() const { return (flags & 1) != 0; }
};

// Borrows the bytes given to open(); they must outlive the archive and every name taken from it.
class ZipArchive {
 public:
  static Result<ZipArchive> open(Bytes bytes, std::uint64_t max_entry_size = kDefaultMaxEntrySize);

  // In the order of the central directory, directories and duplicates included.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }

  // The content, with size and CRC-32 verified. It lives in the archive's own bytes (stored) or in `scratch`
  // (deflated), which can be reused from entry to entry.
  Result<Bytes> read(const ZipEntry& entry, std::vector<std::uint8_t>& scratch) const;

 private:
  ZipArchive(Bytes bytes, std::uint64_t max_entry_size) : bytes_(bytes), max_entry_size_(max_entry_size) {}

  [[nodiscard]] Result<void> check_readable(const ZipEntry& entry) const;
  [[nodiscard]] Result<Bytes> raw_data(const ZipEntry& entry) const;
  Result<Bytes> verified_content(const ZipEntry& entry, std::vector<std::uint8_t>& scratch) const;

  Bytes bytes_;
  std::uint64_t max_entry_size_;
  std::vector<ZipEntry> entries_;
};

}  // namespace sonde::archive
