// SPDX-License-Identifier: Apache-2.0
#include "profile/sums.h"

#include <unordered_map>

#include "base/mix.h"
#include "base/numbering.h"

namespace sonde::profile {
namespace {

constexpr std::uint32_t kNoKey = ~std::uint32_t{0};

// Adds up the nodes of some threads by a key that each of them has.
class Summation {
 public:
  explicit Summation(const CallTree& tree) : tree_(tree), totals_(tree) {}

  // key_of(node, parent) is a number or kNoKey; parent is the node's caller. sum_at(key) is the Sum that is added to.
  template <typename KeyOf, typename SumAt>
  void run(std::span<const Thread* const> threads, const KeyOf& key_of, const SumAt& sum_at) {
    for (const Thread* thread : threads) {
      for (std::uint32_t node = thread->first_node; node < thread->end_node; ++node) {
        while (path_.size() > tree_.depth[node]) leave();
        const std::uint32_t parent = path_.empty() ? node : path_.back().node;
        const std::uint32_t key = key_of(node, parent);
        path_.push_back({.node = node, .key = key});
        if (key == kNoKey) continue;
        if (key >= open_.size()) open_.resize(key + 1);
        Sum& sum = sum_at(key);
        sum.self += tree_.amounts_of(node);
        if (node < tree_.activations.size()) sum.visits += tree_.activations[node];
        if (open_[key]++ == 0) sum.total += totals_.of(node);
      }
      while (!path_.empty()) leave();
    }
  }

 private:
  struct Open {
    std::uint32_t node;
    std::uint32_t key;
  };

  void leave() {
    if (path_.back().key != kNoKey) --open_[path_.back().key];
    path_.pop_back();
  }

  const CallTree& tree_;
  const Totals totals_;
  std::vector<std::uint32_t> open_;  // by key: how many nodes of it lie on the path
  std::vector<Open> path_;
};

// Numbers for texts, in the order of their first use.
class Keys {
 public:
  std::uint32_t key_of(const std::string& name) {
    const auto [it, is_new] = keys_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return it->second;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::unordered_map<std::string, std::uint32_t> keys_;
  std::vector<std::string> names_;
};

// What occurs: a thing without a single call in these threads is no row.
std::vector<SumRow> rows_that_occur(std::vector<SumRow> rows, const std::vector<bool>& occurs) {
  std::vector<SumRow> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (occurs[i]) result.push_back(std::move(rows[i]));
  }
  return result;
}

std::vector<SumRow> by_name(const Profile& profile, std::span<const Thread* const> threads, Grouping grouping) {
  const auto count = static_cast<std::uint32_t>(profile.methods.size());
  Keys keys;
  std::vector<std::uint32_t> key_of_method(count, kNoKey);
  std::vector<SumRow> rows;
  for (std::uint32_t i = 1; i < count; ++i) {
    const MethodId id(i);
    if (grouping == Grouping::kMethod) {
      key_of_method[i] = static_cast<std::uint32_t>(rows.size());
      rows.push_back({.name = profile.display_name(id), .method = id, .sum = {}});
      continue;
    }
    key_of_method[i] = keys.key_of(name_in(profile, id, grouping));
    if (key_of_method[i] == rows.size()) rows.push_back({.name = keys.names().back(), .method = id, .sum = {}});
  }
  std::vector<bool> occurs(rows.size());
  const auto key_of = [&](std::uint32_t node, std::uint32_t) {
    const std::uint32_t key = key_of_method[profile.tree.method[node].value()];
    if (key != kNoKey) occurs[key] = true;
    return key;
  };
  Summation(profile.tree).run(threads, key_of, [&](std::uint32_t key) -> Sum& { return rows[key].sum; });
  return rows_that_occur(std::move(rows), occurs);
}

// One row for each name_of(thread).
template <typename NameOf>
std::vector<SumRow> by_thread(const Profile& profile, std::span<const Thread* const> threads, const NameOf& name_of) {
  Keys keys;
  std::vector<SumRow> rows;
  for (const Thread* thread : threads) {
    const std::string name = name_of(*thread);
    if (name.empty()) continue;
    const std::uint32_t key = keys.key_of(name);
    if (key == rows.size()) rows.push_back({.name = name, .method = kRootMethod, .sum = {}});
    const Thread* one[] = {thread};
    const Amounts sum = sum_of(profile, one);
    rows[key].sum.self += sum;
    rows[key].sum.total += sum;
  }
  return rows;
}

// A line, or a line and a method called there.
struct Place {
  std::uint32_t caller;
  std::uint32_t callee;  // kNoKey for a line
  std::uint16_t line;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  std::uint64_t operator()(const Place& place) const {
    return mixed(place.caller * 0x9e3779b97f4a7c15ULL + (std::uint64_t{place.callee} << 16 | place.line));
  }
};

std::vector<SumRow> by_place(const Profile& profile, std::span<const Thread* const> threads, Grouping grouping) {
  const CallTree& tree = profile.tree;
  const bool is_callsite = grouping == Grouping::kCallsite;
  Numbering<Place, PlaceHash> places;
  std::vector<SumRow> rows;
  rows.reserve(tree.size());  // there may be as many places as contexts, and copying rows is what takes time then
  const auto key_of = [&](std::uint32_t node, std::uint32_t parent) {
    if (tree.depth[node] < 2) return kNoKey;
    const MethodId caller = tree.method[parent];
    const MethodId callee = tree.method[node];
    const auto [key, is_new] = places.number_of(
        {.caller = caller.value(), .callee = is_callsite ? callee.value() : kNoKey, .line = tree.line[node]});
    if (is_new) rows.push_back({.method = is_callsite ? callee : caller, .caller = caller, .line = tree.line[node]});
    return key;
  };
  Summation(tree).run(threads, key_of, [&](std::uint32_t key) -> Sum& { return rows[key].sum; });
  return rows;
}

}  // namespace

std::string name_in(const Profile& profile, MethodId id, Grouping grouping) {
  const Class& cls = profile.class_of(id);
  if (grouping == Grouping::kMethod) return profile.full_name(id);
  if (profile.method(id).kind == MethodKind::kPseudo) return profile.display_name(id);
  if (grouping == Grouping::kClass) return with_dots(cls.name);
  const std::string package = package_of(cls.name);
  return package.empty() ? "(unnamed package)" : package;
}

std::unordered_set<std::string> accepted_names(const Profile& profile, const MethodFilter& filter, Grouping grouping) {
  std::unordered_set<std::string> names;
  for (std::uint32_t i = 1; i < profile.methods.size(); ++i) {
    const Method& method = profile.methods[i];
    if (!filter.accepts(profile.class_of(method).name, method.name)) continue;
    names.insert(name_in(profile, MethodId(i), grouping));
  }
  return names;
}

std::vector<Sum> sums_by_method(const Profile& profile) {
  std::vector<Sum> sums(profile.methods.size());
  const auto key_of = [&](std::uint32_t node, std::uint32_t) { return profile.tree.method[node].value(); };
  Summation(profile.tree).run(profile.all_threads(), key_of, [&](std::uint32_t key) -> Sum& { return sums[key]; });
  return sums;
}

std::vector<SumRow> sums_by(const Profile& profile, std::span<const Thread* const> threads, Grouping grouping) {
  switch (grouping) {
    case Grouping::kThread:
      return by_thread(profile, threads, [](const Thread& thread) { return thread.display_name(); });
    case Grouping::kState:
      return by_thread(profile, threads, [](const Thread& thread) {
        return thread.state.empty() ? std::string() : thread.display_name() + ": " + thread.state;
      });
    case Grouping::kLine:
    case Grouping::kCallsite: return by_place(profile, threads, grouping);
    default: return by_name(profile, threads, grouping);
  }
}

Amounts sum_of(const Profile& profile, std::span<const Thread* const> threads) {
  Amounts sum;
  for (const Thread* thread : threads) {
    for (std::uint32_t node = thread->first_node; node < thread->end_node; ++node) {
      sum += profile.tree.amounts_of(node);
    }
  }
  return sum;
}

}  // namespace sonde::profile
