// SPDX-License-Identifier: Apache-2.0
#include "format/jsonl/writer.h"

#include <string>
#include <vector>

#include "format/json_text.h"
#include "format/stack_text.h"
#include "profile/merge.h"
#include "profile/metric.h"

namespace sonde::format::jsonl {

bool write(const profile::Profile& profile, const Sink& sink) {
  const profile::Labels labels(profile, [&](profile::MethodId m) { return json_string(profile.full_name(m)); });
  const std::vector<profile::MetricInfo> types = profile::metrics_of(profile);
  bool is_fine = true;
  std::string tail;
  for (const profile::ThreadGroup& group : profile::threads_by_name(profile.all_threads())) {
    StackText stack("{\"thread\":" + json_string(group.name) + ",\"stack\":[");
    profile::merge(profile, group.threads, labels, [&](const profile::MergedNode& node) {
      if (!is_fine) return;
      const std::string& line = stack.at(node.depth, node.depth == 0 ? "" : ",", labels.text(node.label));
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
