// SPDX-License-Identifier: Apache-2.0
#include "archive/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "archive/little_endian.h"

namespace sonde::archive {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryRecord = 0x02014b50;
constexpr std::uint32_t kEndRecord = 0x06054b50;
constexpr std::uint32_t kZip64EndRecord = 0x06064b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;

constexpr std::size_t kLocalHeaderSize = 30;
constexpr std::size_t kDirectoryRecordSize = 46;
constexpr std::size_t kEndRecordSize = 22;
constexpr std::size_t kZip64EndRecordSize = 56;
constexpr std::size_t kZip64LocatorSize = 20;
constexpr std::size_t kMaxComment = 0xffff;

constexpr std::uint16_t kZip64ExtraField = 1;
constexpr std::uint32_t kInZip64 = 0xffffffff;   // a 32-bit field whose value is in the zip64 structure
constexpr std::uint16_t kShortInZip64 = 0xffff;  // the same for 16 bits

Error error_at(std::uint64_t offset, ErrorCode code, std::string message) {
  return {code, std::move(message), {.path = {}, .byte_offset = offset}};
}

// The end record (4.3.16), with the values of the zip64 one (4.3.14) once that is found.
struct EndRecord {
  std::uint64_t position = 0;  // of this record: where the central directory has to end
  std::uint32_t disk = 0;
  std::uint64_t entry_count = 0;
  std::uint64_t directory_size = 0;
  std::uint64_t directory_offset = 0;
  bool zip64 = false;

  [[nodiscard]] bool points_to_zip64() const {
    return disk == kShortInZip64 || entry_count == kShortInZip64 || directory_size == kInZip64 ||
           directory_offset == kInZip64;
  }
};

EndRecord read_end_record(Bytes archive, std::uint64_t position) {
  LittleEndianReader reader(archive.subspan(position, kEndRecordSize));
  EndRecord end;
  end.position = position;
  reader.skip(4);
  end.disk = reader.u2();
  reader.skip(2 + 2);  // the directory's disk, and its number of entries there: the same on a single disk
  end.entry_count = reader.u2();
  end.directory_size = reader.u4();
  end.directory_offset = reader.u4();
  return end;
}

// Where the zip64 end record starts, given the locator in front of the end record; nothing if there is no locator.
std::optional<std::uint64_t> find_zip64_record(Bytes archive, std::uint64_t end_position) {
  if (end_position < kZip64LocatorSize) return std::nullopt;
  const std::uint64_t locator = end_position - kZip64LocatorSize;
  if (!has_signature(archive, locator, kZip64Locator)) return std::nullopt;
  // The locator's offset is wrong behind a prefix, so look first where the record is unless it carries extensible data.
  if (locator >= kZip64EndRecordSize && has_signature(archive, locator - kZip64EndRecordSize, kZip64EndRecord)) {
    return locator - kZip64EndRecordSize;
  }
  LittleEndianReader reader(archive.subspan(locator, kZip64LocatorSize));
  reader.skip(4 + 4);
  return reader.u8();
}

Result<EndRecord> read_zip64_end_record(Bytes archive, std::uint64_t position) {
  if (!has_signature(archive, position, kZip64EndRecord)) {
    return error_at(position, ErrorCode::kMalformed, "no zip64 end record where its locator points");
  }
  LittleEndianReader reader(archive.subspan(position));
  EndRecord end;
  end.position = position;
  end.zip64 = true;
  reader.skip(4 + 8 + 2 + 2);
  end.disk = reader.u4();
  reader.skip(4 + 8);
  end.entry_count = reader.u8();
  end.directory_size = reader.u8();
  end.directory_offset = reader.u8();
  TRY(reader.check("zip64 end record"));
  return end;
}

// The central directory's place, and how far a prefix moves all offsets.
struct Directory {
  std::uint64_t start;
  std::uint64_t prefix;
  Bytes records;
  EndRecord end;
};

Result<Directory> directory_before(Bytes archive, std::uint64_t end_position) {
  EndRecord end = read_end_record(archive, end_position);
  if (end.points_to_zip64()) {
    // Without a locator the numbers mean themselves: 65,535 entries are legal without zip64.
    if (const auto position = find_zip64_record(archive, end_position)) {
      end = TRY(read_zip64_end_record(archive, *position));
    }
  }
  if (end.disk != 0) {
    return error_at(end.position, ErrorCode::kUnsupported, "archive is split over several files");
  }
  if (end.directory_size > end.position || end.directory_offset > end.position - end.directory_size) {
    return error_at(end.position, ErrorCode::kMalformed,
                    "central directory of " + std::to_string(end.directory_size) + " bytes at offset " +
                        std::to_string(end.directory_offset) + " does not fit in front of the end record");
  }
  const std::uint64_t start = end.position - end.directory_size;
  if (end.directory_size != 0 && !has_signature(archive, start, kDirectoryRecord)) {
    return error_at(start, ErrorCode::kMalformed, "no central directory where the end record points");
  }
  return Directory{.start = start,
                   .prefix = start - end.directory_offset,
                   .records = archive.subspan(start, end.directory_size),
                   .end = end};
}

// Searches backwards, because a comment follows the end record. The comment may itself contain the signature, so a
// candidate counts only if there is a directory in front of it. The comment's length is not asked for: bytes that some
// download appended do no harm.
Result<Directory> find_directory(Bytes archive) {
  std::optional<Error> first_error;
  const std::size_t furthest = std::min(archive.size(), kEndRecordSize + kMaxComment);
  for (std::size_t back = kEndRecordSize; back <= furthest; ++back) {
    const std::size_t position = archive.size() - back;
    if (!has_signature(archive, position, kEndRecord)) continue;
    Result<Directory> directory = directory_before(archive, position);
    if (directory.ok()) return directory;
    if (!first_error) first_error = std::move(directory).error();
  }
  if (first_error) return *std::move(first_error);
  return Error{ErrorCode::kMalformed, "not a zip archive, or cut off: it has no end of central directory"};
}

// Replaces the sizes and the offset that do not fit in 32 bits by those in the zip64 extra field (4.5.3), which holds
// only the ones needed. Damage elsewhere in `extra` is ignored: tools pad it to align data, and nothing else is used.
Result<void> apply_zip64_extra(Bytes extra, ZipEntry& entry) {
  LittleEndianReader reader(extra);
  while (reader.remaining() >= 4) {
    const std::uint16_t id = reader.u2();
    const Bytes field = reader.bytes(reader.u2());
    if (id != kZip64ExtraField) continue;
    LittleEndianReader values(field);
    for (std::uint64_t* value : {&entry.uncompressed_size, &entry.compressed_size, &entry.local_header_offset}) {
      if (*value == kInZip64) *value = values.u8();
    }
    return values.check("zip64 extra field");
  }
  return {};
}

// One record of the central directory (4.3.12).
Result<ZipEntry> read_directory_record(LittleEndianReader& reader) {
  const std::uint64_t start = reader.position();
  if (reader.u4() != kDirectoryRecord) {
    return error_at(start, ErrorCode::kMalformed, "no central directory record where one is expected");
  }
  ZipEntry entry;
  reader.skip(2 + 2);  // versions
  entry.flags = reader.u2();
  entry.method = reader.u2();
  reader.skip(4);  // time and date
  entry.crc32 = reader.u4();
  entry.compressed_size = reader.u4();
  entry.uncompressed_size = reader.u4();
  const std::uint16_t name_length = reader.u2();
  const std::uint16_t extra_length = reader.u2();
  const std::uint16_t comment_length = reader.u2();
  reader.skip(2 + 2 + 4);  // disk, attributes
  entry.local_header_offset = reader.u4();
  entry.name = as_text(reader.bytes(name_length));
  const Bytes extra = reader.bytes(extra_length);
  reader.skip(comment_length);
  TRY(reader.check("central directory record"));

  Result<void> widened = apply_zip64_extra(extra, entry);
  if (!widened.ok()) {
    return std::move(widened).error().shifted(start + kDirectoryRecordSize + name_length).within(entry.name);
  }
  return entry;
}

Result<std::vector<ZipEntry>> read_directory(const Directory& directory) {
  std::vector<ZipEntry> entries;
  entries.reserve(std::min<std::uint64_t>(directory.end.entry_count, directory.records.size() / kDirectoryRecordSize));
  LittleEndianReader reader(directory.records);
  while (!reader.at_end()) {
    Result<ZipEntry> entry = read_directory_record(reader);
    if (!entry.ok()) {
      const std::string outer = "central directory record " + std::to_string(entries.size());
      return std::move(entry).error().shifted(directory.start).within(outer);
    }
    if (__builtin_add_overflow(entry->local_header_offset, directory.prefix, &entry->local_header_offset)) {
      entry->local_header_offset = ~std::uint64_t{0};  // reading the entry reports it as outside of the archive
    }
    entries.push_back(*std::move(entry));
  }
  // Writers without zip64 store the count modulo 65,536.
  const std::uint64_t count = directory.end.zip64 ? entries.size() : entries.size() & 0xffff;
  if (count != directory.end.entry_count) {
    return error_at(directory.end.position, ErrorCode::kMalformed,
                    "central directory has " + std::to_string(entries.size()) + " entries instead of the declared " +
                        std::to_string(directory.end.entry_count));
  }
  return entries;
}

std::uint32_t crc32_of(Bytes content) {
  return static_cast<std::uint32_t>(::crc32_z(0, content.data(), content.size()));
}

}  // namespace

Result<ZipArchive> ZipArchive::open(Bytes bytes, std::uint64_t max_entry_size) {
  ZipArchive archive(bytes, max_entry_size);
  const Directory directory = TRY(find_directory(bytes));
  archive.entries_ = TRY(read_directory(directory));
  return archive;
}

Result<Bytes> ZipArchive::read(const ZipEntry& entry, std::vector<std::uint8_t>& scratch) const {
  Result<Bytes> content = verified_content(entry, scratch);
  if (!content.ok()) return std::move(content).error().within("entry `" + std::string(entry.name) + "`");
  return content;
}

Result<void> ZipArchive::check_readable(const ZipEntry& entry) const {
  const std::uint64_t at = entry.local_header_offset;
  if (entry.is_encrypted()) return error_at(at, ErrorCode::kUnsupported, "encrypted");
  if (entry.method != ZipEntry::kStored && entry.method != ZipEntry::kDeflated) {
    return error_at(at, ErrorCode::kUnsupported,
                    "compression method " + std::to_string(entry.method) + " is neither stored (0) nor deflated (8)");
  }
  if (entry.uncompressed_size > max_entry_size_) {
    return error_at(at, ErrorCode::kTooLarge,
                    "declares " + std::to_string(entry.uncompressed_size) + " bytes, the limit is " +
                        std::to_string(max_entry_size_));
  }
  return {};
}

// The bytes behind the local header (4.3.7). Its sizes are not used: they are zero if a data descriptor follows.
Result<Bytes> ZipArchive::raw_data(const ZipEntry& entry) const {
  const std::uint64_t at = entry.local_header_offset;
  if (!has_signature(bytes_, at, kLocalHeader)) {
    return error_at(at, ErrorCode::kMalformed, "no local header where the central directory points");
  }
  LittleEndianReader reader(bytes_.subspan(at));
  reader.skip(kLocalHeaderSize - 4);
  const std::uint16_t name_length = reader.u2();
  const std::uint16_t extra_length = reader.u2();
  reader.skip(name_length);
  reader.skip(extra_length);
  const Bytes data = reader.bytes(entry.compressed_size);
  Result<void> complete = reader.check("the entry's data");
  if (!complete.ok()) return std::move(complete).error().shifted(at);
  return data;
}

Result<Bytes> ZipArchive::verified_content(const ZipEntry& entry, std::vector<std::uint8_t>& scratch) const {
  TRY(check_readable(entry));
  const Bytes data = TRY(raw_data(entry));
  const auto data_offset = static_cast<std::uint64_t>(data.data() - bytes_.data());

  Bytes content = data;
  if (entry.method == ZipEntry::kDeflated) {
    Result<Bytes> inflated = inflate_exactly(data, DeflateFormat::kRaw, entry.uncompressed_size, scratch);
    if (!inflated.ok()) return std::move(inflated).error().shifted(data_offset);
    content = *inflated;
  } else if (entry.compressed_size != entry.uncompressed_size) {
    return error_at(data_offset, ErrorCode::kMalformed,
                    "stored, but declares two sizes: " + std::to_string(entry.compressed_size) + " and " +
                        std::to_string(entry.uncompressed_size));
  }
  if (crc32_of(content) != entry.crc32) {
    return error_at(data_offset, ErrorCode::kMalformed, "content does not match its CRC-32");
  }
  return content;
}

}  // namespace sonde::archive
