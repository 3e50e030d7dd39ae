// SPDX-License-Identifier: Apache-2.0
#include "archive/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace sonde::archive {
namespace {

constexpr std::uint64_t kFirstBuffer = 64 * 1024;                // most class files fit, so most entries need one call
constexpr std::uint64_t kMaxZlibChunk = std::uint64_t{1} << 30;  // zlib counts available bytes in 32 bits

// Owns a z_stream and feeds it spans of any length.
class InflateStream {
 public:
  InflateStream(Bytes input, DeflateFormat format) : input_(input) {
    const int window_bits = format == DeflateFormat::kRaw ? -MAX_WBITS : MAX_WBITS;
    SONDE_CHECK(inflateInit2(&stream_, window_bits) == Z_OK);  // fails only without memory or with another zlib
  }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
  ~InflateStream() { inflateEnd(&stream_); }

  // Writes to `output` once; returns zlib's status and advances `produced`.
  int step(std::span<std::uint8_t> output, std::uint64_t& produced) {
    const Bytes rest = input_.subspan(consumed_);
    const auto room = static_cast<uInt>(std::min<std::uint64_t>(output.size(), kMaxZlibChunk));
    stream_.next_in = const_cast<Bytef*>(rest.data());  // zlib's own input type is not const
    stream_.avail_in = static_cast<uInt>(std::min<std::uint64_t>(rest.size(), kMaxZlibChunk));
    stream_.next_out = output.data();
    stream_.avail_out = room;
    const uInt offered = stream_.avail_in;
    // Z_FINISH spares zlib its 32 KiB window when everything fits; if not, it says Z_BUF_ERROR and can be called again.
    const int status = inflate(&stream_, Z_FINISH);
    progressed_ = stream_.avail_in != offered || stream_.avail_out != room;
    consumed_ += offered - stream_.avail_in;
    produced += room - stream_.avail_out;
    return status;
  }

  [[nodiscard]] std::size_t consumed() const { return consumed_; }
  [[nodiscard]] bool progressed() const { return progressed_; }
  [[nodiscard]] std::string reason() const { return stream_.msg != nullptr ? stream_.msg : "no reason given"; }

 private:
  Bytes input_;
  std::size_t consumed_ = 0;
  bool progressed_ = false;
  z_stream stream_ = {};
};

}  // namespace

Result<Bytes> inflate_exactly(Bytes compressed, DeflateFormat format, std::uint64_t size,
                              std::vector<std::uint8_t>& scratch) {
  InflateStream stream(compressed, format);
  const auto fail = [&](ErrorCode code, std::string message) {
    return Error{code, std::move(message), {.path = {}, .byte_offset = stream.consumed()}};
  };
  // One byte more than declared, so that data that goes on is told apart from data that just fits.
  const std::uint64_t enough = size + 1;
  std::uint64_t produced = 0;
  for (;;) {
    if (produced == scratch.size()) {
      const std::uint64_t wanted = std::max<std::uint64_t>(kFirstBuffer, scratch.size() * 2);
      scratch.resize(std::min(wanted, enough));
    }
    const std::uint64_t end = std::min<std::uint64_t>(scratch.size(), enough);
    const int status = stream.step(std::span(scratch).subspan(produced, end - produced), produced);
    if (produced > size) {
      return fail(ErrorCode::kMalformed, "inflates to more than the declared " + std::to_string(size) + " bytes");
    }
    if (status == Z_STREAM_END) break;
    if (status != Z_OK && status != Z_BUF_ERROR) {
      return fail(ErrorCode::kMalformed, "damaged deflate data: " + stream.reason());
    }
    if (!stream.progressed()) return fail(ErrorCode::kTruncated, "deflate data ends too early");
  }
  if (produced != size) {
    return fail(ErrorCode::kMalformed,
                "inflates to " + std::to_string(produced) + " bytes instead of the declared " + std::to_string(size));
  }
  return Bytes(scratch).first(produced);
}

}  // namespace sonde::archive
