// SPDX-License-Identifier: Apache-2.0
#include "format/collapsed/writer.h"

#include <algorithm>
#include <string>

#include "format/stack_text.h"
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
  for (const profile::ThreadGroup& group : profile::threads_by_name(profile.all_threads())) {
    StackText stack(thread_text(group.name));
    profile::merge(profile, group.threads, labels, [&](const profile::MergedNode& node) {
      if (!is_fine) return;
      const std::string& line = stack.at(node.depth, ";", labels.text(node.label));
      const std::uint64_t value = node.self.of(metric);
      if (value != 0) is_fine = sink(line) && sink(" " + std::to_string(value) + "\n");
    });
  }
  return is_fine;
}

}  // namespace sonde::format::collapsed
