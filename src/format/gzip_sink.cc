// SPDX-License-Identifier: Apache-2.0
#include "format/gzip_sink.h"

#include <zlib.h>

#include <utility>
#include <vector>

#include "base/result.h"

namespace sonde::format {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;
constexpr std::size_t kMaxZlibChunk = std::size_t{1} << 30;  // zlib counts available bytes in 32 bits
constexpr int kGzipWindow = MAX_WBITS + 16;
constexpr int kMemoryLevel = 9;

}  // namespace

struct GzipSink::State {
  Sink out;
  z_stream stream = {};
  std::vector<unsigned char> buffer = std::vector<unsigned char>(kPiece);

  bool run(int flush) {
    do {
      stream.next_out = buffer.data();
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, flush);
      const std::size_t made = buffer.size() - stream.avail_out;
      if (made != 0 && !out({reinterpret_cast<const char*>(buffer.data()), made})) return false;
    } while (stream.avail_out == 0);
    return true;
  }
};

GzipSink::GzipSink(Sink out) : state_(new State{std::move(out)}) {
  SONDE_CHECK(deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                           Z_DEFAULT_STRATEGY) == Z_OK);
}

GzipSink::~GzipSink() { deflateEnd(&state_->stream); }

bool GzipSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxZlibChunk);
    state_->stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));  // zlib's input is not const
    state_->stream.avail_in = static_cast<uInt>(part.size());
    if (!state_->run(Z_NO_FLUSH)) return false;
    bytes.remove_prefix(part.size());
  }
  return true;
}

bool GzipSink::finish() { return state_->run(Z_FINISH); }

}  // namespace sonde::format
