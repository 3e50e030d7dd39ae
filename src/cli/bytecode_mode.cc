// SPDX-License-Identifier: Apache-2.0
#include "cli/bytecode_mode.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

namespace sonde::cli {
namespace {

constexpr std::string_view kName = "bytecode";
constexpr std::uint64_t kMost = 1'000'000'000'000;  // bytecodes; no program does more in an hour

constexpr std::string_view kContexts[] = {"auto", "shadow", "jvm", "hash", "jvm-trap", "hash-trap"};

struct Setting {
  std::string_view name;
  std::uint64_t BytecodeMode::*value;
  std::uint64_t least;
  std::uint64_t most;
};
constexpr Setting kSettings[] = {
    {"granularity", &BytecodeMode::granularity, 10, kMost},
    {"jitter", &BytecodeMode::jitter, 0, kMost},
    {"seed", &BytecodeMode::seed, 0, INT64_MAX},
    {"maxpath", &BytecodeMode::max_path, 0, 16'000},
};

Result<void> set(BytecodeMode& mode, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view digits = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (name == "context") {
    if (std::ranges::find(kContexts, digits) == std::end(kContexts))
      return Error{ErrorCode::kInvalidArgument,
                   "context is auto, shadow, jvm, hash, jvm-trap or hash-trap, not `" + std::string(digits) + "`"};
    mode.context = digits;
    return {};
  }
  for (const Setting& setting : kSettings) {
    if (setting.name != name) continue;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (!is_number || value < setting.least || value > setting.most) {
      return Error{ErrorCode::kInvalidArgument,
                   std::string(name) + " is a number from " + std::to_string(setting.least) + " to " +
                       std::to_string(setting.most) + ", not `" + std::string(digits) + "`"};
    }
    mode.*setting.value = value;
    return {};
  }
  return Error{ErrorCode::kInvalidArgument, "`" + std::string(name) + "` is no setting of mode bytecode; there are " +
                                                "granularity, jitter, seed, maxpath and context"};
}

}  // namespace

bool is_bytecode_mode(std::string_view mode) { return mode.substr(0, mode.find(':')) == kName; }

Result<BytecodeMode> parse_bytecode_mode(std::string_view mode) {
  BytecodeMode result;
  const std::size_t colon = mode.find(':');
  if (colon == std::string_view::npos) return result;
  for (std::string_view rest = mode.substr(colon + 1); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    TRY(set(result, rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return result;
}

}  // namespace sonde::cli
