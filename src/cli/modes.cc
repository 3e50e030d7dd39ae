// SPDX-License-Identifier: Apache-2.0
#include "cli/modes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace sonde::cli {
namespace {

constexpr std::uint64_t kDefaultCpuNs = 1'000'000;
constexpr std::uint64_t kDefaultWallNs = 10'000'000;
constexpr std::uint64_t kShortestCpuNs = 20'000;  // a signal and its handler take a few microseconds
constexpr std::uint64_t kShortestWallNs = 1'000'000;
constexpr std::uint64_t kLongestNs = 10'000'000'000;

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Result<std::uint64_t> interval_of(const std::string& mode, const std::string& text, std::uint64_t if_empty,
                                  std::uint64_t shortest) {
  if (text.empty()) return if_empty;
  const std::uint64_t ns = parse_duration_ns(text);
  if (ns == 0) return invalid("`" + text + "` is no interval for mode " + mode + "; write 1ms or 500us");
  if (ns < shortest || ns > kLongestNs) {
    return invalid("an interval of " + text + " is out of range for mode " + mode + ": from " +
                   std::to_string(shortest / 1000) + "us to 10s");
  }
  return ns;
}

// Commas are between modes and between the settings of one: what has a `=` belongs to the mode before it.
std::size_t end_of_mode(const std::string& text, std::size_t begin) {
  std::size_t end = std::min(text.find(',', begin), text.size());
  while (end < text.size()) {
    const std::size_t next = std::min(text.find(',', end + 1), text.size());
    const std::string word = text.substr(end + 1, next - end - 1);
    if (word.find('=') == std::string::npos || word.find(':') != std::string::npos) break;
    end = next;
  }
  return end;
}

Result<void> add_mode(Modes& modes, const std::string& word) {
  const std::size_t colon = word.find(':');
  const std::string name = word.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : word.substr(colon + 1);
  if (word == "exact" || word == "exact:flat") {
    modes.exact = true;
    modes.flat = word == "exact:flat";
  } else if (name == "bytecode") {
    modes.bytecode = TRY(parse_bytecode_mode(word));
  } else if (name == "subgraph") {
    modes.subgraph = TRY(parse_subgraph_mode(rest));
  } else if (name == "region") {
    modes.subgraph = TRY(parse_region_mode(rest));
  } else if (name == "cpu") {
    modes.cpu_interval_ns = TRY(interval_of(name, rest, kDefaultCpuNs, kShortestCpuNs));
  } else if (name == "wall") {
    modes.wall_interval_ns = TRY(interval_of(name, rest, kDefaultWallNs, kShortestWallNs));
  } else if (word == "native") {
    modes.native = true;
  } else {
    return invalid("unknown mode `" + word +
                   "`; there are: exact, exact:flat, bytecode, subgraph:root=METHOD, region:METHOD, cpu[:interval], "
                   "wall[:interval], and native for the last two");
  }
  return {};
}

}  // namespace

std::uint64_t parse_duration_ns(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return 0;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  const std::string unit(end);
  const std::uint64_t factor = unit == "s"    ? 1'000'000'000
                               : unit == "ms" ? 1'000'000
                               : unit == "us" ? 1'000
                               : unit == "ns" ? 1
                                              : 0;
  if (errno != 0 || factor == 0 || number > ~0ULL / factor) return 0;
  return number * factor;
}

Result<Modes> parse_modes(const std::string& text) {
  Modes modes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = end_of_mode(text, begin);
    TRY(add_mode(modes, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (modes.subgraph && modes.is_instrumented())
    return invalid("a subgraph or region cannot be measured in the same run as exact or bytecode");
  if (modes.exact && modes.bytecode) return invalid("exact counts everything; leave out bytecode");
  if (modes.native && !modes.is_sampled()) return invalid("native frames belong to samples: write cpu,native");
  return modes;
}

}  // namespace sonde::cli
