// SPDX-License-Identifier: Apache-2.0
#include "profile/ingest.h"

#include "base/counters.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "base/modified_utf8.h"
#include "profile/ingest_samples.h"

namespace sonde::profile {
namespace {

std::string mode_of(const arena::Summary& summary) {
  std::string mode;
  const auto add = [&](bool is_on, const char* name) {
    if (is_on) mode += (mode.empty() ? "" : ",") + std::string(name);
  };
  add((summary.flags & arena::kSampledOnly) == 0, (summary.flags & arena::kFlat) != 0 ? "exact:flat" : "exact");
  add(summary.sampling.cpu_interval_ns != 0, "cpu");
  add(summary.sampling.wall_interval_ns != 0, "wall");
  return mode;
}

Recording recording_of(const arena::Summary& summary) {
  const auto has = [&](arena::HeaderFlags flag) { return (summary.flags & flag) != 0; };
  Recording recording = {.command = printable(summary.command),
                         .jdk = printable(summary.jdk),
                         .mode = mode_of(summary),
                         .is_live = true,
                         .is_precise = has(arena::kPrecise),
                         .includes_jdk = has(arena::kJdkIncluded),
                         .pid = summary.pid,
                         .start_ns = summary.start_ns,
                         .end_ns = summary.end_ns,
                         .own_cpu_ns = summary.own_cpu_ns,
                         .arena_bytes = summary.used_bytes,
                         .arena_capacity = summary.capacity,
                         .sampling = sampling_of(summary.sampling)};
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
    add_methods();
    std::unordered_map<std::uint32_t, Thread> threads = threads_by_tree();
    for (const arena::TreeEntry& tree : reader_.trees()) {
      add_tree(tree);
      const auto it = threads.find(tree.id);
      profile_.threads.push_back(it != threads.end() ? std::move(it->second) : Thread{.name = "(unnamed)"});
    }
    for (std::uint32_t block = arena::kFirstFlatBlock; block < reader_.flat_blocks_end(); ++block) {
      const auto it = threads.find(block);
      if (it == threads.end() && !names_were_dropped()) continue;  // its record comes in this moment
      add_flat_block(block);
      profile_.threads.push_back(it != threads.end() ? std::move(it->second) : Thread{.name = "(unnamed)"});
    }
    add_samples(reader_, profile_, damage_, threads, [&](const arena::SampleContext& context) {
      return context.depth == 0 ? pseudo_method(std::string(kOverflowName)) : method_of(context);
    });
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

  void add_methods() {
    std::unordered_map<std::uint32_t, ClassId> class_by_id;
    for (const arena::ClassEntry& entry : reader_.classes()) class_by_id.emplace(entry.id, intern_class(entry));
    method_by_entry_.reserve(reader_.methods().size());
    for (const arena::MethodEntry& entry : reader_.methods()) {
      ClassId cls;
      if ((entry.flags & arena::kPseudo) != 0) {
        cls = ClassId(0);
      } else if (entry.class_id == 0) {
        const std::uint16_t flags = is_named_like_jdk(entry.class_name) ? arena::kClassOfJdk : 0;
        cls = intern_class({.id = 0, .flags = flags, .name = entry.class_name, .source_file = {}});
      } else if (const auto it = class_by_id.find(entry.class_id); it != class_by_id.end()) {
        cls = it->second;
      } else if (!names_were_dropped()) {
        damage_.add("method " + std::to_string(entry.id) + " is of no known class", 0);
      }
      method_by_entry_.push_back(intern_method({.cls = cls,
                                                .name = printable(entry.name),
                                                .descriptor = printable(entry.descriptor),
                                                .access_flags = entry.access_flags,
                                                .first_line = entry.first_line,
                                                .kind = kind_of(entry),
                                                .is_untouched = (entry.flags & arena::kUntouched) != 0}));
    }
  }

  ClassId intern_class(const arena::ClassEntry& entry) {
    std::string name = printable(entry.name);
    const auto [it, is_new] = classes_.try_emplace(name, ClassId(static_cast<std::uint32_t>(profile_.classes.size())));
    if (is_new) {
      profile_.classes.push_back({.name = name,
                                  .source_file = printable(entry.source_file),
                                  .is_jdk = (entry.flags & arena::kClassOfJdk) != 0 ||
                                            ((entry.flags & arena::kClassKnownByName) != 0 && is_named_like_jdk(name)),
                                  .is_untouched = (entry.flags & arena::kClassUntouched) != 0});
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

  // The first thread of each tree gives the name, the others are counted.
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

  void add_tree(const arena::TreeEntry& entry) {
    CallTree& tree = profile_.tree;
    tree.push(0, kRootMethod, 0, 0, 0);
    const auto visit = [&](const arena::Context& context) {
      tree.push(context.depth, method_of(context), context.site.line, context.calls, context.bytecodes);
    };
    const arena::Overflow overflow = reader_.walk(entry, visit, damage_);
    if (overflow.calls != 0 || overflow.bytecodes != 0) {
      tree.push(1, pseudo_method(std::string(kOverflowName)), 0, overflow.calls, overflow.bytecodes);
    }
  }

  void add_flat_block(std::uint32_t block) {
    profile_.tree.push(0, kRootMethod, 0, 0, 0);
    const auto visit = [&](const arena::Context& context) {
      profile_.tree.push(1, method_of(context), 0, context.calls, context.bytecodes);
    };
    reader_.visit_flat(block, visit, damage_);
  }

  template <typename Context>
  MethodId method_of(const Context& context) {
    if (context.method != nullptr) {
      return method_by_entry_[static_cast<std::size_t>(context.method - reader_.methods().data())];
    }
    return pseudo_method("[method " + std::to_string(context.method_id) + "]");
  }

  const arena::Reader& reader_;
  arena::Damage damage_;
  Profile profile_;
  std::unordered_map<std::string, ClassId> classes_;
  std::unordered_map<std::string, MethodId> methods_;
  std::vector<MethodId> method_by_entry_;
};

}  // namespace

Result<Profile> ingest(const arena::Reader& reader) { return Ingest(reader).run(); }

}  // namespace sonde::profile
