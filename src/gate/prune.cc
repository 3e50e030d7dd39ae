// SPDX-License-Identifier: Apache-2.0
#include "gate/prune.h"

#include <algorithm>

#include "base/glob.h"
#include "base/method_filter.h"
#include "profile/sums.h"

namespace sonde::gate {

using profile::Profile;

Profile without(const Profile& profile, std::span<const Allowed> allowed) {
  std::vector<bool> is_left_out(profile.methods.size());
  for (std::size_t i = 1; i < profile.methods.size(); ++i) {
    const profile::Method& method = profile.methods[i];
    is_left_out[i] = std::any_of(allowed.begin(), allowed.end(), [&](const Allowed& a) {
      return !a.method.empty() && method_matches(a.method, profile.class_of(method).name, method.name);
    });
  }
  const auto is_thread_left_out = [&](const profile::Thread& thread) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const Allowed& a) {
      return !a.thread.empty() && class_name_matches(a.thread, thread.name);
    });
  };
  Profile result;
  result.recording = profile.recording;
  result.classes = profile.classes;
  result.methods = profile.methods;
  result.counters = profile.counters;
  const profile::CallTree& tree = profile.tree;
  for (const profile::Thread& thread : profile.threads) {
    if (is_thread_left_out(thread)) continue;
    result.threads.push_back(thread);
    for (std::uint32_t node = thread.first_node; node < thread.end_node;) {
      if (is_left_out[tree.method[node].value()]) {
        node = tree.end_of(node);
        continue;
      }
      result.tree.push(tree.depth[node], tree.method[node], tree.line[node], tree.amounts_of(node));
      ++node;
    }
  }
  result.tree.seal().value();  // what is left of a tree is one
  result.assign_threads().value();
  return result;
}

}  // namespace sonde::gate
