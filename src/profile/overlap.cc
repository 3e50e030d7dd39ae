// SPDX-License-Identifier: Apache-2.0
#include "profile/overlap.h"

#include <algorithm>
#include <vector>

#include "profile/path_hash.h"

namespace sonde::profile {
namespace {

__extension__ using Wide = unsigned __int128;

struct ContextValue {
  std::uint64_t path;
  std::uint64_t value;
};

std::vector<bool> hidden_methods(const Profile& profile, const MethodFilter& filter) {
  std::vector<bool> hidden(profile.methods.size());
  if (filter.accepts_everything()) return hidden;
  for (std::uint32_t i = 1; i < profile.methods.size(); ++i) {
    const Method& method = profile.methods[i];
    hidden[i] = !filter.accepts(profile.class_of(method).name, method.name);
  }
  return hidden;
}

// One value per path, in the order of paths; no zeros.
std::vector<ContextValue> contexts_of(const Measured& measured, const OverlapOptions& options) {
  const CallTree& tree = measured.profile.tree;
  const std::vector<bool> hidden = hidden_methods(measured.profile, options.filter);
  const PathHasher hasher(measured.profile);
  std::vector<ContextValue> contexts;
  std::vector<std::uint64_t> path;  // by depth
  for (const Thread& thread : measured.profile.threads) {
    const std::uint64_t root = options.by_thread ? path_hash(kRootPathHash, thread.name) : kRootPathHash;
    path.assign(1, root);
    for (std::uint32_t node = thread.first_node + 1; node < thread.end_node; ++node) {
      path.resize(tree.depth[node]);
      const bool is_hidden = hidden[tree.method[node].value()];
      path.push_back(is_hidden ? path.back() : hasher.extended(path.back(), tree.method[node]));
      const std::uint64_t value = is_hidden ? 0 : tree.value(measured.metric, node);
      if (value != 0) contexts.push_back({.path = path.back(), .value = value});
    }
  }
  std::sort(contexts.begin(), contexts.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  std::size_t count = 0;
  for (const ContextValue& context : contexts) {
    if (count != 0 && contexts[count - 1].path == context.path) {
      contexts[count - 1].value += context.value;
    } else {
      contexts[count++] = context;
    }
  }
  contexts.resize(count);
  return contexts;
}

Overlap::Side side_of(const std::vector<ContextValue>& contexts) {
  Overlap::Side side{.sum = 0, .contexts = contexts.size()};
  for (const ContextValue& context : contexts) side.sum += context.value;
  return side;
}

}  // namespace

Overlap overlap(const Measured& a, const Measured& b, const OverlapOptions& options) {
  const std::vector<ContextValue> in_a = contexts_of(a, options);
  const std::vector<ContextValue> in_b = contexts_of(b, options);
  Overlap result{.a = side_of(in_a), .b = side_of(in_b)};
  // With x/A and y/B as shares, min(x/A, y/B) = min(xB, yA)/AB: integers, so that the order of addition does not
  // matter and equal profiles overlap by 100 percent and not by 99.999.
  Wide common = 0;
  auto y = in_b.begin();
  for (const ContextValue& x : in_a) {
    while (y != in_b.end() && y->path < x.path) ++y;
    if (y == in_b.end()) break;
    if (y->path != x.path) continue;
    common += std::min(Wide{x.value} * result.b.sum, Wide{y->value} * result.a.sum);
    ++result.common_contexts;
  }
  const Wide whole = Wide{result.a.sum} * result.b.sum;
  if (whole != 0)
    result.percent = static_cast<double>(100 * (static_cast<long double>(common) / static_cast<long double>(whole)));
  return result;
}

}  // namespace sonde::profile
