// SPDX-License-Identifier: Apache-2.0
// A regular file as read-only bytes, mapped for the lifetime of the object. What another process writes into the file
// shows up in the bytes; what it appends does not.
//
// A file that another process truncates while it is mapped raises SIGBUS on access. We accept that, as every tool that
// maps its input does: copying each JDK image (100 MB and more) first would cost every run for a case nobody meets.
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  // From `begin` on, a multiple of the size of a page, single pages will be read: the kernel need not read ahead.
  void expect_scattered_reads(std::size_t begin) const;

 private:
  explicit MappedFile(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes_;  // empty for an empty file, which cannot be mapped
};

}  // namespace sonde
