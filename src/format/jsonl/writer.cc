// SPDX-License-Identifier: Apache-2.0
#include "format/jsonl/writer.h"

#include <string>
#include <vector>

#include "format/json_text.h"
#include "profile/merge.h"
#include "profile/metric.h"

namespace sonde::format::jsonl {

bool write(const profile::Profile& profile, const Sink& sink) {
  const profile::Labels labels(profile, [&](profile::MethodId m) { return json_string(profile.full_name(m)); });
  const std::vector<profile::MetricInfo> types = profile::metrics_of(profile);
  bool is_fine = true;
  std::string line;                     // up to the current frame
  std::vector<std::size_t> frame_ends;  // in `line`, by depth
  std::string tail;
  for (const profile::ThreadGroup& group : profile::threads_by_name(profile.all_threads())) {
    line = "{\"thread\":" + json_string(group.name) + ",\"stack\":[";
    const std::size_t start = line.size();
    frame_ends.clear();
    profile::merge(profile, group.threads, labels, [&](const profile::MergedNode& node) {
      if (!is_fine) return;
      frame_ends.resize(node.depth);
      line.resize(node.depth == 0 ? start : frame_ends.back());
      if (node.depth != 0) line += ',';
      line += labels.text(node.label);
      frame_ends.push_back(line.size());
      if (node.self == profile::Amounts{}) return;
      tail = "]";
      for (const profile::MetricInfo& type : types) {
        tail += ",\"" + std::string(type.name) + "\":" + std::to_string(node.self.of(type.metric));
      }
      tail += "}\n";
      is_fine = sink(line) && sink(tail);
    });
  }
  return is_fine;
}

}  // namespace sonde::format::jsonl
