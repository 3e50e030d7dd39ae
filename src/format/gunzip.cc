// SPDX-License-Identifier: Apache-2.0
#include "format/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string>

namespace sonde::format {
namespace {

constexpr std::size_t kFirstBuffer = std::size_t{1} << 20;
constexpr std::uint64_t kMaxZlibChunk = std::uint64_t{1} << 30;  // zlib counts available bytes in 32 bits

struct Inflate {
  z_stream stream = {};
  Inflate() { SONDE_CHECK(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK); }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
  ~Inflate() { inflateEnd(&stream); }
};

}  // namespace

bool is_gzip(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

Result<std::vector<std::uint8_t>> gunzip(Bytes compressed, std::uint64_t limit) {
  Inflate inflater;
  z_stream& stream = inflater.stream;
  std::vector<std::uint8_t> out;
  std::size_t consumed = 0;
  std::size_t produced = 0;
  const auto fail = [&](ErrorCode code, std::string message) {
    return Error{code, std::move(message), {.path = "gzip", .byte_offset = consumed}};
  };
  for (;;) {
    if (produced == out.size()) {
      if (produced > limit)
        return fail(ErrorCode::kTooLarge, "inflates to more than " + std::to_string(limit) + " bytes");
      out.resize(std::min<std::uint64_t>(std::max(kFirstBuffer, out.size() * 2), limit + 1));
    }
    const auto offered = static_cast<uInt>(std::min<std::uint64_t>(compressed.size() - consumed, kMaxZlibChunk));
    const auto room = static_cast<uInt>(std::min<std::uint64_t>(out.size() - produced, kMaxZlibChunk));
    stream.next_in = const_cast<Bytef*>(compressed.data() + consumed);  // zlib's own input type is not const
    stream.avail_in = offered;
    stream.next_out = out.data() + produced;
    stream.avail_out = room;
    const int status = inflate(&stream, Z_NO_FLUSH);
    consumed += offered - stream.avail_in;
    produced += room - stream.avail_out;
    if (status == Z_STREAM_END) {
      // Several members, one behind the other, are one file.
      if (!is_gzip(compressed.subspan(consumed))) break;
      inflateReset(&stream);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return fail(ErrorCode::kMalformed,
                  std::string("damaged: ") + (stream.msg != nullptr ? stream.msg : "no reason given"));
    } else if (consumed == compressed.size() && stream.avail_out != 0) {
      return fail(ErrorCode::kTruncated, "ends too early");
    }
  }
  if (produced > limit) return fail(ErrorCode::kTooLarge, "inflates to more than " + std::to_string(limit) + " bytes");
  out.resize(produced);
  return out;
}

}  // namespace sonde::format
