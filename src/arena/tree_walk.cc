// SPDX-License-Identifier: Apache-2.0
// Reader::walk. A node is accepted only if it names the very record that led to it as its parent_site, and an
// ExtraCallSite only if it belongs to the node whose list it is in. Each node can thus be reached in one way, and no
// cycle can be, whatever the bytes are. Structures that overlap could still make the walk long: their number ends it.
//
// A member tree may be given to another thread while it is walked. Its lease then differs afterwards, and what was
// visited, or found damaged, meant nothing.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

#include "arena/counts.h"
#include "arena/reader.h"

namespace sonde::arena {
namespace {

struct Counts {
  std::uint64_t calls;
  std::uint64_t bytecodes;
};

// The move that is under way to a group, if there is one (see arena::Move).
class PendingMove {
 public:
  explicit PendingMove(const Move* move) : move_(move) {
    if (move == nullptr) return;
    const std::uint64_t sequence = acquire(move->sequence);
    source_ = acquire(move->source);
    target_ = acquire(move->target);
    counts_ = {.calls = acquire(move->calls), .bytecodes = acquire(move->bytecodes)};
    if (sequence % 2 == 1 && acquire(move->sequence) == sequence) sequence_ = sequence;
  }

  // The counts of a record that says `counts` of itself.
  [[nodiscard]] Counts correct(std::uint64_t record, Counts counts) const {
    if (sequence_ == 0 || (record != source_ && record != target_)) return counts;
    if (acquire(move_->sequence) != sequence_) return counts;
    return record == target_ ? counts_ : Counts{};
  }

 private:
  const Move* move_;
  std::uint64_t sequence_ = 0;  // 0: there is none
  std::uint64_t source_ = 0;
  std::uint64_t target_ = 0;
  Counts counts_ = {};
};

}  // namespace

class TreeWalk {
 public:
  TreeWalk(const Reader& reader, std::uint64_t depth_limit, const std::function<void(const Context&)>& visit,
           Damage& damage, const Move* move)
      : reader_(reader), depth_limit_(depth_limit), visit_(visit), damage_(damage), move_(move) {}

  void run(std::uint64_t root_address) {
    const auto root = reader_.offset_of(root_address, sizeof(Node));
    if (!root) return damage_.add("a root node lies outside what is in use", root_address);
    expand(*root, nullptr, 0);
    while (!pending_.empty()) {
      const Callee callee = pending_.back();
      pending_.pop_back();
      if (callee.is_cut) ++summary_.cut_contexts;
      if (callee.node == 0) {
        emit(callee, callee.counts);
      } else {
        visit_node(callee);
      }
    }
  }

  [[nodiscard]] const TreeSummary& summary() const { return summary_; }

 private:
  // A callee at a call site: what its record says, and what was found out about it.
  struct Callee {
    std::uint32_t depth;
    std::uint32_t method_id;
    const MethodEntry* method;
    std::uint32_t site_index;
    SiteInfo site;
    Counts counts;       // of its CallSite; calls are the address of its node, if it has one
    std::uint64_t node;  // offset, 0 if it has none
    bool is_cut = false;
  };

  // Of a Node or CallSite. In this order: a correction is stored after the call it corrects was counted.
  [[nodiscard]] Counts counts_at(std::uint64_t offset) const {
    static_assert(offsetof(Node, calls) == offsetof(CallSite, child));
    static_assert(offsetof(Node, bytecodes) == offsetof(CallSite, bytecodes));
    const auto* record = reader_.at<CallSite>(offset);
    const std::uint64_t bytecodes = acquire(record->bytecodes);
    return move_.correct(reader_.base_address_ + offset, {.calls = relaxed(record->child), .bytecodes = bytecodes});
  }

  void emit(const Callee& callee, Counts counts) {
    std::uint64_t bytecodes = bytecodes_of(callee.method, counts.calls, counts.bytecodes);
    if (static_cast<std::int64_t>(bytecodes) < 0) {
      damage_.add("method " + std::to_string(callee.method_id) + " has a negative count of bytecodes", callee.node);
      bytecodes = 0;
    }
    visit_({.depth = callee.depth,
            .method_id = callee.method_id,
            .method = callee.method,
            .site_index = callee.site_index,
            .site = callee.site,
            .calls = counts.calls,
            .bytecodes = bytecodes});
  }

  void visit_node(const Callee& callee) {
    emit(callee, counts_at(callee.node));
    expand(callee.node, callee.method, callee.depth);
  }

  // Puts the callees of a node on the stack, the first on top. `method` is null for the root.
  void expand(std::uint64_t offset, const MethodEntry* method, std::uint32_t depth) {
    const auto* node = reader_.at<Node>(offset);
    const std::uint32_t site_count = relaxed(node->site_count);
    if (reader_.limit() - offset < node_size(site_count)) {
      return damage_.add("a node has " + std::to_string(site_count) + " call sites, more than there is room for",
                         offset);
    }
    if (!spend(site_count, offset)) return;
    callees_.clear();
    const std::uint64_t sites = offset + sizeof(Node);
    for (std::uint32_t i = 0; i < site_count; ++i) add_callee(sites + i * sizeof(CallSite), i, method, depth + 1);
    if (const std::uint64_t extras = acquire(node->extras); extras != 0) {
      add_extras(extras, sites, site_count, method, depth + 1);
      std::stable_sort(callees_.begin(), callees_.end(),
                       [](const Callee& a, const Callee& b) { return a.site_index < b.site_index; });
      if (depth != 0) put_under_natives();
    }
    if (depth_limit_ != 0 && relaxed(node->depth) >= depth_limit_) put_deeper(depth, relaxed(node->depth));
    pending_.insert(pending_.end(), callees_.rbegin(), callees_.rend());
  }

  // Callees of a node at the limit hang below a mark. Nodes among them have leaves, which belong beside them.
  void put_deeper(std::uint32_t depth_shown, std::uint64_t depth) {
    const bool at_limit = depth == depth_limit_;
    for (Callee& callee : callees_) {
      callee.depth = at_limit ? depth_shown + 2 : depth_shown;
      callee.site = {};
      callee.is_cut = true;
    }
    if (!at_limit || callees_.empty()) return;
    callees_.insert(callees_.begin(), Callee{.depth = depth_shown + 1,
                                             .method_id = kDeeperId,
                                             .method = nullptr,
                                             .site_index = 0,
                                             .site = {},
                                             .counts = {},
                                             .node = 0});
  }

  void add_callee(std::uint64_t record, std::uint32_t site_index, const MethodEntry* caller, std::uint32_t depth) {
    const auto* site = reader_.at<CallSite>(record);
    const auto method_id = static_cast<std::uint32_t>(acquire(site->method_id));
    if (method_id == 0) return;
    const MethodEntry* method = reader_.find_method(method_id);
    // Loaded since the arena was opened; the next look will have it.
    if (method == nullptr && reader_.is_live()) return;
    const Counts counts = counts_at(record);
    Callee callee = {.depth = depth,
                     .method_id = method_id,
                     .method = method,
                     .site_index = site_index,
                     .site = caller != nullptr ? caller->site(site_index) : SiteInfo{},
                     .counts = counts,
                     .node = 0};
    if (method == nullptr || !method->has_no_node()) {
      if (method != nullptr && (counts.bytecodes == kFolded || counts.bytecodes == kCut)) {
        if (counts.bytecodes == kFolded) ++summary_.folded_sites;
        return;
      }
      switch (node_at(counts.calls, record, method_id, callee.node)) {
        case Found::kNode: break;
        case Found::kUnfinished: return;
        case Found::kNothing:
          // Without a record it may be a leaf, and the value its calls. An address is no number of calls.
          if (method == nullptr && !reader_.offset_of(counts.calls, sizeof(Node))) break;
          return damage_.add("a call site of method " + std::to_string(method_id) + " leads to no node of it", record);
      }
    }
    callees_.push_back(callee);
  }

  void add_extras(std::uint64_t first, std::uint64_t sites, std::uint32_t site_count, const MethodEntry* caller,
                  std::uint32_t depth) {
    const std::size_t begin = callees_.size();
    std::uint64_t address = first;
    std::uint64_t tortoise = 0;  // Brent's way to notice that a list runs in a circle
    std::uint64_t steps = 0;
    std::uint64_t next_mark = 1;
    while (address != 0) {
      const auto offset = reader_.offset_of(address, sizeof(ExtraCallSite));
      if (!offset || address == tortoise) {
        damage_.add("a list of call sites leads nowhere", sites);
        break;
      }
      if (!spend(1, *offset)) break;
      if (++steps == next_mark) {
        tortoise = address;
        next_mark *= 2;
      }
      const auto* extra = reader_.at<ExtraCallSite>(*offset);
      const std::uint64_t at_site = extra->of - reader_.base_address_ - sites;
      if (at_site >= std::uint64_t{site_count} * sizeof(CallSite) || at_site % sizeof(CallSite) != 0) {
        damage_.add("a further call site belongs to another node", *offset);
        break;
      }
      add_callee(*offset, static_cast<std::uint32_t>(at_site / sizeof(CallSite)), caller, depth);
      address = extra->next;
    }
    // The list has the newest first.
    std::reverse(callees_.begin() + static_cast<std::ptrdiff_t>(begin), callees_.end());
  }

  // Callees of a site that also calls a native method were called by that method.
  void put_under_natives() {
    for (std::size_t begin = 0, end = 0; begin < callees_.size(); begin = end) {
      end = begin + 1;
      while (end < callees_.size() && callees_[end].site_index == callees_[begin].site_index) ++end;
      if (end - begin > 1) put_under_native(begin, end);
    }
  }

  void put_under_native(std::size_t begin, std::size_t end) {
    const auto at = [&](std::size_t i) { return callees_.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto is_opaque = [](const Callee& c) { return c.method != nullptr && c.method->is_opaque(); };
    const auto found = std::find_if(at(begin), at(end), is_opaque);
    if (found == at(end)) return;
    const MethodEntry& native = *found->method;
    const auto is_initialiser = [&](const Callee& c) {
      return c.method != nullptr && c.method->name == "<clinit>" && (native.flags & kIntrinsic) != 0;
    };
    const auto is_sibling = [&](const Callee& c) {
      if (c.method == nullptr) return false;
      return is_opaque(c) || is_initialiser(c) ||
             (c.method->name == native.name && c.method->descriptor == native.descriptor);
    };
    // Siblings first, the native method as the last of them, then what it called.
    std::rotate(found, found + 1, at(end));
    const auto last = at(end - 1);
    const auto called = std::stable_partition(at(begin), last, is_sibling);
    for (auto it = at(begin); it != called; ++it) {
      if (is_initialiser(*it)) it->site = {};
    }
    for (auto it = called; it != last; ++it) {
      ++it->depth;
      it->site = {};
    }
    std::rotate(called, last, at(end));
  }

  enum class Found { kNode, kUnfinished, kNothing };

  Found node_at(std::uint64_t address, std::uint64_t record, std::uint32_t method_id, std::uint64_t& offset) const {
    const auto found = reader_.offset_of(address, sizeof(Node));
    if (!found) return Found::kNothing;
    const auto* node = reader_.at<Node>(*found);
    const std::uint64_t parent = acquire(node->parent_site);
    if (static_cast<std::uint32_t>(relaxed(node->method_id)) != method_id) return Found::kNothing;
    if (parent == 0) return Found::kUnfinished;  // published in this very moment; nothing was counted in it yet
    if (parent - reader_.base_address_ != record) return Found::kNothing;
    offset = *found;
    return Found::kNode;
  }

  bool spend(std::uint64_t records, std::uint64_t offset) {
    if (is_over_) return false;
    sites_ += records;
    if (sites_ <= reader_.limit() / sizeof(CallSite) + 1) return true;  // that grows while the program runs
    damage_.add("the call tree has more call sites than the file has room for", offset);
    is_over_ = true;
    pending_.clear();
    return false;
  }

  const Reader& reader_;
  const std::uint64_t depth_limit_;
  const std::function<void(const Context&)>& visit_;
  Damage& damage_;
  const PendingMove move_;
  std::uint64_t sites_ = 0;  // so far
  bool is_over_ = false;
  std::vector<Callee> pending_;  // the next one is the last
  std::vector<Callee> callees_;  // of the node in work
  TreeSummary summary_;
};

TreeSummary Reader::walk(const TreeEntry& tree, const std::function<void(const Context&)>& visit,
                         Damage& damage) const {
  const auto header_of = [&](const TreeEntry* entry) -> const TreeHeader* {
    const auto offset = entry != nullptr ? offset_of(entry->address, sizeof(TreeHeader)) : std::nullopt;
    return offset ? at<TreeHeader>(*offset) : nullptr;
  };
  const TreeHeader* header = header_of(&tree);
  if (header == nullptr) {
    damage.add("tree " + std::to_string(tree.id) + " lies outside what is in use", tree.address);
    return {};
  }
  if (tree.group == 0) {
    TreeWalk walk(*this, header->depth_limit, visit, damage,
                  (tree.flags & kTreeOfGroup) != 0 ? &header->move : nullptr);
    walk.run(tree.root);
    return walk.summary();
  }
  const std::uint64_t lease = acquire(header->lease);
  if (lease % 4 == kTreeFree) return {};
  const TreeHeader* group = header_of(find_tree(tree.group));
  Damage found;
  TreeWalk walk(*this, header->depth_limit, visit, found, group != nullptr ? &group->move : nullptr);
  walk.run(tree.root);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (relaxed(header->lease) != lease) return {.walked = Walked::kGone};
  damage.add(found);
  TreeSummary summary = walk.summary();
  if (lease % 4 == kTreeEnding) summary.walked = Walked::kEnding;
  return summary;
}

}  // namespace sonde::arena
