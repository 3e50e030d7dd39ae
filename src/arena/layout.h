// SPDX-License-Identifier: Apache-2.0
// The live recording: one sparse file, mapped shared by the target JVM (which writes) and by the host (which reads,
// at any moment, without help from the JVM). This header is the whole contract between the two; kVersion changes with
// every change to it. All integers are little-endian and aligned.
//
//   +-----------------+ 0
//   | ArenaHeader     |  one page, counters included
//   +-----------------+ kHeaderSize
//   | chunk           |  ChunkHeader, then records or call-tree nodes
//   | chunk ...       |
//   +-----------------+ ArenaHeader::next
//   | (not used yet)  |
//   +-----------------+ ArenaHeader::capacity
//   | (flat region)   |  mode exact:flat only, see FlatSlot
//   +-----------------+
//
// Chunks follow each other without gaps, so a reader walks them by their size. Space is reserved on disk (fallocate)
// before it is handed out: a full disk is an error code in the agent and never a SIGBUS in somebody's Java thread.
//
// Pointers inside the arena (node to node) are addresses in the target process. A reader subtracts base_address.
// Whatever can be reached through a published pointer or lies below a published `used` is complete: writers fill
// first and publish with a release store afterwards. Counters in nodes are written by one thread with plain stores.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace sonde::arena {

inline constexpr char kMagic[8] = {'S', 'O', 'N', 'D', 'E', 'A', 'R', 'N'};
inline constexpr std::uint32_t kVersion = 7;
inline constexpr std::uint64_t kHeaderSize = 8192;
inline constexpr std::uint32_t kMaxCounters = 256;

enum class State : std::uint32_t {
  kStarting = 0,
  kRunning = 1,
  kEnded = 2,  // the JVM ended in good order and everything is written
};

enum HeaderFlags : std::uint32_t {
  kPrecise = 1,      // bytecodes are exact under exceptions (landing pads)
  kJdkIncluded = 2,  // classes of the JDK are instrumented
  kFlat = 4,         // counts per method and thread, no contexts
  kSampled = 8,      // bytecodes of a context are samples, calls are unknown; what was executed is in the root node
  kTimeOnly = 16,    // calls and bytecodes are not counted
  kSubgraph = 32,    // a call subgraph, or a region: see SubgraphInfo
  kAttached = 256,   // the JVM ran already: what was running then has no context and is at the root of its thread
};

// How samples were taken and what that cost; the agent updates it while it runs. All zero: nothing was sampled.
enum class CpuClockSource : std::uint32_t {
  kNone = 0,
  kPerf = 1,
  kPerfUser = 2,
  kThreadTimer = 3,
  kPerfTrap = 4,
  kPerfUserTrap = 5,
  kSharedTrap = 6,  // one event for all threads
  kSharedUserTrap = 7
};
enum class Walker : std::uint32_t { kNone = 0, kVmStructs = 1, kAsyncGetCallTrace = 2 };
struct SamplingInfo {
  std::uint64_t cpu_interval_ns;  // asked for; 0: no CPU samples
  std::uint64_t wall_interval_ns;
  CpuClockSource cpu_clock;
  Walker walker;
  std::uint64_t start_ns;  // CLOCK_MONOTONIC of bucket 0 of the timeline
  std::uint64_t cpu_samples;
  std::uint64_t wall_samples;
  std::uint64_t failed_samples;  // without a complete stack; counters say why
  std::uint64_t thread_cpu_ns;   // CPU time of the threads that were sampled: what cpu_samples should add up to
  std::uint64_t handler_ns;      // spent in signal handlers
  std::uint64_t handler_p50_ns;  // of one sample
  std::uint64_t handler_p99_ns;
  std::uint64_t decoder_cpu_ns;  // CPU time of the agent's own threads
  std::uint64_t memory_bytes;    // of the agent, without the arena
  std::uint64_t purges;          // twice how often cold contexts were purged; odd while it is being done
  std::uint64_t hot;             // address of the HotTables; 0 if there are none
  // Of the signals that CPU samples came by, the squares of how many samples each stands for, added up: as many as
  // cpu_samples unless thread timers merged what came between two ticks of the kernel.
  std::uint64_t cpu_counts_squared;
  std::uint64_t reserved[3];
};

// Modes subgraph and region: what was instrumented, what that cost, and what measuring costs. All zero: neither.
enum class SubgraphTime : std::uint32_t { kNone = 0, kWall = 1, kCpu = 2 };
enum class SubgraphScheme : std::uint32_t { kRegion = 0, kEager = 1, kLazy = 2 };
struct SubgraphInfo {
  SubgraphTime time;
  SubgraphScheme scheme;
  std::uint64_t inner_ps;  // of what one call costs, this part is measured as the callee's time: picoseconds
  std::uint64_t outer_ps;  // and this part as its caller's
  std::uint64_t inner_error_ps;
  std::uint64_t outer_error_ps;
  std::uint64_t methods;  // instrumented and measured
  std::uint64_t classes;
  std::uint64_t batches;   // of class changes
  std::uint64_t batch_ns;  // all together
  std::uint64_t batch_p99_ns;
  std::uint64_t batch_max_ns;
  std::uint64_t waited_ns;  // by threads, for callees to be instrumented; taken off all times
  std::uint64_t followed;   // methods instrumented to find callees, without being measured
  std::uint64_t paused_ns;  // the part of batch_ns during which the program stood still
  std::uint64_t paused_p99_ns;
  std::uint64_t paused_max_ns;
  std::uint64_t reserved;
};

struct ArenaHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t flags;                  // HeaderFlags
  std::uint64_t base_address;           // where the target mapped offset 0
  std::uint64_t capacity;               // size of the mapping
  std::atomic<std::uint64_t> next;      // offset of the first byte that belongs to no chunk
  std::atomic<std::uint64_t> reserved;  // offset up to which disk space is reserved
  std::atomic<std::uint32_t> state;     // State
  std::uint32_t pid;
  std::uint64_t start_ns;                    // CLOCK_REALTIME at VMInit
  std::uint64_t end_ns;                      // 0 while running
  std::uint64_t own_cpu_ns;                  // CPU time spent rewriting classes
  char jdk[64];                              // "17.0.21+9", NUL-terminated
  char command[1024];                        // main class and arguments, NUL-terminated, cut if longer
  std::uint64_t flat_offset;                 // of the flat region; 0 if there is none
  std::atomic<std::uint64_t> flat_blocks;    // how many blocks are or were in use, with the two that belong to nobody
  std::atomic<std::uint64_t> flat_reserved;  // bytes of disk reserved in the flat region
  std::uint64_t granularity;                 // kSampled: as it was asked for (docs/user/bytecode.md)
  std::uint64_t jitter;
  std::uint64_t seed;
  std::uint64_t max_path;
  std::uint64_t weight_scale;  // kSampled: so many of what is counted are one bytecode (WeightsRecord); 0: one
  std::uint64_t reserved_words[24];
  std::atomic<std::uint64_t> counters[kMaxCounters];  // by CounterInfo::id (base/counters.def)
  SamplingInfo sampling;
  SubgraphInfo subgraph;
};
static_assert(sizeof(ArenaHeader) <= kHeaderSize);

enum class ChunkKind : std::uint32_t {
  kRecords = 1,   // ClassRecord, MethodRecord, TreeRecord, ThreadRecord, one after the other
  kTree = 2,      // nodes and extra records of one call tree, or waiting for the next tree
  kOverflow = 3,  // OverflowPage at each offset in it that is a multiple of kPageSize
  kSamples = 4,   // SampleNode, of any tree of samples
  kTimeline = 5,  // TimelineEntry
  kHot = 6,       // HotTable[2], by SampleTreeKind
};

struct ChunkHeader {
  ChunkKind kind;
  std::uint32_t tree;               // kTree: which one uses it or was the last to use it
  std::uint64_t size;               // with this header; a multiple of 64
  std::atomic<std::uint64_t> used;  // kRecords, kTimeline: bytes in use with this header. Else: not kept
  std::uint64_t reserved[5];
};
static_assert(sizeof(ChunkHeader) == 64);

// --- kRecords: each begins with this and is padded to 8 bytes ---

enum class RecordKind : std::uint16_t {
  kClass = 1,
  kMethod = 2,
  kTree = 3,
  kThread = 4,
  kSampleTree = 5,
  kSubgraphTree = 6,
  kWeights = 7
};

struct RecordHeader {
  RecordKind kind;
  std::uint16_t reserved;
  std::uint32_t size;  // with this header and the padding
};

struct ClassRecord {
  RecordHeader header;
  std::uint32_t class_id;       // from 1 on. One per class loaded: the same name may come from several loaders
  std::uint16_t flags;          // ClassFlags
  std::uint16_t name_length;    // "java/util/HashMap", modified UTF-8, behind this struct
  std::uint16_t source_length;  // SourceFile, behind the name; may be 0
  std::uint16_t reserved[3];
};
enum ClassFlags : std::uint16_t {
  kClassOfJdk = 1,        // defined by the boot or platform loader
  kClassKnownByName = 4,  // seen on stacks: whether it is the JDK's, its name must tell
};

enum MethodFlags : std::uint16_t {
  kLeaf = 1,        // makes no calls: its counts live in the caller's CallSite instead of a node
  kSinglePath = 2,  // bytecodes = calls x constant_bytecodes + what is stored (corrections, not positive)
  kNative = 4,      // counted where it is called; has no bytecodes
  kIntrinsic = 8,   // replaced by the JIT compiler: counted where it is called, like a native method, which it may be;
                    // no class is initialised on its behalf
  kPseudo = 32,     // no method: "[unknown code]"; has no class
  kFunction =
      64,  // with kPseudo: "libjvm.so+0x8a3f20", a function outside of Java; the descriptor is the library's path
};

struct SiteInfo {
  std::uint16_t pc;
  std::uint16_t line;  // 0 if unknown
};

struct MethodRecord {
  RecordHeader header;
  std::uint32_t method_id;  // even for methods of the JDK, odd for others, never 0
  std::uint32_t class_id;   // 0 for kNative and kIntrinsic methods known by name only: then the class name follows
  std::uint16_t access_flags;
  std::uint16_t flags;  // MethodFlags
  std::uint32_t constant_bytecodes;
  std::uint32_t site_count;  // with site 0, which stands for "not at a call": class initialisation, loading
  std::uint16_t first_line;
  std::uint16_t name_length;
  std::uint16_t descriptor_length;
  std::uint16_t class_name_length;  // only if class_id is 0
  // SiteInfo[site_count], name, descriptor, class name
};

struct TreeRecord {
  RecordHeader header;
  std::uint32_t tree_id;  // from 1 on
  std::uint32_t flags;    // TreeFlags
  std::uint64_t address;  // of its TreeHeader
  std::uint32_t group;    // kTreeOfMember: the tree that gets its counts when its thread ends
  std::uint32_t reserved;
};
// Most threads have a tree of their own, for good. Where threads of one kind are many (virtual threads without names,
// the same name but for digits), they are a group: a thread has a member tree while it lives, then the counts are moved
// to the tree of the group, and the member's memory is used again. So memory does not grow with the number of threads
// that ever lived.
enum TreeFlags : std::uint32_t { kTreeOfVirtualThreads = 1, kTreeOfGroup = 2, kTreeOfMember = 4 };

// A thread with its own tree, or the first thread of a group.
struct ThreadRecord {
  RecordHeader header;
  std::uint32_t tree_id;
  std::uint32_t reserved;
  std::uint64_t java_thread_id;  // 0 if unknown
  std::uint64_t start_ns;        // CLOCK_REALTIME
  std::uint16_t name_length;     // UTF-8, behind this struct
  std::uint16_t flags;           // bit 0: virtual
  std::uint32_t reserved2;
};

// A tree of samples. Its id is one of a ThreadRecord, too.
enum class SampleTreeKind : std::uint8_t { kCpu = 0, kWall = 1 };
enum class ThreadState : std::uint8_t {  // of the threads whose wall-clock samples a tree has
  kRunning = 0,
  kRunnable = 1,
  kBlocked = 2,
  kWaiting = 3,
  kParked = 4,
  kSleeping = 5,
  kIo = 6,
  kNative = 7,
};
inline constexpr std::uint8_t kThreadStates = 8;
struct SampleTreeRecord {
  RecordHeader header;
  std::uint32_t tree_id;  // not that of a TreeRecord
  SampleTreeKind kind;
  ThreadState state;
  std::uint16_t reserved;
  std::uint64_t root;  // address of a SampleNode
};

// A tree of a call subgraph. Its id is one of a ThreadRecord, too, and not that of a TreeRecord.
struct SubgraphTreeRecord {
  RecordHeader header;
  std::uint32_t tree_id;
  std::uint32_t reserved;
  std::uint64_t address;  // of its SubgraphTree
};

// What each executed bytecode counts in a sampled recording (docs/reference/weights.md), as the user gave it; at most
// once.
struct WeightsRecord {
  RecordHeader header;
  std::uint32_t length;  // of the text behind this struct
  std::uint32_t reserved;
};

// --- kSamples, kTimeline ---

// A method in a context, written by the agent alone. Nodes are aligned to 64 bytes of the file.
struct SampleNode {
  std::uint32_t method_id;    // 0: the root of a tree, whose own samples are those that found no room for a context
  std::uint16_t line;         // of the call, in the caller; 0 if unknown
  std::uint16_t bci;          // of the call
  std::uint64_t samples;      // with this method on top of the stack
  std::uint64_t weight_ns;    // the time they stand for
  std::uint64_t activations;  // samples that saw it here where the thread's sample before did not
  std::uint64_t parent;       // address; 0 for the root
  std::uint64_t first_child;  // address
  std::uint64_t next_sibling;
  std::uint64_t scratch;  // of the agent
};
static_assert(sizeof(SampleNode) == 64);

inline constexpr std::uint64_t kBucketNs = 20'000'000;
struct TimelineEntry {
  std::uint32_t node;    // offset in the file / 64
  std::uint32_t bucket;  // of kBucketNs since SamplingInfo::start_ns
};

// The methods that most samples had on top of the stack, and the calls that most samples saw anew, largest first; kept
// up to date with each sample.
inline constexpr std::uint32_t kHotEntries = 100;
struct HotEntry {
  std::uint64_t key;  // method id; of an edge the caller's in the upper half, 0 where a thread begins
  std::uint64_t samples;
  std::uint64_t weight_ns;  // 0 for edges
};
struct HotTable {
  std::uint64_t sequence;  // odd while entries change places
  std::uint64_t samples;   // of all methods
  std::uint32_t method_count;
  std::uint32_t edge_count;
  HotEntry methods[kHotEntries];
  HotEntry edges[kHotEntries];
};

// --- kTree ---

// In what state a member tree is. Trees that are no members are always kTreeInUse.
enum TreeUse : std::uint64_t {
  kTreeFree = 0,    // of no thread: what is in it means nothing
  kTreeInUse = 1,   // of a thread that lives, or that ended when the arena was too full to move its counts
  kTreeEnding = 2,  // its counts are being moved to the group, record by record
};

// The record whose counts are just being moved. Once `sequence` is odd, the move counts as done: whoever reads takes
// `calls` and `bytecodes` for those of the target, and zero for those of the source. It is even again when the records
// say so themselves. A JVM that is killed at any point therefore leaves every count behind exactly once.
// Source and target are Nodes or CallSites; both have their counts at the same place.
struct Move {
  std::uint64_t sequence;
  std::uint64_t source;
  std::uint64_t target;
  std::uint64_t calls;
  std::uint64_t bytecodes;
  std::uint64_t reserved[3];
};

// First thing in the first chunk of a tree. SondeTree knows the offsets of the first fields.
struct TreeHeader {
  std::uint64_t next;            // 0: address of free space in the current chunk
  std::uint64_t end;             // 8: its end
  std::uint64_t overflow;        // 16: address of the overflow node, outside of the arena; 0 until the arena is full
  std::uint64_t root;            // 24: address of the root Node
  std::uint32_t depth_limit;     // 32: nodes at this depth have all that is deeper as callees; 0: no limit
  std::uint32_t fold_recursion;  // 36: 1: a method that is on the path already goes on with its node
  std::uint64_t nodes;           // 40: nodes and leaf call sites created
  std::uint64_t lease;           // 48: TreeUse + 4 x how many threads have had it; changes before anything else does
  std::uint64_t threads;         // 56: of a group: how many threads there were
  Move move;                     // 64: of a group
};
static_assert(sizeof(TreeHeader) == 128);

// Where one method calls another: the record of one call site in one context.
struct CallSite {
  std::int32_t method_id;    // 0: nothing was called from here yet. The first callee keeps the record for ever
  std::int32_t node_offset;  // this address - node_offset = the Node it belongs to
  std::uint64_t child;       // callee is a leaf: calls. Else: address of its Node
  std::uint64_t bytecodes;   // callee is a leaf: bytecodes
};
static_assert(sizeof(CallSite) == 24);

// With a depth limit or folded recursion a callee's node may hang elsewhere: in its own chain of callers, or at the
// caller that has the limit's depth. The record of its call site is then an alias, which only saves the search.
enum Alias : std::uint64_t { kFolded = 1, kCut = 2 };  // CallSite::bytecodes, if the callee is no leaf

// Further callees of a call site.
struct ExtraCallSite {
  CallSite site;       // node_offset is 0
  std::uint64_t next;  // address of the next ExtraCallSite of the same Node, 0 at the end
  std::uint64_t of;    // address of the CallSite in the Node
};
static_assert(sizeof(ExtraCallSite) == 40);

// A method in a context. CallSite[site_count] follow. The root of a sampled tree has what its threads executed up to
// their last sample or their end in `bytecodes`, and what those alive at the end did since in `calls`.
struct Node {
  std::int32_t method_id;  // 0: the root of a tree
  std::uint32_t site_count;
  std::uint64_t calls;        // 8
  std::uint64_t bytecodes;    // 16
  std::uint64_t parent_site;  // 24: address of the CallSite or ExtraCallSite that led here; 0 for the root
  std::uint64_t extras;       // 32: first ExtraCallSite, 0 if none
  std::uint64_t depth;        // 40: 0 for the root; one more than the caller's. At most depth_limit + 1
  std::uint64_t extra_index;  // 48: address of SondeTree's hash table of the extras, 0 while they are few
  std::uint64_t extra_count;  // 56: kept by SondeTree
};
static_assert(sizeof(Node) == 64);

// --- kTree, modes subgraph and region: SondeSubgraph knows all of it ---

// Where a thread is. Not in the arena: a table of the agent, indexed by the thread's number.
struct SubgraphEntry {
  std::uint64_t node;    // 0: address of the SubgraphNode of the method that runs; 0 outside
  std::uint64_t thread;  // 8: whose entry it is
  std::uint64_t tree;    // 16: its SubgraphTree
  std::uint64_t own_ns;  // 24: of the tree when the outermost root began
};
static_assert(sizeof(SubgraphEntry) == 32);

// First thing in the first chunk of a tree. It is of one thread at a time; where threads of one kind are many, of one
// after the other, and what they did adds up.
struct SubgraphTree {
  std::uint64_t next;     // 0: address of free space in the current chunk
  std::uint64_t end;      // 8: its end
  std::uint64_t root;     // 16: address of the first root node; they are siblings
  std::uint64_t nodes;    // 24
  std::uint64_t own_ns;   // 32: spent in waiting for callees to be instrumented, and in making nodes
  std::uint64_t lost;     // 40: calls that are part of their caller, for there was no room for their context
  std::uint64_t threads;  // 48: how many have had it
  std::uint64_t nobody;   // 56: always 0: what slots without a callee point to
};
static_assert(sizeof(SubgraphTree) == 64);

// A method in a context. All times are nanoseconds, and those of what it calls are in it.
struct SubgraphNode {
  std::int32_t method_id;
  std::uint32_t slot_mask;     // 4: (slots - 1) * 8
  std::uint64_t calls;         // 8: that began
  std::uint64_t time_ns;       // 16: of those that ended
  std::uint64_t thrown;        // 24: that ended by an exception
  std::uint64_t parent;        // 32: 0 for a root
  std::uint64_t first_child;   // 40
  std::uint64_t next_sibling;  // 48
  std::uint64_t own_ns;        // 56: of time_ns, what was ours while this method ran
  std::uint64_t bytecodes;     // 64: executed by the method itself
  std::uint64_t slots;         // 72: address of the table of callees, by method_id & mask
};
static_assert(sizeof(SubgraphNode) == 80);

// The calls of a root from outside; directly in front of the nodes whose parent is 0.
inline constexpr std::uint32_t kTimeBuckets = 320;
inline constexpr std::uint32_t kLastCalls = 64;
struct RootTimes {
  std::uint64_t time_ns;
  std::uint64_t least_ns;
  std::uint64_t most_ns;
  std::uint64_t count;
  std::uint64_t all_bare;  // calls before anything below was instrumented; they are a part of nothing else
  std::uint64_t bare;      // those of the latest round
  std::uint64_t bare_ns;
  double bare_squares;       // of their times, summed up
  std::uint64_t bare_round;  // which one that is
  std::uint64_t reserved;
  std::uint64_t buckets[kTimeBuckets];  // calls by bucket_of their time
  struct Call {
    std::uint64_t start_ns;  // CLOCK_MONOTONIC
    std::uint64_t time_ns;
  } last[kLastCalls];  // number n is at n % kLastCalls
};
static_assert(sizeof(RootTimes) == 80 + 8 * kTimeBuckets + 16 * kLastCalls);

// Below 16 ns a bucket each, then eight for each power of two.
constexpr std::uint32_t bucket_of(std::uint64_t ns) {
  if (ns < 16) return static_cast<std::uint32_t>(ns);
  const auto power = static_cast<std::uint32_t>(std::bit_width(ns) - 1);
  return power > 41 ? kTimeBuckets - 1 : 16 + (power - 4) * 8 + static_cast<std::uint32_t>(ns >> (power - 3) & 7);
}
// The least time that falls into it.
constexpr std::uint64_t least_of_bucket(std::uint32_t bucket) {
  if (bucket < 16) return bucket;
  const std::uint32_t power = (bucket - 16) / 8 + 4;
  return (8ULL + (bucket - 16) % 8) << (power - 3);
}
static_assert(bucket_of(least_of_bucket(16)) == 16 && bucket_of(least_of_bucket(319)) == 319);

// --- the flat region ---

// Counts of one method on one thread. A thread has a block, a method an id, and
//   offset = flat_offset + id / kFlatPageSlots * kFlatPlaneSize + block * kFlatPageSize + id % kFlatPageSlots * 16
// so the address is a constant of the method plus one of the thread, a plane has the counters of 256 methods for all
// threads side by side, and disk space is reserved as threads and methods come: nobody ever touches a page without.
struct FlatSlot {
  std::uint64_t calls;
  std::uint64_t bytecodes;
};
static_assert(sizeof(FlatSlot) == 16);

inline constexpr std::uint64_t kFlatPageSize = 4096;
inline constexpr std::uint64_t kFlatPageSlots = kFlatPageSize / sizeof(FlatSlot);
inline constexpr std::uint64_t kFlatBlocks = 16384;
inline constexpr std::uint64_t kFlatPlaneSize = kFlatBlocks * kFlatPageSize;
inline constexpr std::uint64_t kFlatPlanes = 2048;  // of which few are ever touched
inline constexpr std::uint64_t kFlatRegionSize = kFlatPlanes * kFlatPlaneSize;
inline constexpr std::uint64_t kFirstFlatBlock = 2;  // 0: threads without a block. 1: the sink

inline constexpr std::uint64_t flat_slot_offset(std::uint64_t block, std::uint32_t method_id) {
  return method_id / kFlatPageSlots * kFlatPlaneSize + block * kFlatPageSize +
         method_id % kFlatPageSlots * sizeof(FlatSlot);
}

inline constexpr std::uint64_t node_size(std::uint32_t site_count) {
  return sizeof(Node) + sizeof(CallSite) * site_count;
}

// --- kOverflow ---

inline constexpr std::uint64_t kPageSize = 4096;

// What a thread called and executed without a context, since the arena was full. The agent maps the page a second time
// in front of zeros, so that the node, at the end of its page, has room for the call sites of any method.
struct OverflowPage {
  std::uint32_t is_used;
  std::uint32_t tree_id;  // 0: of a thread that found no room even for a tree
  std::uint64_t reserved[500];
  Node node;      // methods: calls; all bytecodes, constants of single paths included
  CallSite site;  // methods without a node: child is their calls
};
static_assert(sizeof(OverflowPage) == kPageSize);

}  // namespace sonde::arena
