// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <algorithm>
#include <string>

namespace sonde {

Error ByteReader::truncated(std::string_view what) const {
  return {ErrorCode::kTruncated,
          "ends in the middle of " + std::string(what) + ", " + std::to_string(end_ - begin_) + " bytes in all",
          {.path = {}, .byte_offset = overrun_at_}};
}

void ByteWriter::grow(std::size_t n) {
  const std::size_t capacity = std::max<std::size_t>(256, (size_ + n + kSlack) * 2);
  std::unique_ptr<std::uint8_t[]> data(new std::uint8_t[capacity]);
  if (size_ != 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = capacity;
}

}  // namespace sonde
