// SPDX-License-Identifier: Apache-2.0
// Arenas for tests, drawn as text: threads, and below them calls as an indented tree. A call is its method, how often
// it was called and the bytecodes it executed itself; then, if wanted, the line of its call site and what kind of
// method it is. Calls that have no @line are made from nowhere in particular; @12 and @12b are two call sites of
// line 12.
//
//   thread main + Thread-3             two threads that have ended are a group
//     App.main([Ljava/lang/String;)V 1 20
//       App.get()I 3 9 @12 leaf        counted in the call site of App.main
//       App.run()V 2 14 @12b path=7    a single-path method: 7 bytecodes per call
//       java/lang/Thread.sleep0(J)V 1 0 @14 native
//         App.callback()V 1 5          called by native code, so it hangs at the same call site
//     overflow 10 99                   what found no room
//   member                             a thread of the group that lives; `member ending`, `member free`
//
// make_sampled() turns it into a sampled recording. The layout is that of layout.h, written here a second time so that
// Writer and SondeRT are not their own judges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "arena/layout.h"
#include "base/bytes.h"
#include "base/result.h"

namespace sonde::arena {

struct DrawnCall {
  std::uint32_t depth;  // 1 below the thread
  std::string method;   // pkg/Class.name(descriptor)
  std::uint64_t calls = 0;
  std::uint64_t bytecodes = 0;
  std::string site;  // "12", "12b"; "" for none
  std::uint16_t flags = 0;
  std::uint32_t constant = 0;  // with kSinglePath
};

struct DrawnThread {
  std::vector<std::string> names;
  std::vector<DrawnCall> calls;  // preorder
  std::uint64_t overflow_calls = 0;
  std::uint64_t overflow_bytecodes = 0;
  bool is_member = false;  // of the group before it
  TreeUse use = kTreeInUse;
};

inline std::vector<DrawnThread> parse_drawing(std::string_view drawing) {
  std::vector<DrawnThread> threads;
  std::istringstream lines{std::string(drawing)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    if (line.compare(indent, 7, "thread ") == 0) {
      DrawnThread& thread = threads.emplace_back();
      std::string names = line.substr(indent + 7);
      for (std::size_t plus; (plus = names.find(" + ")) != std::string::npos; names.erase(0, plus + 3)) {
        thread.names.push_back(names.substr(0, plus));
      }
      thread.names.push_back(names);
      continue;
    }
    if (line.compare(indent, 6, "member") == 0) {
      const TreeUse use = line.ends_with("ending") ? kTreeEnding : line.ends_with("free") ? kTreeFree : kTreeInUse;
      threads.push_back({.names = {}, .calls = {}, .is_member = true, .use = use});
      continue;
    }
    SONDE_CHECK(!threads.empty() && indent % 2 == 0);
    std::istringstream words(line);
    DrawnCall call = {.depth = static_cast<std::uint32_t>(indent / 2)};
    words >> call.method >> call.calls >> call.bytecodes;
    if (call.method == "overflow") {
      threads.back().overflow_calls = call.calls;
      threads.back().overflow_bytecodes = call.bytecodes;
      continue;
    }
    for (std::string word; words >> word;) {
      if (word[0] == '@') {
        call.site = word.substr(1);
      } else if (word == "leaf") {
        call.flags |= kLeaf;
      } else if (word == "native") {
        call.flags |= kNative;
      } else if (word == "intrinsic") {
        call.flags |= kIntrinsic;
      } else {
        SONDE_CHECK(word.starts_with("path="));
        call.flags |= kSinglePath;
        call.constant = static_cast<std::uint32_t>(std::stoul(word.substr(5)));
      }
    }
    threads.back().calls.push_back(std::move(call));
  }
  return threads;
}

class TestArena {
 public:
  static constexpr std::uint64_t kBase = 0x40000000;

  explicit TestArena(std::string_view drawing) : TestArena(parse_drawing(drawing)) {}

  explicit TestArena(const std::vector<DrawnThread>& threads) {
    words_.resize(kHeaderSize / 8);
    collect_methods(threads);
    write_records(threads);
    for (std::size_t i = 0; i < threads.size(); ++i) write_tree(static_cast<std::uint32_t>(i + 1), threads[i]);
    auto& h = header();
    std::memcpy(h.magic, kMagic, sizeof kMagic);
    h.version = kVersion;
    h.flags = kPrecise | kJdkIncluded;
    h.base_address = kBase;
    h.capacity = size();
    h.next.store(size());
    h.reserved.store(size());
    h.state.store(static_cast<std::uint32_t>(State::kEnded));
    h.pid = 4711;
    h.start_ns = 1'790'000'000'000'000'000;
    h.end_ns = h.start_ns + 2'500'000'000;
    h.own_cpu_ns = 120'000'000;
    std::strcpy(h.jdk, "17.0.21+9");
    std::strcpy(h.command, "App --fast");
  }

  [[nodiscard]] Bytes bytes() const { return {reinterpret_cast<const std::uint8_t*>(words_.data()), size()}; }
  [[nodiscard]] std::uint64_t size() const { return words_.size() * 8; }
  [[nodiscard]] ArenaHeader& header() { return at<ArenaHeader>(0); }
  template <typename T>
  [[nodiscard]] T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(words_.data() + offset / 8);
  }
  // Of CPU samples.
  void add_hot(const std::vector<HotEntry>& methods, const std::vector<HotEntry>& edges) {
    const std::uint64_t offset = size();
    words_.resize(words_.size() + 2 * sizeof(HotTable) / 8);
    auto& table = at<HotTable>(offset);
    for (const HotEntry& entry : methods) {
      table.samples += entry.samples;
      table.methods[table.method_count++] = entry;
    }
    for (const HotEntry& entry : edges) table.edges[table.edge_count++] = entry;
    header().sampling.hot = kBase + offset;
    header().capacity = size();
    header().next.store(size());
    header().reserved.store(size());
  }
  // Bytecodes as drawn are samples; `executed` has what the threads of each tree executed.
  void make_sampled(const std::vector<std::uint64_t>& executed) {
    header().flags |= kSampled;
    header().granularity = 1000;
    header().jitter = 100;
    header().seed = 1;
    for (std::size_t i = 0; i < executed.size(); ++i) {
      at<Node>(at<TreeHeader>(trees_[i]).root - kBase).bytecodes = executed[i];
    }
  }
  // Where the nodes are, by their number among all drawn calls that have one.
  [[nodiscard]] const std::vector<std::uint64_t>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::uint64_t>& extras() const { return extras_; }
  [[nodiscard]] const std::vector<std::uint64_t>& overflows() const { return overflows_; }  // OverflowPages
  [[nodiscard]] std::uint64_t tree(std::size_t index) const { return trees_[index]; }       // its TreeHeader

 private:
  struct Method {
    std::uint32_t id;
    std::string class_name;
    std::string name;
    std::string descriptor;
    std::uint16_t flags;
    std::uint32_t constant;
    std::vector<std::string> sites;  // [0] is ""
  };

  static bool is_opaque(const DrawnCall& call) { return (call.flags & (kNative | kIntrinsic)) != 0; }
  static bool has_node(const DrawnCall& call) { return (call.flags & (kLeaf | kNative | kIntrinsic)) == 0; }

  std::uint64_t allocate(std::uint64_t bytes) {
    const std::uint64_t offset = size();
    words_.resize(words_.size() + (bytes + 7) / 8);
    return offset;
  }
  std::uint64_t open_chunk(ChunkKind kind, std::uint32_t tree) {
    const std::uint64_t chunk = allocate(sizeof(ChunkHeader));
    at<ChunkHeader>(chunk).kind = kind;
    at<ChunkHeader>(chunk).tree = tree;
    return chunk;
  }
  void close_chunk(std::uint64_t chunk) {
    if (at<ChunkHeader>(chunk).kind == ChunkKind::kRecords) at<ChunkHeader>(chunk).used.store(size() - chunk);
    while ((size() - chunk) % 64 != 0) words_.push_back(0);
    at<ChunkHeader>(chunk).size = size() - chunk;
  }

  // The call that a call's node hangs at: native callers have no node.
  static std::vector<std::ptrdiff_t> callers_of(const DrawnThread& thread, std::vector<std::string>& sites) {
    std::vector<std::ptrdiff_t> callers;
    std::vector<std::ptrdiff_t> path;
    for (std::size_t i = 0; i < thread.calls.size(); ++i) {
      path.resize(thread.calls[i].depth - 1);
      std::string site = thread.calls[i].site;
      std::size_t up = path.size();
      while (up > 0 && is_opaque(thread.calls[static_cast<std::size_t>(path[up - 1])])) {
        site = thread.calls[static_cast<std::size_t>(path[--up])].site;
      }
      callers.push_back(up == 0 ? -1 : path[up - 1]);
      sites.push_back(callers.back() == -1 ? "" : site);
      path.push_back(static_cast<std::ptrdiff_t>(i));
    }
    return callers;
  }

  static bool comes_before(const std::string& a, const std::string& b) {
    return std::pair(std::atoi(a.c_str()), a) < std::pair(std::atoi(b.c_str()), b);
  }

  void collect_methods(const std::vector<DrawnThread>& threads) {
    for (const DrawnThread& thread : threads) {
      std::vector<std::string> sites;
      const std::vector<std::ptrdiff_t> callers = callers_of(thread, sites);
      for (std::size_t i = 0; i < thread.calls.size(); ++i) {
        const DrawnCall& call = thread.calls[i];
        const std::size_t paren = call.method.find('(');
        const std::size_t dot = call.method.rfind('.', paren);
        methods_.try_emplace(call.method, Method{.id = static_cast<std::uint32_t>(methods_.size() + 1),
                                                 .class_name = call.method.substr(0, dot),
                                                 .name = call.method.substr(dot + 1, paren - dot - 1),
                                                 .descriptor = call.method.substr(paren),
                                                 .flags = call.flags,
                                                 .constant = call.constant,
                                                 .sites = {""}});
        if (callers[i] < 0) continue;
        std::vector<std::string>& known = methods_.at(thread.calls[static_cast<std::size_t>(callers[i])].method).sites;
        if (std::find(known.begin(), known.end(), sites[i]) == known.end()) known.push_back(sites[i]);
      }
    }
    for (auto& [key, method] : methods_) std::sort(method.sites.begin(), method.sites.end(), comes_before);
  }

  std::uint64_t append_text(std::string_view text, std::uint64_t offset) {
    std::memcpy(reinterpret_cast<char*>(words_.data()) + offset, text.data(), text.size());
    return offset + text.size();
  }

  template <typename T>
  std::uint64_t begin_record(RecordKind kind, std::uint64_t extra_bytes) {
    const std::uint64_t offset = allocate(sizeof(T) + extra_bytes);
    at<T>(offset).header = {.kind = kind, .reserved = 0, .size = static_cast<std::uint32_t>(size() - offset)};
    return offset;
  }

  void write_records(const std::vector<DrawnThread>& threads) {
    const std::uint64_t chunk = open_chunk(ChunkKind::kRecords, 0);
    std::map<std::string, std::uint32_t> classes;
    for (const auto& [key, method] : methods_) {
      if ((method.flags & kNative) != 0 || !classes.try_emplace(method.class_name, classes.size() + 1).second) continue;
      write_class(method.class_name, classes.at(method.class_name));
    }
    for (const auto& [key, method] : methods_) {
      write_method(method, (method.flags & kNative) != 0 ? 0 : classes.at(method.class_name));
    }
    for (std::uint32_t id = 1; id <= threads.size(); ++id) {
      const DrawnThread& drawn = threads[id - 1];
      const std::uint64_t record = begin_record<TreeRecord>(RecordKind::kTree, 0);
      at<TreeRecord>(record).tree_id = id;
      if (drawn.names.size() > 1) at<TreeRecord>(record).flags = kTreeOfGroup;
      if (drawn.is_member) {
        at<TreeRecord>(record).flags = kTreeOfMember;
        at<TreeRecord>(record).group = last_group_;
      } else {
        last_group_ = id;
      }
      tree_records_.push_back(record);
      if (!drawn.names.empty()) {
        const std::string& name = drawn.names[0];
        const std::uint64_t thread = begin_record<ThreadRecord>(RecordKind::kThread, name.size());
        at<ThreadRecord>(thread).tree_id = id;
        at<ThreadRecord>(thread).java_thread_id = id;
        at<ThreadRecord>(thread).name_length = static_cast<std::uint16_t>(name.size());
        append_text(name, thread + sizeof(ThreadRecord));
      }
    }
    close_chunk(chunk);
  }

  void write_class(const std::string& name, std::uint32_t id) {
    const std::string source = name.substr(name.rfind('/') + 1) + ".java";
    const std::uint64_t offset = begin_record<ClassRecord>(RecordKind::kClass, name.size() + source.size());
    auto& record = at<ClassRecord>(offset);
    record.class_id = id;
    record.flags = name.starts_with("java/") ? kClassOfJdk : 0;
    record.name_length = static_cast<std::uint16_t>(name.size());
    record.source_length = static_cast<std::uint16_t>(source.size());
    append_text(source, append_text(name, offset + sizeof(ClassRecord)));
  }

  void write_method(const Method& method, std::uint32_t class_id) {
    const std::string class_name = class_id == 0 ? method.class_name : "";
    const std::uint64_t sites_size = method.sites.size() * sizeof(SiteInfo);
    const std::uint64_t offset = begin_record<MethodRecord>(
        RecordKind::kMethod, sites_size + method.name.size() + method.descriptor.size() + class_name.size());
    auto& record = at<MethodRecord>(offset);
    record.method_id = method.id;
    record.class_id = class_id;
    record.flags = method.flags;
    record.constant_bytecodes = method.constant;
    record.site_count = static_cast<std::uint32_t>(method.sites.size());
    record.first_line = 1;
    record.name_length = static_cast<std::uint16_t>(method.name.size());
    record.descriptor_length = static_cast<std::uint16_t>(method.descriptor.size());
    record.class_name_length = static_cast<std::uint16_t>(class_name.size());
    std::uint64_t at_byte = offset + sizeof(MethodRecord);
    for (std::size_t i = 0; i < method.sites.size(); ++i) {
      const SiteInfo info = {.pc = static_cast<std::uint16_t>(3 * i),
                             .line = static_cast<std::uint16_t>(std::atoi(method.sites[i].c_str()))};
      std::memcpy(reinterpret_cast<char*>(words_.data()) + at_byte, &info, sizeof info);
      at_byte += sizeof info;
    }
    append_text(class_name, append_text(method.descriptor, append_text(method.name, at_byte)));
  }

  std::uint64_t new_node(std::uint32_t method_id, std::size_t site_count) {
    const std::uint64_t offset = allocate(node_size(static_cast<std::uint32_t>(site_count)));
    auto& node = at<Node>(offset);
    node.method_id = static_cast<std::int32_t>(method_id);
    node.site_count = static_cast<std::uint32_t>(site_count);
    for (std::size_t i = 0; i < site_count; ++i) {
      const std::uint64_t distance = sizeof(Node) + i * sizeof(CallSite);
      at<CallSite>(offset + distance).node_offset = static_cast<std::int32_t>(distance);
    }
    return offset;
  }

  // The record for a callee of a site: the site itself, or another one if it is taken.
  std::uint64_t record_at(std::uint64_t node, std::size_t site_index) {
    const std::uint64_t site = node + sizeof(Node) + site_index * sizeof(CallSite);
    if (at<CallSite>(site).method_id == 0) return site;
    const std::uint64_t extra = allocate(sizeof(ExtraCallSite));
    at<ExtraCallSite>(extra).of = kBase + site;
    at<ExtraCallSite>(extra).next = at<Node>(node).extras;
    at<Node>(node).extras = kBase + extra;
    extras_.push_back(extra);
    return extra;
  }

  void write_tree(std::uint32_t id, const DrawnThread& thread) {
    const std::uint64_t chunk = open_chunk(ChunkKind::kTree, id);
    const std::uint64_t tree = allocate(sizeof(TreeHeader));
    trees_.push_back(tree);
    at<TreeRecord>(tree_records_[id - 1]).address = kBase + tree;
    const std::uint64_t root = new_node(0, 1);
    at<TreeHeader>(tree).root = kBase + root;
    at<TreeHeader>(tree).lease = 4 + thread.use;
    at<TreeHeader>(tree).threads = thread.names.size();
    std::vector<std::string> sites;
    const std::vector<std::ptrdiff_t> callers = callers_of(thread, sites);
    std::vector<std::uint64_t> node_of_call;
    for (std::size_t i = 0; i < thread.calls.size(); ++i) {
      const DrawnCall& call = thread.calls[i];
      const Method& method = methods_.at(call.method);
      const std::uint64_t caller = callers[i] < 0 ? root : node_of_call[static_cast<std::size_t>(callers[i])];
      std::size_t site_index = 0;
      if (callers[i] >= 0) {
        const auto& known = methods_.at(thread.calls[static_cast<std::size_t>(callers[i])].method).sites;
        site_index = static_cast<std::size_t>(std::find(known.begin(), known.end(), sites[i]) - known.begin());
      }
      const std::uint64_t record = record_at(caller, site_index);
      at<CallSite>(record).method_id = static_cast<std::int32_t>(method.id);
      const std::uint64_t stored = call.bytecodes - call.calls * call.constant;
      if (has_node(call)) {
        const std::uint64_t node = new_node(method.id, method.sites.size());
        nodes_.push_back(node);
        node_of_call.push_back(node);
        at<Node>(node).calls = call.calls;
        at<Node>(node).bytecodes = stored;
        at<Node>(node).parent_site = kBase + record;
        at<CallSite>(record).child = kBase + node;
      } else {
        node_of_call.push_back(0);
        at<CallSite>(record).child = call.calls;
        at<CallSite>(record).bytecodes = stored;
      }
    }
    at<TreeHeader>(tree).nodes = thread.calls.size();
    close_chunk(chunk);
    if (thread.overflow_calls != 0 || thread.overflow_bytecodes != 0) write_overflow(id, thread);
  }

  void write_overflow(std::uint32_t id, const DrawnThread& thread) {
    const std::uint64_t chunk = open_chunk(ChunkKind::kOverflow, 0);
    while (size() % kPageSize != 0) words_.push_back(0);
    const std::uint64_t page = allocate(kPageSize);
    overflows_.push_back(page);
    auto& overflow = at<OverflowPage>(page);
    overflow.is_used = 1;
    overflow.tree_id = id;
    overflow.node.calls = thread.overflow_calls - 1;  // one of them was a leaf
    overflow.site.child = 1;
    overflow.node.bytecodes = thread.overflow_bytecodes;
    close_chunk(chunk);
  }

  std::vector<std::uint64_t> words_;
  std::map<std::string, Method> methods_;
  std::vector<std::uint64_t> tree_records_;
  std::vector<std::uint64_t> trees_;
  std::vector<std::uint64_t> nodes_;
  std::vector<std::uint64_t> extras_;
  std::vector<std::uint64_t> overflows_;
  std::uint32_t last_group_ = 0;
};

}  // namespace sonde::arena
