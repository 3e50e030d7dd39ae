// SPDX-License-Identifier: Apache-2.0
// The types of our chunks, under the names and with the fields that the JDK gives them, as far as readers need them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/jfr/encoder.h"

namespace sonde::format::jfr {

inline constexpr std::uint16_t kMajor = 2;
inline constexpr std::uint16_t kMinor = 1;
inline constexpr std::size_t kHeaderSize = 68;
inline constexpr std::string_view kMagic{"FLR\0", 4};

inline constexpr std::string_view kExecutionSample = "jdk.ExecutionSample";
inline constexpr std::string_view kContextEvent = "sonde.Context";  // exact values of a stack, one field per metric
inline constexpr std::string_view kNoteEvent = "sonde.Note";        // a line about the recording

// Numbers of types in our own files; 0 and 1 are taken by the format.
enum class TypeId : std::uint8_t {
  kMetadata = 0,
  kCheckpoint = 1,
  kBoolean = 4,
  kInt = 10,
  kLong = 11,
  kString = 20,
  kThread,
  kThreadGroup,
  kClass,
  kClassLoader,
  kPackage,
  kSymbol,
  kMethod,
  kStackFrame,
  kStackTrace,
  kFrameType,
  kThreadState,
  kTimestamp,
  kLabel,
  kExecutionSample = 100,
  kContext,
  kNote,
};

// The body of the metadata event: all types, and a field of sonde.Context for each name.
std::string metadata_body(std::uint64_t ticks, std::span<const std::string_view> value_names);

}  // namespace sonde::format::jfr
