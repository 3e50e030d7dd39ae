// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace sonde {
std::string_view name_of(ErrorCode code) {
  switch (code) {
#define SONDE_ERROR(id, name, text, sentence) \
  case ErrorCode::k##name:                    \
    return text;
#include "base/errors.def"
#undef SONDE_ERROR
  }
  return "unknown";
}

Error Error::within(std::string_view outer) && {
  if (where.path.empty()) {
    where.path = outer;
  } else {
    where.path = std::string(outer) + ", " + where.path;
  }
  return std::move(*this);
}

Error Error::shifted(std::uint64_t base) && {
  if (where.byte_offset) *where.byte_offset += base;
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string text;
  if (!where.path.empty()) text += where.path + ": ";
  text += message;
  if (where.byte_offset) text += " (byte " + std::to_string(*where.byte_offset) + ")";
  return text;
}

}  // namespace sonde
