// SPDX-License-Identifier: Apache-2.0
#include "format/collapsed/writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "profile/merge.h"

namespace sonde::format::collapsed {
namespace {

std::string frame_text(std::string name) {
  std::replace(name.begin(), name.end(), ';', '_');
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

// Spaces may stay: readers look for the last one.
std::string thread_text(std::string name) {
  std::replace(name.begin(), name.end(), ';', '_');
  return name;
}

}  // namespace

bool write(const profile::Profile& profile, profile::Metric metric, const Sink& sink) {
  const profile::Labels labels(profile, [&](profile::MethodId m) { return frame_text(profile.display_name(m)); });
  bool is_fine = true;
  std::string line;                     // up to the current frame
  std::vector<std::size_t> frame_ends;  // in `line`, by depth
  for (const profile::ThreadGroup& group : profile::threads_by_name(profile.all_threads())) {
    line = thread_text(group.name);
    const std::size_t start = line.size();
    frame_ends.clear();
    profile::merge(profile, group.threads, labels, [&](const profile::MergedNode& node) {
      if (!is_fine) return;
      frame_ends.resize(node.depth);
      line.resize(node.depth == 0 ? start : frame_ends.back());
      line += ';';
      line += labels.text(node.label);
      frame_ends.push_back(line.size());
      const std::uint64_t value = node.self.of(metric);
      if (value != 0) is_fine = sink(line) && sink(" " + std::to_string(value) + "\n");
    });
  }
  return is_fine;
}

}  // namespace sonde::format::collapsed
