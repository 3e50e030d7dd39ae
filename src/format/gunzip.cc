// SPDX-License-Identifier: Apache-2.0
#include "format/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <span>
#include <string>

namespace sonde::format {
namespace {

constexpr std::size_t kScratch = std::size_t{1} << 16;
constexpr std::uint64_t kMaxZlibChunk = std::uint64_t{1} << 30;  // zlib counts available bytes in 32 bits

struct Inflate {
  z_stream stream = {};
  Inflate() { SONDE_CHECK(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK); }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
  ~Inflate() { inflateEnd(&stream); }
};

// Inflates all members. room(produced) gives the memory for what comes next, which must not be empty; returns how much
// came.
template <typename Room>
Result<std::uint64_t> inflate_all(Bytes compressed, std::uint64_t limit, const Room& room_at) {
  Inflate inflater;
  z_stream& stream = inflater.stream;
  std::size_t consumed = 0;
  std::uint64_t produced = 0;
  const auto fail = [&](ErrorCode code, std::string message) {
    return Error{code, std::move(message), {.path = "gzip", .byte_offset = consumed}};
  };
  for (;;) {
    const auto offered = static_cast<uInt>(std::min<std::uint64_t>(compressed.size() - consumed, kMaxZlibChunk));
    const std::span<std::uint8_t> room = room_at(produced);
    stream.next_in = const_cast<Bytef*>(compressed.data() + consumed);  // zlib's own input type is not const
    stream.avail_in = offered;
    stream.next_out = room.data();
    stream.avail_out = static_cast<uInt>(std::min<std::uint64_t>(room.size(), kMaxZlibChunk));
    const uInt offered_room = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    consumed += offered - stream.avail_in;
    produced += offered_room - stream.avail_out;
    if (produced > limit)
      return fail(ErrorCode::kTooLarge, "inflates to more than " + std::to_string(limit) + " bytes");
    if (status == Z_STREAM_END) {
      // Several members, one behind the other, are one file.
      if (!is_gzip(compressed.subspan(consumed))) return produced;
      inflateReset(&stream);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return fail(ErrorCode::kMalformed,
                  std::string("damaged: ") + (stream.msg != nullptr ? stream.msg : "no reason given"));
    } else if (consumed == compressed.size() && stream.avail_out != 0) {
      return fail(ErrorCode::kTruncated, "ends too early");
    }
  }
}

}  // namespace

bool is_gzip(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

// Twice: first to learn the size, so that memory is taken once, and never for a bomb.
Result<std::vector<std::uint8_t>> gunzip(Bytes compressed, std::uint64_t limit) {
  std::vector<std::uint8_t> scratch(kScratch);
  const std::uint64_t size = TRY(inflate_all(compressed, limit, [&](std::uint64_t) { return std::span(scratch); }));
  // One byte more: there has to be room until the end has been read.
  std::vector<std::uint8_t> out(size + 1);
  TRY(inflate_all(compressed, limit, [&](std::uint64_t produced) { return std::span(out).subspan(produced); }));
  out.resize(size);
  return out;
}

}  // namespace sonde::format
