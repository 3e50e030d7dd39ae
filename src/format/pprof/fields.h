// SPDX-License-Identifier: Apache-2.0
// Field numbers of https://github.com/google/pprof/blob/main/proto/profile.proto.
#pragma once

#include <cstdint>

namespace sonde::format::pprof {

struct ProfileField {
  enum : std::uint32_t {
    kSampleType = 1,
    kSample = 2,
    kLocation = 4,
    kFunction = 5,
    kStringTable = 6,
    kTimeNanos = 9,
    kDurationNanos = 10,
    kComment = 13,
    kDefaultSampleType = 14
  };
};
struct ValueTypeField {
  enum : std::uint32_t { kType = 1, kUnit = 2 };
};
struct SampleField {
  enum : std::uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
};
struct LabelField {
  enum : std::uint32_t { kKey = 1, kStr = 2 };
};
struct LocationField {
  enum : std::uint32_t { kId = 1, kAddress = 3, kLine = 4 };
};
struct LineField {
  enum : std::uint32_t { kFunctionId = 1, kLine = 2 };
};
struct FunctionField {
  enum : std::uint32_t { kId = 1, kName = 2, kSystemName = 3, kFilename = 4, kStartLine = 5 };
};

inline constexpr const char* kThreadLabel = "thread";

}  // namespace sonde::format::pprof
