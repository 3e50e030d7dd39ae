// SPDX-License-Identifier: Apache-2.0
#include "cli/hot_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.h"
#include "cli/top_view.h"

namespace sonde::cli {
namespace {

constexpr const char* kKeys = "h hot: CPU, wall, off  q quit";
constexpr std::size_t kLinesAround = 5;  // two lines of heading, those of the tables, the keys

std::string name_of(const arena::Reader& reader, std::uint32_t id) {
  if (id == 0) return "(thread)";
  const arena::MethodEntry* method = reader.find_method(id);
  if (method == nullptr) return "?";
  const arena::ClassEntry* cls = method->class_id == 0 ? nullptr : reader.find_class(method->class_id);
  std::string name(cls != nullptr ? cls->name : method->class_name);
  std::ranges::replace(name, '/', '.');
  if (!name.empty()) name += ".";
  return name + std::string(method->name);
}

}  // namespace

std::string hot_screen(const arena::Reader& reader, arena::SampleTreeKind kind, const Console& console,
                       std::size_t height) {
  const bool is_cpu = kind == arena::SampleTreeKind::kCpu;
  const arena::Reader::Hot hot = reader.hot(kind);
  const std::size_t rows = height > kLinesAround + 2 ? height - kLinesAround : 2;
  std::uint64_t activations = 0;
  for (const arena::HotEntry& edge : hot.edges) activations += edge.samples;

  Table methods({"self", "samples", "hot methods"});
  for (std::size_t i = 0; i < std::min(hot.methods.size(), (rows + 1) / 2); ++i) {
    const arena::HotEntry& entry = hot.methods[i];
    methods.add({fmt::format("{:.1f} %", share_percent(entry.samples, hot.samples)), rounded(entry.samples),
                 name_of(reader, static_cast<std::uint32_t>(entry.key))});
  }
  Table edges({"share", "seen", "hot calls"});
  for (std::size_t i = 0; i < std::min(hot.edges.size(), rows / 2); ++i) {
    const arena::HotEntry& entry = hot.edges[i];
    edges.add({fmt::format("{:.1f} %", share_percent(entry.samples, activations)), rounded(entry.samples),
               name_of(reader, static_cast<std::uint32_t>(entry.key >> 32)) + " -> " +
                   name_of(reader, static_cast<std::uint32_t>(entry.key))});
  }
  Console plain = console;
  plain.has_colours = false;
  const std::string heading = fmt::format("Program   {}\nSampled   {} samples of {}\n", reader.summary().command,
                                          rounded(hot.samples), is_cpu ? "CPU time" : "wall-clock time");
  return fitted(heading + methods.text(plain) + edges.text(plain), console.width, height - 1) +
         fitted(kKeys, console.width, 1);
}

}  // namespace sonde::cli
