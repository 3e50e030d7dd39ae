// SPDX-License-Identifier: Apache-2.0
#include "profile/ingest.h"

#include "base/counters.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/modified_utf8.h"
#include "profile/group_tree.h"
#include "profile/ingest_samples.h"
#include "profile/ingest_subgraph.h"
#include "symbols/library_symbols.h"

namespace sonde::profile {
namespace {

std::string mode_of(const arena::Summary& summary) {
  std::string mode;
  for (const std::string& name : modes_of(summary)) mode += (mode.empty() ? "" : ",") + name;
  return mode;
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += printable(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return lines;
}

Recording recording_of(const arena::Summary& summary) {
  const auto has = [&](arena::HeaderFlags flag) { return (summary.flags & flag) != 0; };
  Recording recording = {.command = printable(summary.command),
                         .jdk = printable(summary.jdk),
                         .mode = mode_of(summary),
                         .is_live = true,
                         .is_precise = has(arena::kPrecise),
                         .includes_jdk = has(arena::kJdkIncluded),
                         .is_attached = has(arena::kAttached),
                         .pid = summary.pid,
                         .start_ns = summary.start_ns,
                         .end_ns = summary.end_ns,
                         .own_cpu_ns = summary.own_cpu_ns,
                         .arena_bytes = summary.used_bytes,
                         .arena_capacity = summary.capacity,
                         .time_sampling = sampling_of(summary.sampling),
                         .subgraph = subgraph_of(summary)};
  if (has(arena::kSampled)) {
    recording.sampling = {.granularity = summary.granularity,
                          .jitter = summary.jitter,
                          .seed = summary.seed,
                          .max_path = summary.max_path,
                          .weights = printable_lines(summary.weights)};
  }
  switch (summary.state) {
    case arena::State::kStarting: recording.state = State::kStarting; break;
    case arena::State::kEnded: recording.state = State::kEnded; break;
    default: recording.state = State::kRunning;
  }
  return recording;
}

MethodKind kind_of(const arena::MethodEntry& entry) {
  if ((entry.flags & arena::kNative) != 0) return MethodKind::kNative;
  if ((entry.flags & arena::kIntrinsic) != 0) return MethodKind::kIntrinsic;
  if ((entry.flags & arena::kPseudo) != 0) return MethodKind::kPseudo;
  return MethodKind::kJava;
}

// For classes of which only the name is known.
bool is_named_like_jdk(std::string_view class_name) {
  constexpr std::string_view packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
  return std::any_of(std::begin(packages), std::end(packages), [&](auto p) { return class_name.starts_with(p); });
}

class Ingest {
 public:
  explicit Ingest(const arena::Reader& reader) : reader_(reader), damage_(reader.damage()) {}

  Result<Profile> run() {
    profile_.recording = recording_of(reader_.summary());
    for (const auto& [id, value] : reader_.counters()) profile_.counters.push_back(counter_value(id, value));
    profile_.recording.known_methods = reader_.methods().size();
    profile_.recording.known_classes = reader_.classes().size();
    method_by_entry_.resize(reader_.methods().size());
    add_trees();
    add_flat_blocks();
    std::unordered_map<std::uint32_t, Thread> threads = threads_by_tree();
    add_samples(reader_, profile_, damage_, threads, [&](const arena::SampleContext& context) {
      return context.depth == 0 ? pseudo_method(std::string(kOverflowName)) : method_of(context);
    });
    add_subgraph(reader_, profile_, damage_, threads,
                 [&](const arena::SubgraphContext& context) { return method_of(context); });
    if (profile_.tree.size() > std::numeric_limits<std::uint32_t>::max()) {
      return Error{ErrorCode::kTooLarge, "more than 4 billion contexts"};
    }
    TRY(profile_.tree.seal());
    TRY(profile_.assign_threads());
    profile_.recording.damage_count = damage_.count();
    profile_.recording.damage_notes = damage_.notes();
    return std::move(profile_);
  }

 private:
  // The arena was full: a counter says so, and a name that is missing is no damage.
  [[nodiscard]] bool names_were_dropped() const {
    return std::ranges::any_of(reader_.counters(), [](const arena::CounterReading& reading) {
      return reading.id == info_of(Counter::kRecordsDropped).id;
    });
  }

  // What only shows when trees are read.
  void add_counter(Counter counter, std::uint64_t value) {
    if (value != 0) profile_.counters.push_back(counter_value(info_of(counter).id, value));
  }

  MethodId add_method(const arena::MethodEntry& entry) {
    if ((entry.flags & arena::kFunction) != 0) return pseudo_method(function_name(entry));
    return intern_method({.cls = class_of(entry),
                          .name = printable(entry.name),
                          .descriptor = printable(entry.descriptor),
                          .access_flags = entry.access_flags,
                          .first_line = entry.first_line,
                          .kind = kind_of(entry)});
  }

  ClassId class_of(const arena::MethodEntry& entry) {
    if ((entry.flags & arena::kPseudo) != 0) return ClassId(0);
    if (entry.class_id == 0) {
      const std::uint16_t flags = is_named_like_jdk(entry.class_name) ? arena::kClassOfJdk : 0;
      return intern_class({.id = 0, .flags = flags, .name = entry.class_name, .source_file = {}});
    }
    if (const arena::ClassEntry* cls = reader_.find_class(entry.class_id)) return intern_class(*cls);
    if (!names_were_dropped()) damage_.add("method " + std::to_string(entry.id) + " is of no known class", 0);
    return ClassId(0);
  }

  // Of "libjvm.so+0x8a3f20".
  std::string function_name(const arena::MethodEntry& entry) {
    std::string recorded = printable(entry.name);
    const std::size_t plus = recorded.rfind("+0x");
    if (plus == std::string::npos) return recorded;
    return symbols_.name_of(printable(entry.descriptor), std::strtoull(recorded.c_str() + plus + 1, nullptr, 16));
  }

  ClassId intern_class(const arena::ClassEntry& entry) {
    std::string name = printable(entry.name);
    const auto [it, is_new] = classes_.try_emplace(name, ClassId(static_cast<std::uint32_t>(profile_.classes.size())));
    if (is_new) {
      profile_.classes.push_back(
          {.name = name,
           .source_file = printable(entry.source_file),
           .is_jdk = (entry.flags & arena::kClassOfJdk) != 0 ||
                     ((entry.flags & arena::kClassKnownByName) != 0 && is_named_like_jdk(name))});
    }
    return it->second;
  }

  MethodId intern_method(Method method) {
    std::string key = std::to_string(method.cls.value()) + "." + method.name + method.descriptor;
    const auto [it, is_new] =
        methods_.try_emplace(std::move(key), MethodId(static_cast<std::uint32_t>(profile_.methods.size())));
    if (is_new) profile_.methods.push_back(std::move(method));
    return it->second;
  }

  MethodId pseudo_method(std::string name) {
    return intern_method({.cls = ClassId(0), .name = std::move(name), .descriptor = "", .kind = MethodKind::kPseudo});
  }

  void add_trees() {
    std::unordered_map<std::uint32_t, Thread> threads = threads_by_tree();
    std::unordered_map<std::uint32_t, std::vector<const arena::TreeEntry*>> members;
    for (const arena::TreeEntry& tree : reader_.trees()) members[tree.group].push_back(&tree);
    for (const arena::TreeEntry* tree : members[0]) {
      const auto it = threads.find(tree->id);
      Thread thread = it != threads.end() ? std::move(it->second) : Thread{.name = "(unnamed)"};
      const auto root = static_cast<std::uint32_t>(profile_.tree.size());
      profile_.tree.push_root();
      if ((tree->flags & arena::kTreeOfGroup) != 0) {
        add_group(*tree, members[tree->id]);
        const std::uint64_t count = reader_.state_of(*tree).threads;
        if (count > 1) thread.more = static_cast<std::uint32_t>(count - 1);
      } else {
        note(reader_.walk(
            *tree, [&](const arena::Context& context) { push(context); }, damage_));
        add_overflow(reader_.overflow_of(tree->id));
      }
      if (is_sampled()) {
        std::uint64_t executed = reader_.executed(*tree);
        for (const arena::TreeEntry* member : members[tree->id]) executed += reader_.executed(*member);
        estimate(root, executed / std::max<std::uint64_t>(reader_.summary().weight_scale, 1));
      }
      profile_.threads.push_back(std::move(thread));
    }
    if (const arena::Overflow overflow = reader_.overflow_of(0); overflow.calls != 0) {
      profile_.tree.push_root();
      add_overflow(overflow);
      profile_.threads.push_back({.name = "(threads without a call tree)"});
    }
    for (const arena::TreeEntry& tree : reader_.trees()) profile_.recording.arena_nodes += reader_.state_of(tree).nodes;
    add_counter(Counter::kThreadsEndedMeanwhile, ended_meanwhile_);
    add_counter(Counter::kContextsCut, cut_contexts_);
    add_counter(Counter::kRecursionFolded, folded_sites_);
    std::ranges::sort(profile_.counters, {}, &CounterValue::id);
  }

  [[nodiscard]] bool is_sampled() const { return (reader_.summary().flags & arena::kSampled) != 0; }

  // The first thread of each tree or block gives the name, the others are counted.
  std::unordered_map<std::uint32_t, Thread> threads_by_tree() {
    std::unordered_map<std::uint32_t, Thread> threads;
    for (const arena::ThreadEntry& entry : reader_.threads()) {
      const auto [it, is_new] = threads.try_emplace(entry.tree_id);
      if (!is_new) {
        ++it->second.more;
        continue;
      }
      it->second = {.name = entry.name.empty() ? "(unnamed)" : printable(entry.name),
                    .is_virtual = entry.is_virtual,
                    .java_thread_id = entry.java_thread_id,
                    .start_ns = entry.start_ns};
    }
    return threads;
  }

  // Threads that end while we look may be missing. None is there twice, since their counts are moved to the group, and
  // that was looked at first.
  void add_group(const arena::TreeEntry& group, const std::vector<const arena::TreeEntry*>& members) {
    GroupTree tree;
    std::vector<arena::Context> contexts;
    const auto collect = [&](const arena::Context& context) { contexts.push_back(context); };
    const std::uint64_t moves = reader_.state_of(group).moves;
    note(reader_.walk(group, collect, damage_));
    tree.add(contexts);
    arena::Overflow overflow = reader_.overflow_of(group.id);
    for (const arena::TreeEntry* member : members) {
      contexts.clear();
      const arena::TreeSummary summary = reader_.walk(*member, collect, damage_);
      const bool is_right = summary.walked == arena::Walked::kWhole ||
                            (summary.walked == arena::Walked::kEnding && reader_.state_of(group).moves == moves);
      note(summary);
      if (is_right) tree.add(contexts);
      if (!is_right) ++ended_meanwhile_;
      const arena::Overflow of_member = reader_.overflow_of(member->id);
      overflow.calls += of_member.calls;
      overflow.bytecodes += of_member.bytecodes;
    }
    tree.visit([&](const arena::Context& context) { push(context); });
    add_overflow(overflow);
  }

  void note(const arena::TreeSummary& summary) {
    folded_sites_ += summary.folded_sites;
    cut_contexts_ += summary.cut_contexts;
  }

  // What came as bytecodes of the tree from `root` on are samples. What its threads executed is known exactly, and each
  // context gets its share by samples, rounded so that they add up to it.
  void estimate(std::uint32_t root, std::uint64_t executed) {
    CallTree& tree = profile_.tree;
    std::vector<std::uint64_t>& bytecodes = tree.column(Metric::kBytecodes);
    std::vector<std::uint64_t>& samples = tree.column(Metric::kSamples);
    for (std::size_t node = root; node < tree.size(); ++node) samples[node] = std::exchange(bytecodes[node], 0);
    const std::uint64_t all = std::accumulate(samples.begin() + root, samples.end(), std::uint64_t{0});
    if (all == 0) {
      if (executed != 0) tree.push(1, pseudo_method(std::string(kUnsampledName)), 0, {{Metric::kBytecodes, executed}});
      return;
    }
    const auto rest = static_cast<long double>(executed % all) / static_cast<long double>(all);
    std::uint64_t seen = 0;
    std::uint64_t given = 0;
    for (std::size_t node = root; node < tree.size(); ++node) {
      seen += samples[node];
      const std::uint64_t due =
          seen == all ? executed
                      : seen * (executed / all) + static_cast<std::uint64_t>(rest * static_cast<long double>(seen));
      bytecodes[node] = due - given;
      given = due;
    }
  }

  void push(const arena::Context& context) {
    profile_.tree.push(context.depth, method_of(context), context.site.line, counted(context));
  }

  void add_overflow(const arena::Overflow& overflow) {
    if (overflow.calls == 0 && overflow.bytecodes == 0) return;
    profile_.tree.push(1, pseudo_method(std::string(kOverflowName)), 0, counted(overflow));
  }

  template <typename Counts>
  static Amounts counted(const Counts& counts) {
    return {{Metric::kCalls, counts.calls}, {Metric::kBytecodes, counts.bytecodes}};
  }

  void add_flat_blocks() {
    std::unordered_map<std::uint32_t, Thread> threads = threads_by_tree();
    for (std::uint32_t block = arena::kFirstFlatBlock; block < reader_.flat_blocks_end(); ++block) {
      const auto it = threads.find(block);
      if (it == threads.end() && !names_were_dropped()) continue;  // its record comes in this moment
      add_flat_block(block);
      profile_.threads.push_back(it != threads.end() ? std::move(it->second) : Thread{.name = "(unnamed)"});
    }
  }

  void add_flat_block(std::uint32_t block) {
    profile_.tree.push_root();
    const auto visit = [&](const arena::Context& context) {
      profile_.tree.push(1, method_of(context), 0, counted(context));
    };
    reader_.visit_flat(block, visit, damage_);
  }

  template <typename Context>
  MethodId method_of(const Context& context) {
    if (context.method != nullptr) {
      std::optional<MethodId>& method =
          method_by_entry_[static_cast<std::size_t>(context.method - reader_.methods().data())];
      if (!method) method = add_method(*context.method);
      return *method;
    }
    if (context.method_id == arena::kDeeperId) return pseudo_method(std::string(kDeeperName));
    return pseudo_method("[method " + std::to_string(context.method_id) + "]");
  }

  symbols::LibrarySymbols symbols_;
  const arena::Reader& reader_;
  arena::Damage damage_;
  Profile profile_;
  std::uint64_t ended_meanwhile_ = 0;
  std::unordered_map<std::string, ClassId> classes_;
  std::unordered_map<std::string, MethodId> methods_;
  std::vector<std::optional<MethodId>> method_by_entry_;  // of the reader; those that were met
  std::uint64_t folded_sites_ = 0;
  std::uint64_t cut_contexts_ = 0;
};

}  // namespace

std::vector<std::string> modes_of(const arena::Summary& summary) {
  std::vector<std::string> modes;
  const auto add = [&](bool is_on, const char* name) {
    if (is_on) modes.emplace_back(name);
  };
  const bool is_flat = (summary.flags & arena::kFlat) != 0;
  const bool is_sampled = (summary.flags & arena::kSampled) != 0;
  const bool is_region = summary.subgraph.scheme == arena::SubgraphScheme::kRegion;
  add((summary.flags & arena::kSubgraph) != 0, is_region ? "region" : "subgraph");
  add((summary.flags & arena::kTimeOnly) == 0, is_sampled ? "bytecode" : is_flat ? "exact:flat" : "exact");
  add(summary.sampling.cpu_interval_ns != 0, "cpu");
  add(summary.sampling.wall_interval_ns != 0, "wall");
  return modes;
}

Result<Profile> ingest(const arena::Reader& reader) {
  constexpr int kAttempts = 4;
  for (int attempt = 1;; ++attempt) {
    const std::uint64_t purges = reader.purges();
    auto profile = Ingest(reader).run();
    if (attempt == kAttempts || (purges % 2 == 0 && reader.purges() == purges)) return profile;
  }
}

}  // namespace sonde::profile
