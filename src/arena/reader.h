// SPDX-License-Identifier: Apache-2.0
// Context: [host]. The reading side of an arena: a file that a JVM is writing, has finished, or left behind when it was
// killed. Nothing in it is believed: every offset is checked before it is followed, and what does not hold is left out
// and noted as damage, so that one bad byte costs a branch of a call tree and not the recording.
//
// Views (names, call sites) borrow the mapped bytes and live as long as the Reader. The tables are those of the moment
// of opening; call trees are read when they are walked and may be newer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arena/layout.h"
#include "base/bytes.h"
#include "base/mapped_file.h"
#include "base/result.h"

namespace sonde::arena {

// What was left out because it made no sense: how often, and the first few cases with their byte offsets.
class Damage {
 public:
  static constexpr std::size_t kMaxNotes = 16;

  void add(std::string_view what, std::uint64_t offset);
  void add(const Damage& more);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::uint64_t count_ = 0;
  std::vector<std::string> notes_;
};

struct Summary {
  State state;
  std::uint32_t flags;  // HeaderFlags
  std::uint32_t pid;
  std::uint64_t start_ns;
  std::uint64_t end_ns;  // 0: it did not end in good order, or has not ended yet
  std::uint64_t own_cpu_ns;
  std::uint64_t capacity;
  std::uint64_t used_bytes;   // with the header and the flat region
  std::uint64_t granularity;  // this and the next three: only if flags say kSampled
  std::uint64_t jitter;
  std::uint64_t seed;
  std::uint64_t max_path;
  std::uint64_t weight_scale;
  std::string_view weights;  // text; "": each bytecode counts as one
  std::string_view jdk;
  std::string_view command;
  SamplingInfo sampling;
  SubgraphInfo subgraph;
};

struct CounterReading {
  std::uint16_t id;
  std::uint64_t value;
};

struct ClassEntry {
  std::uint32_t id;
  std::uint16_t flags;  // ClassFlags
  std::string_view name;
  std::string_view source_file;
};

struct MethodEntry {
  std::uint32_t id;
  std::uint32_t class_id;  // 0: class_name says it
  std::uint16_t access_flags;
  std::uint16_t flags;  // MethodFlags
  std::uint32_t constant_bytecodes;
  std::uint16_t first_line;
  std::string_view name;
  std::string_view descriptor;
  std::string_view class_name;  // only if class_id is 0
  Bytes sites;                  // SiteInfo, packed

  // True if callers keep its counts in their CallSite.
  [[nodiscard]] bool has_no_node() const { return (flags & (kLeaf | kNative | kIntrinsic)) != 0; }
  [[nodiscard]] bool is_opaque() const { return (flags & (kNative | kIntrinsic)) != 0; }
  [[nodiscard]] SiteInfo site(std::size_t index) const;  // zeros if there is none
};

struct TreeEntry {
  std::uint32_t id;
  std::uint32_t flags;    // TreeFlags
  std::uint32_t group;    // the id of the tree it is a member of; 0 if it is none
  std::uint64_t address;  // of its TreeHeader
  std::uint64_t root;     // of its root Node
};

// What a tree says of itself at the moment.
struct TreeState {
  std::uint64_t nodes;    // that it has memory for
  std::uint64_t threads;  // of a group: how many there were
  std::uint64_t moves;    // of a group: changes while counts are moved to it
};

// What became of a tree while it was walked.
enum class Walked : std::uint8_t {
  kWhole,
  kEnding,  // counts are being moved to its group: right only if TreeState::moves is still as it was before both walks
  kGone,    // its thread has ended: what was visited means nothing
};

struct ThreadEntry {
  std::uint32_t tree_id;
  bool is_virtual;
  std::uint64_t java_thread_id;
  std::uint64_t start_ns;
  std::string_view name;
};

// A node of a call tree, or a callee that has no node of its own.
struct Context {
  std::uint32_t depth;  // 1 for what the thread itself started
  std::uint32_t method_id;
  const MethodEntry* method;  // null if the arena has no record of it
  std::uint32_t site_index;   // in the caller
  SiteInfo site;
  std::uint64_t calls;
  std::uint64_t bytecodes;  // complete: constants of single-path methods are added. Of a sampled tree: samples
};

struct SampleTreeEntry {
  std::uint32_t id;
  SampleTreeKind kind;
  ThreadState state;
  std::uint64_t root;  // address of its root SampleNode
};

// A node of a tree of samples.
struct SampleContext {
  std::uint32_t depth;  // 1 for what the thread itself started; 0: samples that found no room
  std::uint32_t method_id;
  const MethodEntry* method;  // null if the arena has no record of it
  std::uint16_t line;         // of the call, in the caller
  std::uint64_t samples;
  std::uint64_t weight_ns;
  std::uint64_t activations;
  std::uint32_t place;  // in the file, as TimelineEntry::node names it
};

struct SubgraphTreeEntry {
  std::uint32_t id;
  std::uint64_t threads;  // that have had it
  std::uint64_t nodes;
  std::uint64_t lost;  // calls without a context
  std::uint64_t root;  // address of its first root node
};

// A node of the call tree of a subgraph. Times have those of what it calls in them.
struct SubgraphContext {
  std::uint32_t depth;  // 1 for a root that was called from outside
  std::uint32_t method_id;
  const MethodEntry* method;  // null if the arena has no record of it
  std::uint64_t calls;
  std::uint64_t time_ns;
  std::uint64_t thrown;
  std::uint64_t own_ns;
  std::uint64_t bytecodes;
  const RootTimes* times;  // at depth 1
};

// Context::method_id of what stands for "all that is deeper than --max-depth": it has no counts of its own, only
// callees.
inline constexpr std::uint32_t kDeeperId = 0xfffffffe;

// What there is to say of a tree that was walked, beside its contexts.
struct TreeSummary {
  Walked walked = Walked::kWhole;
  std::uint64_t folded_sites = 0;  // call sites whose callee goes on with a node on its path
  std::uint64_t cut_contexts = 0;  // those below kDeeperId
};

// Counted without a context since the arena was full.
struct Overflow {
  std::uint64_t calls = 0;
  std::uint64_t bytecodes = 0;
};

class Reader {
 public:
  static Result<Reader> open(const std::filesystem::path& file);
  // The bytes must be aligned to 8 and outlive the Reader.
  static Result<Reader> over(Bytes bytes);

  [[nodiscard]] const Summary& summary() const { return summary_; }
  [[nodiscard]] const std::vector<CounterReading>& counters() const { return counters_; }  // those that are not 0
  [[nodiscard]] const std::vector<ClassEntry>& classes() const { return classes_; }        // by id
  [[nodiscard]] const std::vector<MethodEntry>& methods() const { return methods_; }       // by id
  [[nodiscard]] const std::vector<TreeEntry>& trees() const { return trees_; }             // by id
  [[nodiscard]] const std::vector<ThreadEntry>& threads() const { return threads_; }       // in order of their start
  // The hottest methods and edges so far, at most kHotEntries each; empty if nothing was sampled. Good at any moment of
  // a running recording, without walking a tree.
  struct Hot {
    std::uint64_t samples = 0;
    std::vector<HotEntry> methods;
    std::vector<HotEntry> edges;
  };
  [[nodiscard]] Hot hot(SampleTreeKind kind) const;

  // Changes when contexts of samples are purged, and is odd meanwhile: what was walked then has to be walked again.
  [[nodiscard]] std::uint64_t purges() const;
  [[nodiscard]] const std::vector<SampleTreeEntry>& sample_trees() const { return sample_trees_; }  // by id
  [[nodiscard]] const std::vector<TimelineEntry>& timeline() const { return timeline_; }  // in the order of decoding
  [[nodiscard]] const std::vector<SubgraphTreeEntry>& subgraph_trees() const { return subgraph_trees_; }  // by id
  // Null if there is none.
  [[nodiscard]] const ClassEntry* find_class(std::uint32_t id) const;
  [[nodiscard]] const MethodEntry* find_method(std::uint32_t id) const;
  [[nodiscard]] const TreeEntry* find_tree(std::uint32_t id) const;

  // Damage met while opening.
  [[nodiscard]] const Damage& damage() const { return damage_; }

  // All contexts of a tree in preorder: a caller before its callees, call sites in the order of the code. Callees of a
  // site that a native or intrinsic method is called at are taken for called by it, unless they have its name and
  // descriptor: then the site is a virtual call with several targets. A class initialiser at the site of an intrinsic
  // was run by the caller, when that was over. Depth is limited by memory only.
  // A group must be walked before its members: then nothing is visited twice, even if threads end meanwhile.
  TreeSummary walk(const TreeEntry& tree, const std::function<void(const Context&)>& visit, Damage& damage) const;
  [[nodiscard]] TreeState state_of(const TreeEntry& tree) const;
  // Tree 0: of threads that have none.
  [[nodiscard]] Overflow overflow_of(std::uint32_t tree_id) const;
  // The same for a tree of samples; callees of one caller by method and line.
  void walk(const SampleTreeEntry& tree, const std::function<void(const SampleContext&)>& visit, Damage& damage) const;
  // And of a subgraph; callees of one caller by method.
  void walk(const SubgraphTreeEntry& tree, const std::function<void(const SubgraphContext&)>& visit,
            Damage& damage) const;

  // Mode exact:flat: there are no trees. Threads have blocks (ThreadEntry::tree_id) from kFirstFlatBlock on, and what
  // is visited are methods, by id, at depth 1.
  [[nodiscard]] std::uint32_t flat_blocks_end() const { return flat_blocks_end_; }
  void visit_flat(std::uint32_t block, const std::function<void(const Context&)>& visit, Damage& damage) const;

  // Bytecodes that the threads of a sampled tree executed, whether or not there are samples of them.
  [[nodiscard]] std::uint64_t executed(const TreeEntry& tree) const;

 private:
  friend class TreeWalk;
  friend class SampleWalk;
  friend class SubgraphWalk;

  Reader() = default;
  Result<void> read_header();
  void read_flat_header(const ArenaHeader& header);
  void read_chunks();
  void read_records(std::uint64_t chunk, std::uint64_t used);
  void read_record(std::uint64_t offset, RecordKind kind, std::uint64_t size);
  bool read_weights(std::uint64_t offset, std::uint64_t size);
  bool read_class(std::uint64_t offset, std::uint64_t size);
  bool read_method(std::uint64_t offset, std::uint64_t size);
  bool read_thread(std::uint64_t offset, std::uint64_t size);
  bool read_tree(std::uint64_t offset, std::uint64_t size);
  void read_overflow(std::uint64_t chunk, std::uint64_t size);
  bool read_sample_tree(std::uint64_t offset, std::uint64_t size);
  bool read_subgraph_tree(std::uint64_t offset, std::uint64_t size);
  void read_timeline(std::uint64_t chunk, std::uint64_t used);
  void index_tables();
  // Where an address of the target lies in the file, if `size` bytes in use are there and it is aligned.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t size) const;
  template <typename T>
  [[nodiscard]] const T* at(std::uint64_t offset) const {
    return reinterpret_cast<const T*>(bytes_.data() + offset);
  }

  std::optional<MappedFile> file_;
  Bytes bytes_;
  // Whether there may be more than there was when the arena was opened: it is written from its first moment on.
  [[nodiscard]] bool is_live() const { return summary_.state != State::kEnded; }
  // What lies behind belongs to no chunk, or is not in the file. While the JVM runs, more comes into use all the time,
  // and whatever a published pointer leads to is complete; so a walk asks again.
  [[nodiscard]] std::uint64_t limit() const;
  std::uint64_t limit_ = 0;  // when the arena was opened
  std::uint64_t base_address_ = 0;
  std::uint64_t flat_offset_ = 0;
  std::uint32_t flat_blocks_end_ = 0;
  Summary summary_ = {};
  std::vector<CounterReading> counters_;
  std::vector<ClassEntry> classes_;
  std::vector<MethodEntry> methods_;
  std::vector<TreeEntry> trees_;
  std::vector<ThreadEntry> threads_;
  struct OverflowEntry {
    std::uint32_t tree_id;
    std::uint64_t offset;  // of its OverflowPage
  };
  std::vector<OverflowEntry> overflows_;  // by tree
  std::vector<SampleTreeEntry> sample_trees_;
  std::vector<SubgraphTreeEntry> subgraph_trees_;
  std::vector<TimelineEntry> timeline_;
  Damage damage_;
};

}  // namespace sonde::arena
