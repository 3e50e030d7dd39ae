// SPDX-License-Identifier: Apache-2.0
#include "archive/jimage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "archive/little_endian.h"

namespace sonde::archive {
namespace {

constexpr std::uint32_t kMagic = 0xcafedada;
constexpr std::uint32_t kCompressedMagic = 0xcafefafa;
constexpr std::uint32_t kMajorVersion = 1;
constexpr std::size_t kTableEntrySize = 4;

// A path part longer than any class name is damage; the bound also keeps hostile images from costing quadratic time.
constexpr std::size_t kMaxString = 0xffff;

// Attribute kinds of a location. Later JDKs add more, which we step over: every attribute carries its length.
enum Attribute : std::uint8_t {
  kEnd,
  kModule,
  kParent,
  kBase,
  kExtension,
  kOffset,
  kCompressed,
  kUncompressed,
  kCount
};
using Attributes = std::array<std::uint64_t, kCount>;  // an attribute that is not in the stream is zero

Error error_at(std::uint64_t offset, ErrorCode code, std::string message) {
  return {code, std::move(message), {.path = {}, .byte_offset = offset}};
}

Error unsupported_compression(const std::string& what) {
  return {ErrorCode::kUnsupported, what + "; run `jimage extract` and give the folder"};
}

// Each attribute is a byte `kind << 3 | (length - 1)` and `length` bytes of value.
Result<Attributes> read_attributes(Bytes stream) {
  Attributes attributes = {};
  ByteReader reader(stream);
  for (;;) {
    const std::uint8_t tag = reader.u1();  // after an overrun zero, which is the end too
    const int kind = tag >> 3;
    if (kind == kEnd) break;
    std::uint64_t value = 0;
    for (int length = (tag & 7) + 1; length > 0; --length) value = value << 8 | reader.u1();
    if (kind < kCount) attributes[kind] = value;
  }
  TRY(reader.check("location"));
  return attributes;
}

// jlink also stores the directory tree that the `jrt:` file system shows; its nodes list other locations by number.
bool is_tree_node(const JImageResource& resource) {
  return resource.module.empty() || resource.module == "modules" || resource.module == "packages";
}

}  // namespace

struct JImage::Header {
  static constexpr std::size_t kSize = 28;

  std::uint32_t version = 0;
  std::uint32_t table_length = 0;
  std::uint32_t locations_size = 0;
  std::uint32_t strings_size = 0;
};

std::string JImageResource::path() const {
  std::string path;
  path.reserve(module.size() + parent.size() + base.size() + extension.size() + 4);
  path.append("/").append(module).append("/");
  if (!parent.empty()) path.append(parent).append("/");
  path.append(base);
  if (!extension.empty()) path.append(".").append(extension);
  return path;
}

bool JImage::recognises(Bytes bytes) {
  return has_signature(bytes, 0, kMagic) || has_signature(bytes, 0, __builtin_bswap32(kMagic));
}

Result<JImage> JImage::open(Bytes bytes, std::uint64_t max_resource_size) {
  JImage image(bytes, max_resource_size);
  const Header header = TRY(read_header(bytes));
  TRY(image.read_index(header));
  return image;
}

Result<JImage::Header> JImage::read_header(Bytes bytes) {
  if (has_signature(bytes, 0, __builtin_bswap32(kMagic))) {
    return error_at(0, ErrorCode::kUnsupported, "jimage of a big-endian machine");
  }
  if (!has_signature(bytes, 0, kMagic)) return error_at(0, ErrorCode::kMalformed, "not a jimage: wrong magic number");

  LittleEndianReader reader(bytes);
  reader.skip(4);
  Header header;
  header.version = reader.u4();
  reader.skip(4 + 4);  // flags; the number of resources, which is at most the length of the table
  header.table_length = reader.u4();
  header.locations_size = reader.u4();
  header.strings_size = reader.u4();
  TRY(reader.check("jimage header"));
  if (header.version >> 16 != kMajorVersion) {
    return error_at(4, ErrorCode::kUnsupported,
                    "jimage version " + std::to_string(header.version >> 16) + "." +
                        std::to_string(header.version & 0xffff) + ", expected 1.x");
  }
  return header;
}

Result<void> JImage::read_index(const Header& header) {
  const std::uint64_t table_size = std::uint64_t{header.table_length} * kTableEntrySize;
  LittleEndianReader reader(bytes_);
  reader.skip(Header::kSize);
  reader.skip(table_size);  // redirects
  const Bytes offsets = reader.bytes(table_size);
  const std::uint64_t locations_start = reader.position();
  const Bytes locations = reader.bytes(header.locations_size);
  strings_ = reader.bytes(header.strings_size);
  TRY(reader.check("jimage index"));
  resources_start_ = reader.position();

  resources_.reserve(header.table_length);  // the table fits in the file, so this is bounded by the file's size
  LittleEndianReader table(offsets);
  for (std::uint32_t slot = 0; slot < header.table_length; ++slot) {
    const std::uint32_t start = table.u4();
    Result<JImageResource> resource = resource_at(locations.subspan(std::min<std::size_t>(start, locations.size())));
    if (!resource.ok()) {
      return std::move(resource).error().shifted(locations_start + start).within("location " + std::to_string(slot));
    }
    if (!is_tree_node(*resource)) resources_.push_back(*resource);
  }
  // Stable: empty resources share their offset with the next one.
  std::stable_sort(resources_.begin(), resources_.end(),
                   [](const JImageResource& a, const JImageResource& b) { return a.offset < b.offset; });
  return {};
}

Result<JImageResource> JImage::resource_at(Bytes location) const {
  const Attributes attributes = TRY(read_attributes(location));
  return JImageResource{.module = TRY(string_at(attributes[kModule])),
                        .parent = TRY(string_at(attributes[kParent])),
                        .base = TRY(string_at(attributes[kBase])),
                        .extension = TRY(string_at(attributes[kExtension])),
                        .offset = attributes[kOffset],
                        .compressed_size = attributes[kCompressed],
                        .uncompressed_size = attributes[kUncompressed]};
}

// Strings are UTF-8 and end with a zero byte; the one at offset zero is empty.
Result<std::string_view> JImage::string_at(std::uint64_t offset) const {
  if (offset >= strings_.size()) {
    return Error{ErrorCode::kMalformed, "string " + std::to_string(offset) + " starts outside of the strings"};
  }
  const Bytes tail = strings_.subspan(offset);
  const void* end = std::memchr(tail.data(), 0, std::min(tail.size(), kMaxString + 1));
  if (end == nullptr) {
    return Error{ErrorCode::kMalformed, "string " + std::to_string(offset) + " does not end"};
  }
  return as_text(tail.first(static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - tail.data())));
}

Result<Bytes> JImage::read(const JImageResource& resource, std::vector<std::uint8_t>& scratch) const {
  Result<Bytes> content = content_of(resource, scratch);
  if (!content.ok()) return std::move(content).error().within("resource `" + resource.path() + "`");
  return content;
}

Result<Bytes> JImage::content_of(const JImageResource& resource, std::vector<std::uint8_t>& scratch) const {
  const bool compressed = resource.compressed_size != 0;
  const std::uint64_t size = compressed ? resource.compressed_size : resource.uncompressed_size;
  const std::uint64_t available = bytes_.size() - resources_start_;
  if (resource.offset > available || size > available - resource.offset) {
    return error_at(resources_start_, ErrorCode::kTruncated,
                    std::to_string(size) + " bytes at resource offset " + std::to_string(resource.offset) +
                        " reach past the end of the image");
  }
  if (resource.uncompressed_size > max_resource_size_) {
    return Error{ErrorCode::kTooLarge, "declares " + std::to_string(resource.uncompressed_size) +
                                           " bytes, the limit is " + std::to_string(max_resource_size_)};
  }
  const Bytes stored = bytes_.subspan(resources_start_ + resource.offset, size);
  if (!compressed) return stored;
  Result<Bytes> content = decompress(stored, resource, scratch);
  if (!content.ok()) return std::move(content).error().shifted(resources_start_ + resource.offset);
  return content;
}

// Compressed content starts with a header that names the decompressor. jlink can stack several; one "zip" is what its
// --compress option gives, and all we take.
Result<Bytes> JImage::decompress(Bytes stored, const JImageResource& resource,
                                 std::vector<std::uint8_t>& scratch) const {
  LittleEndianReader reader(stored);
  const std::uint32_t magic = reader.u4();
  const std::uint64_t compressed_size = reader.u8();
  const std::uint64_t uncompressed_size = reader.u8();
  const std::uint32_t decompressor_name = reader.u4();
  reader.skip(4 + 1);  // decompressor configuration, and whether this is the last header of a stack
  const std::uint64_t data_start = reader.position();
  const Bytes data = reader.bytes(compressed_size);
  TRY(reader.check("compressed resource"));
  if (magic != kCompressedMagic) return error_at(0, ErrorCode::kMalformed, "compressed, but without a header");

  const std::string_view decompressor = TRY(string_at(decompressor_name));
  if (decompressor != "zip") return unsupported_compression("compressed with `" + std::string(decompressor) + "`");
  if (uncompressed_size != resource.uncompressed_size) return unsupported_compression("compressed more than once");
  Result<Bytes> content = inflate_exactly(data, DeflateFormat::kZlib, uncompressed_size, scratch);
  if (!content.ok()) return std::move(content).error().shifted(data_start);
  return content;
}

}  // namespace sonde::archive
