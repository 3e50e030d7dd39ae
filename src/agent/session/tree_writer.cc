// SPDX-License-Identifier: Apache-2.0
#include "agent/session/tree_writer.h"

namespace sonde::agent {

using arena::CallSite;
using arena::ExtraCallSite;
using arena::Node;

namespace {

template <typename T>
void publish(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}

}  // namespace

CallSite* TreeWriter::find_or_add(Node& caller, std::uint32_t site_index, std::int32_t method_id,
                                  std::uint32_t site_count) {
  CallSite& site = sites_of(caller)[site_index];
  if (site.method_id == method_id) return &site;
  CallSite* found = site.method_id != 0 ? extras_.at(&site, method_id) : nullptr;
  return found != nullptr ? found : add(caller, site, method_id, site_count);
}

// As SondeTree does it: filled first, published last.
CallSite* TreeWriter::add(Node& caller, CallSite& site, std::int32_t method_id, std::uint32_t site_count) {
  const bool is_taken = site.method_id != 0;
  const std::uint64_t size = site_count != kNoNode ? arena::node_size(site_count) : 0;
  auto* memory = static_cast<std::uint8_t*>(allocate(size + (is_taken ? sizeof(ExtraCallSite) : 0)));
  if (memory == nullptr) return nullptr;
  auto* extra = is_taken ? reinterpret_cast<ExtraCallSite*>(memory + size) : nullptr;
  CallSite* record = is_taken ? &extra->site : &site;
  if (site_count != kNoNode) {
    auto* node = reinterpret_cast<Node*>(memory);
    node->method_id = method_id;
    node->site_count = site_count;
    node->depth = caller.depth + 1;
    for (std::uint32_t i = 0; i < site_count; ++i) {
      sites_of(*node)[i].node_offset = static_cast<std::int32_t>(sizeof(Node) + i * sizeof(CallSite));
    }
    node->parent_site = arena_.address(record);
    record->child = arena_.address(node);
  }
  ++tree_.nodes;
  if (is_taken) {
    record->method_id = method_id;
    extra->next = caller.extras;
    extra->of = arena_.address(&site);
    ++caller.extra_count;  // SondeTree may go on with this tree
    publish(caller.extras, arena_.address(extra));
    extras_.at(&site, method_id) = record;
  } else {
    publish(record->method_id, method_id);
  }
  return record;
}

// Zeroed memory in the tree's chunk.
void* TreeWriter::allocate(std::uint64_t size) {
  if (tree_.next + size > tree_.end && !grow_(static_cast<std::uint32_t>(size))) return nullptr;
  void* memory = arena_.pointer(tree_.next);
  tree_.next += size;
  return memory;
}

}  // namespace sonde::agent
