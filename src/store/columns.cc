// SPDX-License-Identifier: Apache-2.0
#include "store/columns.h"

#include <zstd.h>

#include <string>

namespace sonde::store {
namespace {

constexpr int kLevel = 3;
constexpr std::size_t kMaxVarint = 10;

Error damaged(const std::string& why) { return {ErrorCode::kMalformed, "a column is damaged: " + why}; }

}  // namespace

ColumnEncoder::ColumnEncoder() : context_(ZSTD_createCCtx()) {
  SONDE_CHECK(context_ != nullptr);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

ColumnEncoder::~ColumnEncoder() { ZSTD_freeCCtx(context_); }

Bytes ColumnEncoder::compress(std::size_t slot, Bytes raw) {
  if (slot >= blobs_.size()) blobs_.resize(slot + 1);
  std::vector<std::uint8_t>& blob = blobs_[slot];
  blob.resize(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress2(context_, blob.data(), blob.size(), raw.data(), raw.size());
  SONDE_CHECK(!ZSTD_isError(size));
  blob.resize(size);
  return blob;
}

ColumnDecoder::ColumnDecoder() : context_(ZSTD_createDCtx()) { SONDE_CHECK(context_ != nullptr); }

ColumnDecoder::~ColumnDecoder() { ZSTD_freeDCtx(context_); }

Result<std::span<const std::uint64_t>> ColumnDecoder::decode(Bytes blob, std::size_t count) {
  const unsigned long long raw_size = ZSTD_getFrameContentSize(blob.data(), blob.size());
  if (raw_size == ZSTD_CONTENTSIZE_ERROR || raw_size == ZSTD_CONTENTSIZE_UNKNOWN) return damaged("not a zstd frame");
  if (raw_size > count * kMaxVarint) return damaged("it holds more than " + std::to_string(count) + " numbers");
  raw_.resize(raw_size);
  const std::size_t size = ZSTD_decompressDCtx(context_, raw_.data(), raw_.size(), blob.data(), blob.size());
  if (ZSTD_isError(size)) return damaged(ZSTD_getErrorName(size));
  if (size != raw_size) return damaged("it is shorter than it says");
  values_.resize(count);
  const std::uint8_t* in = raw_.data();
  const std::uint8_t* const end = in + size;
  for (std::uint64_t& value : values_) {
    value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (in == end || shift > 63) return damaged("it ends in the middle of a number");
      value |= std::uint64_t{*in & 0x7fU} << shift;
      if ((*in++ & 0x80) == 0) break;
    }
  }
  if (in != end) return damaged("it holds more than " + std::to_string(count) + " numbers");
  return std::span<const std::uint64_t>(values_);
}

}  // namespace sonde::store
