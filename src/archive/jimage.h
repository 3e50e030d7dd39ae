// SPDX-License-Identifier: Apache-2.0
// Read-only access to the JDK's lib/modules file ("jimage", since JDK 9), which holds the classes of all its modules.
//
//   header | redirect table | offsets table | locations | strings | resources ...
//
// The offsets table has one slot per resource, each the start of an attribute stream in `locations`. The redirect table
// makes it a perfect hash of paths; listing needs no hash, so we skip it. Numbers are in the byte order of the machine
// the image is for; values inside attribute streams are always big-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archive/inflate.h"
#include "base/bytes.h"
#include "base/result.h"

namespace sonde::archive {

// "/java.base/java/lang/Object.class" in parts; parent and extension can be empty.
struct JImageResource {
  std::string_view module;
  std::string_view parent;
  std::string_view base;
  std::string_view extension;
  std::uint64_t offset = 0;           // from the start of the resources
  std::uint64_t compressed_size = 0;  // zero: not compressed
  std::uint64_t uncompressed_size = 0;

  [[nodiscard]] std::string path() const;
};

// Borrows the bytes given to open(); they must outlive the image and every name taken from it.
class JImage {
 public:
  // Whether the bytes start like a jimage, of either byte order.
  static bool recognises(Bytes bytes);

  static Result<JImage> open(Bytes bytes, std::uint64_t max_resource_size = kDefaultMaxEntrySize);

  // Sorted by offset, so that reading all of them reads the file from front to back.
  [[nodiscard]] const std::vector<JImageResource>& resources() const { return resources_; }

  // The content. It lives in the image's own bytes, or in `scratch` if it was compressed.
  Result<Bytes> read(const JImageResource& resource, std::vector<std::uint8_t>& scratch) const;

 private:
  struct Header;

  JImage(Bytes bytes, std::uint64_t max_resource_size) : bytes_(bytes), max_resource_size_(max_resource_size) {}

  static Result<Header> read_header(Bytes bytes);
  Result<void> read_index(const Header& header);
  [[nodiscard]] Result<JImageResource> resource_at(Bytes location) const;
  [[nodiscard]] Result<std::string_view> string_at(std::uint64_t offset) const;
  [[nodiscard]] Result<Bytes> content_of(const JImageResource& resource, std::vector<std::uint8_t>& scratch) const;
  [[nodiscard]] Result<Bytes> decompress(Bytes stored, const JImageResource& resource,
                                         std::vector<std::uint8_t>& scratch) const;

  Bytes bytes_;
  Bytes strings_;
  std::uint64_t resources_start_ = 0;
  std::uint64_t max_resource_size_;
  std::vector<JImageResource> resources_;
};

}  // namespace sonde::archive
