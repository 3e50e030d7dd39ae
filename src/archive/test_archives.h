// SPDX-License-Identifier: Apache-2.0
// Writers of small zips and jimages for tests: simple, and able to lie about everything the readers have to check.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde::archive {

using Buffer = std::vector<std::uint8_t>;

inline void put_text(Buffer& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }

inline void put_little(Buffer& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// window_bits: -15 for raw deflate (zip), 15 for a zlib stream (jimage).
inline std::string deflated(std::string_view content, int window_bits) {
  z_stream stream = {};
  SONDE_CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  SONDE_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct TestEntry {
  std::string name;
  std::string content;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::optional<std::uint32_t> claimed_crc = {};
  std::optional<std::uint64_t> claimed_size = {};
};

struct TestZipOptions {
  std::string prefix = {};   // in front of the archive; offsets do not count it
  std::string comment = {};  // behind the end record
  bool zip64 = false;
};

// A TestEntry with everything that local header and directory record say about it.
struct PlacedEntry {
  const TestEntry& entry;
  std::string data;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t crc;
};

inline PlacedEntry placed(const TestEntry& entry, std::uint64_t offset) {
  const Bytes content = as_bytes(entry.content);
  const auto crc = static_cast<std::uint32_t>(crc32_z(0, content.data(), content.size()));
  return {.entry = entry,
          .data = entry.method == 8 ? deflated(entry.content, -15) : entry.content,
          .offset = offset,
          .size = entry.claimed_size.value_or(entry.content.size()),
          .crc = entry.claimed_crc.value_or(crc)};
}

inline void put_local(Buffer& out, const PlacedEntry& e) {
  put_little(out, 0x04034b50, 4);
  for (const std::uint64_t field : {20, int{e.entry.flags}, int{e.entry.method}, 0, 0}) put_little(out, field, 2);
  for (const std::uint64_t field : {std::uint64_t{e.crc}, e.data.size(), e.size}) put_little(out, field, 4);
  put_little(out, e.entry.name.size(), 2);
  put_little(out, 0, 2);
  put_text(out, e.entry.name);
  put_text(out, e.data);
}

inline void put_directory_record(Buffer& out, const PlacedEntry& e, bool zip64) {
  put_little(out, 0x02014b50, 4);
  for (const std::uint64_t field : {20, 20, int{e.entry.flags}, int{e.entry.method}, 0, 0}) put_little(out, field, 2);
  put_little(out, e.crc, 4);
  put_little(out, zip64 ? 0xffffffff : e.data.size(), 4);
  put_little(out, zip64 ? 0xffffffff : e.size, 4);
  put_little(out, e.entry.name.size(), 2);
  put_little(out, zip64 ? 4 + 24 : 0, 2);
  put_little(out, 0, 2 + 2);  // comment, disk
  put_little(out, 0, 2 + 4);  // attributes
  put_little(out, zip64 ? 0xffffffff : e.offset, 4);
  put_text(out, e.entry.name);
  if (!zip64) return;
  put_little(out, 1, 2);
  put_little(out, 24, 2);
  for (const std::uint64_t field : {e.size, std::uint64_t{e.data.size()}, e.offset}) put_little(out, field, 8);
}

inline void put_zip64_end(Buffer& out, std::uint64_t count, std::uint64_t directory_size,
                          std::uint64_t directory_offset) {
  put_little(out, 0x06064b50, 4);
  put_little(out, 44, 8);
  put_little(out, 45, 2);
  put_little(out, 45, 2);
  put_little(out, 0, 4 + 4);  // disks
  for (const std::uint64_t field : {count, count, directory_size, directory_offset}) put_little(out, field, 8);
  put_little(out, 0x07064b50, 4);
  put_little(out, 0, 4);
  put_little(out, directory_offset + directory_size, 8);
  put_little(out, 1, 4);
}

inline Buffer make_zip(const std::vector<TestEntry>& entries, const TestZipOptions& options = {}) {
  Buffer out, directory;
  put_text(out, options.prefix);
  for (const TestEntry& entry : entries) {
    const PlacedEntry e = placed(entry, out.size() - options.prefix.size());
    put_local(out, e);
    put_directory_record(directory, e, options.zip64);
  }
  const std::uint64_t directory_offset = out.size() - options.prefix.size();
  out.insert(out.end(), directory.begin(), directory.end());
  if (options.zip64) put_zip64_end(out, entries.size(), directory.size(), directory_offset);

  put_little(out, 0x06054b50, 4);
  put_little(out, 0, 2 + 2);  // disks
  put_little(out, options.zip64 ? 0xffff : entries.size(), 2);
  put_little(out, options.zip64 ? 0xffff : entries.size(), 2);
  put_little(out, options.zip64 ? 0xffffffff : directory.size(), 4);
  put_little(out, options.zip64 ? 0xffffffff : directory_offset, 4);
  put_little(out, options.comment.size(), 2);
  put_text(out, options.comment);
  return out;
}

struct TestResource {
  std::string module;
  std::string parent;
  std::string base;
  std::string extension;
  std::string content;
  std::string decompressor = {};  // "zip" really compresses; any other name only says so
};

inline Buffer make_jimage(const std::vector<TestResource>& resources, std::uint32_t version = 0x10000) {
  std::string strings(1, '\0');
  Buffer offsets, locations, contents;
  const auto string = [&](const std::string& text) {
    if (text.empty()) return std::size_t{0};
    const std::size_t offset = strings.size();
    strings += text + '\0';
    return offset;
  };
  const auto attribute = [&](int kind, std::uint64_t value) {
    locations.push_back(static_cast<std::uint8_t>(kind << 3 | (4 - 1)));
    for (int shift = 24; shift >= 0; shift -= 8) locations.push_back(static_cast<std::uint8_t>(value >> shift));
  };
  for (const TestResource& resource : resources) {
    const std::size_t start = contents.size();
    const bool compressed = !resource.decompressor.empty();
    const std::string data = compressed ? deflated(resource.content, 15) : resource.content;
    if (compressed) {
      put_little(contents, 0xcafefafa, 4);
      put_little(contents, data.size(), 8);
      put_little(contents, resource.content.size(), 8);
      put_little(contents, string(resource.decompressor), 4);
      put_little(contents, 0, 4);
      put_little(contents, 1, 1);
    }
    put_text(contents, data);

    put_little(offsets, locations.size(), 4);
    attribute(1, string(resource.module));
    attribute(2, string(resource.parent));
    attribute(3, string(resource.base));
    attribute(4, string(resource.extension));
    attribute(5, start);
    attribute(6, compressed ? contents.size() - start : 0);
    attribute(7, resource.content.size());
    attribute(8, 1);  // a kind that no JDK we know writes
    locations.push_back(0);
  }
  Buffer out;
  for (const std::uint64_t field : {std::size_t{0xcafedada}, std::size_t{version}, std::size_t{0}, resources.size(),
                                    resources.size(), locations.size(), strings.size()}) {
    put_little(out, field, 4);
  }
  for (std::size_t i = 0; i < resources.size(); ++i) put_little(out, 0, 4);
  for (const Buffer* part : {&offsets, &locations}) out.insert(out.end(), part->begin(), part->end());
  put_text(out, strings);
  out.insert(out.end(), contents.begin(), contents.end());
  return out;
}

}  // namespace sonde::archive
