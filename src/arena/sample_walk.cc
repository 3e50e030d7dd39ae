// SPDX-License-Identifier: Apache-2.0
// Reader::walk for trees of samples. A node is accepted only below the parent it names; a limit on their number ends
// walks through lists that run in circles.
#include <algorithm>
#include <atomic>
#include <string>
#include <tuple>

#include "arena/counts.h"
#include "arena/reader.h"

namespace sonde::arena {

class SampleWalk {
 public:
  SampleWalk(const Reader& reader, const std::function<void(const SampleContext&)>& visit, Damage& damage)
      : reader_(reader), visit_(visit), damage_(damage) {}

  void run(std::uint64_t root) {
    const auto offset = node_at(root);
    if (!offset) return damage_.add("the root of a tree of samples lies outside what is in use", root);
    pending_.push_back({.depth = 0, .offset = *offset});
    while (!pending_.empty()) {
      const Pending next = pending_.back();
      pending_.pop_back();
      emit(next);
      expand(next);
    }
  }

 private:
  struct Pending {
    std::uint32_t depth;
    std::uint64_t offset;
  };

  [[nodiscard]] const SampleNode& node(std::uint64_t offset) const { return *reader_.at<SampleNode>(offset); }

  [[nodiscard]] std::optional<std::uint64_t> node_at(std::uint64_t address) const {
    const auto offset = reader_.offset_of(address, sizeof(SampleNode));
    return offset && *offset % sizeof(SampleNode) == 0 ? offset : std::nullopt;
  }

  void emit(const Pending& at) {
    const SampleNode& n = node(at.offset);
    const std::uint64_t samples = acquire(n.samples);
    if (at.depth == 0 && samples == 0) return;
    visit_({.depth = at.depth,
            .method_id = n.method_id,
            .method = reader_.find_method(n.method_id),
            .line = n.line,
            .samples = samples,
            .weight_ns = acquire(n.weight_ns),
            .activations = acquire(n.activations),
            .place = static_cast<std::uint32_t>(at.offset / sizeof(SampleNode))});
  }

  // Puts the callees on the stack, the first on top.
  void expand(const Pending& at) {
    callees_.clear();
    const std::uint64_t parent = at.offset + reader_.base_address_;
    for (std::uint64_t child = acquire(node(at.offset).first_child); child != 0;) {
      const auto offset = node_at(child);
      if (!offset || node(*offset).parent != parent) {
        damage_.add("a list of sampled callees leads nowhere", at.offset);
        break;
      }
      if (++nodes_ > reader_.limit() / sizeof(SampleNode) + 1) {  // which grows while the program runs
        damage_.add("a tree of samples has more nodes than the file has room for", at.offset);
        pending_.clear();
        return;
      }
      callees_.push_back({.depth = at.depth + 1, .offset = *offset});
      child = node(*offset).next_sibling;
    }
    const auto key = [&](const Pending& p) {
      return std::tuple(node(p.offset).method_id, node(p.offset).line, p.offset);
    };
    std::sort(callees_.begin(), callees_.end(), [&](const Pending& a, const Pending& b) { return key(a) > key(b); });
    // Its name may have come after the arena was opened; the next look will have it.
    for (const Pending& callee : callees_) {
      if (reader_.is_live() && reader_.find_method(node(callee.offset).method_id) == nullptr) continue;
      pending_.push_back(callee);
    }
  }

  const Reader& reader_;
  const std::function<void(const SampleContext&)>& visit_;
  Damage& damage_;
  std::uint64_t nodes_ = 0;       // so far
  std::vector<Pending> pending_;  // the next one is the last
  std::vector<Pending> callees_;  // of the node in work
};

Reader::Hot Reader::hot(SampleTreeKind kind) const {
  const auto offset = offset_of(acquire(at<ArenaHeader>(0)->sampling.hot), 2 * sizeof(HotTable));
  if (!offset) return {};
  const HotTable& table = *at<HotTable>(*offset + static_cast<std::uint64_t>(kind) * sizeof(HotTable));
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t sequence = acquire(table.sequence);
    Hot hot{.samples = acquire(table.samples), .methods = {}, .edges = {}};
    hot.methods.assign(table.methods, table.methods + std::min(acquire(table.method_count), kHotEntries));
    hot.edges.assign(table.edges, table.edges + std::min(acquire(table.edge_count), kHotEntries));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (sequence % 2 == 0 && acquire(table.sequence) == sequence) return hot;
  }
  return {};
}

std::uint64_t Reader::purges() const { return acquire(at<ArenaHeader>(0)->sampling.purges); }

void Reader::walk(const SampleTreeEntry& tree, const std::function<void(const SampleContext&)>& visit,
                  Damage& damage) const {
  SampleWalk(*this, visit, damage).run(tree.root);
}

}  // namespace sonde::arena
