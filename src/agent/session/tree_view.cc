// SPDX-License-Identifier: Apache-2.0
#include "agent/session/tree_view.h"

#include <algorithm>

#include "agent/session/nowhere.h"
#include "arena/layout.h"

namespace sonde::agent {
namespace {

// Aligned words do not tear; acquire pairs with the release stores of SondeRT.
template <typename T>
T acquire(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
}

}  // namespace

std::vector<TreeView::Callee> TreeView::callees(std::uint64_t tree, std::uint64_t node) const {
  if (node == 0) node = at<arena::TreeHeader>(tree)->root;
  const auto* caller = at<arena::Node>(node);
  const auto* method = names_.find(static_cast<std::uint32_t>(caller->method_id));
  const auto line_of = [&](std::uint64_t site) {
    const std::uint64_t index = (site - node - sizeof(arena::Node)) / sizeof(arena::CallSite);
    return method != nullptr && index < method->lines.size() ? method->lines[index] : std::uint16_t{0};
  };
  std::vector<Callee> found;
  for (std::uint32_t i = 0; i < caller->site_count; ++i) {
    const std::uint64_t site = node + sizeof(arena::Node) + i * sizeof(arena::CallSite);
    add(site, line_of(site), found);
  }
  const std::size_t extras = found.size();
  for (std::uint64_t e = acquire(caller->extras); e != 0; e = at<arena::ExtraCallSite>(e)->next)
    add(e, line_of(at<arena::ExtraCallSite>(e)->of), found);
  // The list has the newest first.
  std::reverse(found.begin() + static_cast<std::ptrdiff_t>(extras), found.end());
  return found;
}

void TreeView::add(std::uint64_t record, std::uint16_t line, std::vector<Callee>& callees) const {
  const auto* site = at<arena::CallSite>(record);
  const auto method_id = static_cast<std::uint32_t>(acquire(site->method_id));
  const MethodNames::Method* method = method_id == 0 ? nullptr : names_.find(method_id);
  if (method == nullptr) return;
  std::uint64_t node = 0;
  std::uint64_t calls = acquire(site->child);
  std::uint64_t bytecodes = acquire(site->bytecodes);
  if (!method->has_no_node) {
    if (bytecodes == arena::kFolded || bytecodes == arena::kCut) return;  // its node hangs elsewhere
    node = calls;
    bytecodes = acquire(at<arena::Node>(node)->bytecodes);
    calls = acquire(at<arena::Node>(node)->calls);
  }
  callees.push_back({.record = record,
                     .node = node,
                     .method_id = method_id,
                     .line = line,
                     .calls = calls,
                     .bytecodes = bytecodes + calls * method->constant_bytecodes});
}

std::uint64_t TreeView::node_of(std::uint64_t site) const {
  const auto* record = at<arena::CallSite>(site);
  if (record->node_offset == 0) return node_of(at<arena::ExtraCallSite>(site)->of);
  return site - static_cast<std::uint64_t>(record->node_offset);
}

std::vector<std::uint64_t> TreeView::path_to(std::uint64_t tree, std::uint64_t site) const {
  const std::uint64_t overflow = at<arena::TreeHeader>(tree)->overflow;
  if (site < kNowhereSize || (overflow != 0 && site >= overflow && site < overflow + kSink)) return {};
  std::vector<std::uint64_t> path;
  for (std::uint64_t node = node_of(site);;) {
    const std::uint64_t record = at<arena::Node>(node)->parent_site;
    if (record == 0) break;
    path.push_back(record);
    node = node_of(record);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace sonde::agent
