// SPDX-License-Identifier: Apache-2.0
// Reader::walk for trees of a call subgraph. A node is accepted only below the parent it names; a limit on their number
// ends walks through lists that run in circles.
#include <algorithm>

#include "arena/counts.h"
#include "arena/reader.h"

namespace sonde::arena {

class SubgraphWalk {
 public:
  SubgraphWalk(const Reader& reader, const std::function<void(const SubgraphContext&)>& visit, Damage& damage)
      : reader_(reader), visit_(visit), damage_(damage) {}

  void run(std::uint64_t first_root) {
    expand(0, 0, first_root);
    while (!pending_.empty()) {
      const Pending next = pending_.back();
      pending_.pop_back();
      if (!emit(next)) continue;
      expand(next.depth, next.offset + reader_.base_address_, acquire(node(next.offset).first_child));
    }
  }

 private:
  struct Pending {
    std::uint32_t depth;
    std::uint64_t offset;
  };

  [[nodiscard]] const SubgraphNode& node(std::uint64_t offset) const { return *reader_.at<SubgraphNode>(offset); }

  bool emit(const Pending& at) {
    const SubgraphNode& n = node(at.offset);
    const RootTimes* times = nullptr;
    if (at.depth == 1) {
      const auto offset = reader_.offset_of(at.offset + reader_.base_address_ - sizeof(RootTimes), sizeof(RootTimes));
      if (!offset) {
        damage_.add("a root has no times", at.offset);
        return false;
      }
      times = reader_.at<RootTimes>(*offset);
    }
    visit_({.depth = at.depth,
            .method_id = static_cast<std::uint32_t>(n.method_id),
            .method = reader_.find_method(static_cast<std::uint32_t>(n.method_id)),
            .calls = relaxed(n.calls),
            .time_ns = relaxed(n.time_ns),
            .thrown = relaxed(n.thrown),
            .own_ns = relaxed(n.own_ns),
            .bytecodes = relaxed(n.bytecodes),
            .times = times});
    return true;
  }

  // Puts the callees on the stack, the first on top.
  void expand(std::uint32_t depth, std::uint64_t parent, std::uint64_t first) {
    const std::size_t begin = pending_.size();
    for (std::uint64_t child = first; child != 0;) {
      const auto offset = reader_.offset_of(child, sizeof(SubgraphNode));
      if (!offset || node(*offset).parent != parent) {
        damage_.add("a list of callees in the subgraph leads nowhere", parent);
        break;
      }
      if (++nodes_ > reader_.limit() / sizeof(SubgraphNode) + 1) {  // which grows while the program runs
        damage_.add("a tree of the subgraph has more nodes than the file has room for", parent);
        pending_.clear();
        return;
      }
      pending_.push_back({.depth = depth + 1, .offset = *offset});
      child = node(*offset).next_sibling;
    }
    const auto key = [&](const Pending& p) { return std::pair(node(p.offset).method_id, p.offset); };
    std::sort(pending_.begin() + static_cast<std::ptrdiff_t>(begin), pending_.end(),
              [&](const Pending& a, const Pending& b) { return key(a) > key(b); });
  }

  const Reader& reader_;
  const std::function<void(const SubgraphContext&)>& visit_;
  Damage& damage_;
  std::uint64_t nodes_ = 0;       // so far
  std::vector<Pending> pending_;  // the next one is the last
};

void Reader::walk(const SubgraphTreeEntry& tree, const std::function<void(const SubgraphContext&)>& visit,
                  Damage& damage) const {
  SubgraphWalk(*this, visit, damage).run(tree.root);
}

}  // namespace sonde::arena
