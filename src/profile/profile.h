// SPDX-License-Identifier: Apache-2.0
// A recording as the host sees it: what was recorded, the methods and threads in it, and the call tree.
// Plain values; the same whether it came from a live arena or from a finished file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters.h"
#include "profile/call_tree.h"

namespace sonde::profile {

using ClassId = Id<struct ClassTag, std::uint32_t>;  // index into Profile::classes

enum class State : std::uint8_t {
  kStarting,
  kRunning,  // not ended when it was read: running still, or killed
  kEnded,    // the JVM ended in good order and everything is written
};

// How a recording was sampled (docs/user/bytecode.md).
struct Sampling {
  std::uint64_t granularity = 0;  // 0: it was not, everything was counted
  std::uint64_t jitter = 0;
  std::uint64_t seed = 0;
  std::uint64_t max_path = 0;
  std::string weights;  // what each bytecode counted (docs/reference/weights.md); "": one

  [[nodiscard]] bool is_on() const { return granularity != 0; }
};

// How time was sampled; as arena::SamplingInfo has it. All zero: nothing was sampled.
struct TimeSampling {
  std::uint64_t cpu_interval_ns = 0;
  std::uint64_t wall_interval_ns = 0;
  std::string cpu_clock;  // "perf", "perf-user", "perf-trap", "perf-user-trap", "thread-timer"
  std::string walker;     // "vmstructs", "asyncgetcalltrace"
  std::uint64_t cpu_samples = 0;
  std::uint64_t cpu_counts_squared = 0;  // 0: not known
  std::uint64_t wall_samples = 0;
  std::uint64_t failed_samples = 0;
  std::uint64_t thread_cpu_ns = 0;  // of the threads that were sampled
  std::uint64_t handler_ns = 0;
  std::uint64_t handler_p50_ns = 0;
  std::uint64_t handler_p99_ns = 0;
  std::uint64_t decoder_cpu_ns = 0;
  std::uint64_t memory_bytes = 0;

  [[nodiscard]] bool is_on() const { return cpu_interval_ns != 0 || wall_interval_ns != 0; }
};

// Modes subgraph and region, as arena::SubgraphInfo has it. All empty: neither.
struct Subgraph {
  std::string scheme;  // "lazy", "eager", "region"
  std::string time;    // "wall", "cpu", "off"
  // What a call costs: the part that was measured as the callee's time, and the part measured as its caller's. Both
  // are taken off already. Picoseconds.
  std::uint64_t inner_ps = 0;
  std::uint64_t outer_ps = 0;
  std::uint64_t inner_error_ps = 0;
  std::uint64_t outer_error_ps = 0;
  std::uint64_t methods = 0;   // instrumented
  std::uint64_t followed = 0;  // only to find what they call
  std::uint64_t classes = 0;
  std::uint64_t batches = 0;
  std::uint64_t batch_ns = 0;
  std::uint64_t batch_p99_ns = 0;
  std::uint64_t batch_max_ns = 0;
  std::uint64_t paused_ns = 0;  // the part of batch_ns during which the program stood still
  std::uint64_t paused_p99_ns = 0;
  std::uint64_t paused_max_ns = 0;
  std::uint64_t waited_ns = 0;

  [[nodiscard]] bool is_on() const { return !scheme.empty(); }
};

// Calls of a root from outside the subgraph, on all threads.
struct RootCalls {
  MethodId method;
  std::uint64_t calls = 0;
  std::uint64_t exceptions = 0;
  std::uint64_t timed = 0;  // calls that ended: those in what follows
  std::uint64_t time_ns = 0;
  std::uint64_t least_ns = 0;
  std::uint64_t most_ns = 0;
  std::uint64_t all_bare = 0;  // calls before anything below was instrumented; they are in none of the others
  std::uint64_t bare = 0;      // those since what had been changed was compiled again
  std::uint64_t bare_ns = 0;
  std::uint64_t bare_error_ns = 0;     // of bare_ns, by chance
  std::uint64_t cost_percent = 100;    // what a call below it costs, of what was calibrated: as bare calls say
  std::vector<std::uint64_t> buckets;  // by arena::bucket_of
  struct Call {
    std::uint64_t start_ns;
    std::uint64_t time_ns;
    bool operator==(const Call&) const = default;
  };
  std::vector<Call> last;  // the latest 64, by start

  // The time that this part of the calls does not exceed, up to the width of a bucket.
  [[nodiscard]] std::uint64_t time_at(double part) const;
};

// Samples of one node in one stretch of time.
struct TimelineEntry {
  std::uint32_t bucket;  // of kBucketNs, from the start of the recording
  std::uint32_t node;
  std::uint32_t samples;
};
inline constexpr std::uint64_t kBucketNs = 20'000'000;

struct Recording {
  std::string command;  // main class and arguments
  std::string jdk;
  std::string mode;  // "exact", "exact:flat", "bytecode", "cpu", "exact,cpu,wall" …
  Sampling sampling = {};
  State state = State::kStarting;
  bool is_live = false;       // read from the arena, not from a finished file
  bool is_precise = false;    // bytecodes are exact under exceptions
  bool includes_jdk = false;  // classes of the JDK are counted
  bool is_attached = false;   // the JVM ran already when it began
  std::uint32_t pid = 0;
  std::uint64_t start_ns = 0;  // since 1970
  std::uint64_t end_ns = 0;    // 0 unless it ended in good order
  std::uint64_t own_cpu_ns = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t arena_nodes = 0;  // what it has memory for: a context has a node in each tree it is in
  std::uint64_t arena_capacity = 0;
  std::uint64_t known_methods = 0;  // whether or not they were called; 0: only those that were are known
  std::uint64_t known_classes = 0;
  std::uint64_t damage_count = 0;  // places in the arena that made no sense and were left out
  std::vector<std::string> damage_notes;
  TimeSampling time_sampling;
  Subgraph subgraph;

  // Calls or bytecodes are, not time alone.
  [[nodiscard]] bool is_counted() const { return mode.starts_with("exact") || mode.starts_with("bytecode"); }
  // Counts per method and thread; every context is one method.
  [[nodiscard]] bool is_flat() const { return mode.starts_with("exact:flat"); }
};

struct Class {
  std::string name;         // "java/util/HashMap"
  std::string source_file;  // "HashMap.java", "" if unknown
  bool is_jdk = false;
};

enum class MethodKind : std::uint8_t {
  kJava,
  kNative,     // counted where it is called, has no bytecodes
  kIntrinsic,  // the same: the JIT compiler may replace it
  kPseudo,     // not a method: the root of a thread, contexts that found no room
};

// Classes of the same name from several loaders are one class here, so a name and descriptor stand for one method.
struct Method {
  ClassId cls;
  std::string name;
  std::string descriptor;
  std::uint16_t access_flags = 0;
  std::uint16_t first_line = 0;
  MethodKind kind = MethodKind::kJava;
};

inline constexpr MethodId kRootMethod{0};  // of every depth-0 node; Profile::methods starts with it
inline constexpr std::string_view kOverflowName = "[overflow]";
// The frame below which everything deeper than --max-depth is.
inline constexpr std::string_view kDeeperName = "[deeper]";
// What threads of a sampled recording executed that were never sampled.
inline constexpr std::string_view kUnsampledName = "[no sample]";

// One call tree: a thread, or several that used it one after the other.
struct Thread {
  std::string name;  // of the first
  std::uint32_t more = 0;
  bool is_virtual = false;
  std::uint64_t java_thread_id = 0;
  std::uint64_t start_ns = 0;
  std::uint32_t first_node = 0;  // its root
  std::uint32_t end_node = 0;
  std::string state;  // that its wall-clock samples were taken in: "running", "parked" …; "" for other trees

  [[nodiscard]] std::string display_name() const;  // "main", "worker-1 (and 3 more)"
};

struct CounterValue {
  std::uint16_t id;
  std::uint64_t value;
  std::string name;
  Severity severity;
  std::string sentence;
};
// With the name and sentence of counters.def; of ids that it does not know, a number and a guess.
CounterValue counter_value(std::uint16_t id, std::uint64_t value);

struct Profile {
  Recording recording;
  std::vector<Class> classes;   // [0] is the class of pseudo methods, without a name
  std::vector<Method> methods;  // [0] is kRootMethod
  std::vector<Thread> threads;
  std::vector<CounterValue> counters;  // those that are not 0, by id
  CallTree tree;
  std::vector<TimelineEntry> timeline;  // by bucket, then node
  std::vector<RootCalls> roots;         // of modes subgraph and region

  Profile();

  [[nodiscard]] const Method& method(MethodId id) const { return methods[id.value()]; }
  [[nodiscard]] const Class& class_of(const Method& method) const { return classes[method.cls.value()]; }
  [[nodiscard]] const Class& class_of(MethodId id) const { return class_of(method(id)); }

  // "java/util/Map.get(Ljava/lang/Object;)Ljava/lang/Object;": unique, as exports write it.
  [[nodiscard]] std::string full_name(MethodId id) const;
  // "java.util.Map.get": as reports print it; overloads look alike.
  [[nodiscard]] std::string display_name(MethodId id) const;

  [[nodiscard]] std::vector<const Thread*> all_threads() const;

  // Sets the ranges of threads from the depth-0 nodes of the tree, which must be as many.
  Result<void> assign_threads();
};

// "(Object, int[])" of "(Ljava/lang/Object;[I)V"; what is no descriptor comes back as it is.
std::string parameter_list(std::string_view descriptor);
std::string with_dots(std::string_view internal_name);
// "java.util" of "java/util/Map", "" for the unnamed package.
std::string package_of(std::string_view internal_name);

}  // namespace sonde::profile
