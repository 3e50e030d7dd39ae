// SPDX-License-Identifier: Apache-2.0
#include "arena/reader.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <unordered_set>

#include "base/modified_utf8.h"

namespace sonde::arena {
namespace {

std::string_view terminated(const char* text, std::size_t capacity) { return {text, ::strnlen(text, capacity)}; }

Error error_at(ErrorCode code, std::string message, std::uint64_t offset) {
  return {code, std::move(message), {.path = "arena", .byte_offset = offset}};
}

Error wrong_magic(const char* magic) {
  if (std::all_of(magic, magic + sizeof kMagic, [](char c) { return c == 0; })) {
    return error_at(ErrorCode::kTruncated, "the JVM stopped before it began to record", 0);
  }
  return error_at(ErrorCode::kMalformed, "does not start with SONDEARN, so it is not the arena of a recording", 0);
}

// Sorts by id and drops what has an id twice.
template <typename Entry>
void sort_unique(std::vector<Entry>& entries, std::string_view what, Damage& damage) {
  const auto by_id = [](const Entry& a, const Entry& b) { return a.id < b.id; };
  if (!std::is_sorted(entries.begin(), entries.end(), by_id)) {
    std::stable_sort(entries.begin(), entries.end(), by_id);
  }
  const auto same = [](const Entry& a, const Entry& b) { return a.id == b.id; };
  const auto last = std::unique(entries.begin(), entries.end(), same);
  for (auto it = last; it != entries.end(); ++it) damage.add("a second " + std::string(what) + " of the same id", 0);
  entries.erase(last, entries.end());
}

// Ids are given away one by one, so the entry is usually where its id says.
template <typename Entry>
const Entry* find_by_id(const std::vector<Entry>& entries, std::uint32_t id) {
  if (entries.empty() || id < entries.front().id) return nullptr;
  const std::size_t guess = std::min<std::size_t>(id - entries.front().id, entries.size() - 1);
  if (entries[guess].id == id) return &entries[guess];
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(guess);  // ids are unique, so it cannot lie behind
  const auto it = std::lower_bound(entries.begin(), end, id, [](const Entry& e, std::uint32_t i) { return e.id < i; });
  return it != end && it->id == id ? &*it : nullptr;
}

}  // namespace

void Damage::add(std::string_view what, std::uint64_t offset) {
  ++count_;
  if (notes_.size() < kMaxNotes) notes_.push_back(printable(what) + " (byte " + std::to_string(offset) + ")");
}

void Damage::add(const Damage& more) {
  count_ += more.count_;
  for (const std::string& note : more.notes_) {
    if (notes_.size() < kMaxNotes) notes_.push_back(note);
  }
}

SiteInfo MethodEntry::site(std::size_t index) const {
  SiteInfo info = {};
  if (index < sites.size() / sizeof info) std::memcpy(&info, sites.data() + index * sizeof info, sizeof info);
  return info;
}

Result<Reader> Reader::open(const std::filesystem::path& file) {
  MappedFile mapped = TRY(MappedFile::open(file));
  const Bytes bytes = mapped.bytes();
  Result<Reader> reader = over(bytes);
  if (!reader.ok()) {
    Error error = std::move(reader).error();
    error.where.path = file.string();
    return error;
  }
  if (reader->flat_offset_ != 0) mapped.expect_scattered_reads(reader->flat_offset_);
  reader->file_ = std::move(mapped);
  return reader;
}

Result<Reader> Reader::over(Bytes bytes) {
  SONDE_CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) == 0);
  Reader reader;
  reader.bytes_ = bytes;
  TRY(reader.read_header());
  reader.read_chunks();
  reader.index_tables();
  return reader;
}

Result<void> Reader::read_header() {
  if (bytes_.size() < kHeaderSize) {
    return error_at(ErrorCode::kTruncated, "is shorter than the header of an arena", bytes_.size());
  }
  const auto* header = at<ArenaHeader>(0);
  if (std::memcmp(header->magic, kMagic, sizeof kMagic) != 0) return wrong_magic(header->magic);
  if (header->version != kVersion) {
    return error_at(ErrorCode::kUnsupported,
                    "has version " + std::to_string(header->version) + "; this Sonde reads version " +
                        std::to_string(kVersion) + ". Use the Sonde that recorded it",
                    offsetof(ArenaHeader, version));
  }
  base_address_ = header->base_address;
  if (base_address_ % alignof(std::uint64_t) != 0) {
    return error_at(ErrorCode::kMalformed, "its base address is not aligned", offsetof(ArenaHeader, base_address));
  }
  const std::uint64_t next = header->next.load(std::memory_order_acquire);  // pairs with Writer::new_chunk
  limit_ = std::min<std::uint64_t>(next, bytes_.size());
  if (next > bytes_.size()) {
    damage_.add("the file ends here, but " + std::to_string(next) + " bytes were in use", bytes_.size());
  } else if (next < kHeaderSize) {
    damage_.add("the end of what is in use lies inside the header", offsetof(ArenaHeader, next));
  }
  summary_ = {.state = static_cast<State>(header->state.load(std::memory_order_relaxed)),
              .flags = header->flags,
              .pid = header->pid,
              .start_ns = header->start_ns,
              .end_ns = header->end_ns,
              .own_cpu_ns = header->own_cpu_ns,
              .capacity = header->capacity,
              .used_bytes = limit_,
              .granularity = header->granularity,
              .jitter = header->jitter,
              .seed = header->seed,
              .max_path = header->max_path,
              .weight_scale = header->weight_scale,
              .weights = {},
              .jdk = terminated(header->jdk, sizeof header->jdk),
              .command = terminated(header->command, sizeof header->command),
              .sampling = header->sampling,
              .subgraph = header->subgraph};
  if ((header->flags & kFlat) != 0) read_flat_header(*header);
  for (std::uint32_t id = 0; id < kMaxCounters; ++id) {
    const std::uint64_t value = header->counters[id].load(std::memory_order_relaxed);
    if (value != 0) counters_.push_back({.id = static_cast<std::uint16_t>(id), .value = value});
  }
  return {};
}

void Reader::read_flat_header(const ArenaHeader& header) {
  const std::uint64_t blocks = header.flat_blocks.load(std::memory_order_acquire);  // pairs with FlatBlocks::lease
  const bool fits = header.flat_offset <= bytes_.size() && bytes_.size() - header.flat_offset >= kFlatRegionSize;
  if (!fits || header.flat_offset % alignof(FlatSlot) != 0 || blocks > kFlatBlocks) {
    return damage_.add("the flat region is not inside the file", offsetof(ArenaHeader, flat_offset));
  }
  flat_offset_ = header.flat_offset;
  flat_blocks_end_ = static_cast<std::uint32_t>(blocks);
  summary_.used_bytes += header.flat_reserved.load(std::memory_order_relaxed);
}

void Reader::read_chunks() {
  std::uint64_t offset = kHeaderSize;
  while (offset < limit_) {
    if (limit_ - offset < sizeof(ChunkHeader)) return damage_.add("a chunk is cut off", offset);
    const auto* chunk = at<ChunkHeader>(offset);
    const std::uint64_t size = chunk->size;
    if (size < sizeof(ChunkHeader) || size % 64 != 0) {
      return damage_.add("a chunk has a size of " + std::to_string(size) + "; what follows is not read", offset);
    }
    const std::uint64_t available = std::min(size, limit_ - offset);
    if (available < size) damage_.add("a chunk is cut off", offset);
    if (chunk->kind == ChunkKind::kRecords) {
      const std::uint64_t used = chunk->used.load(std::memory_order_acquire);  // pairs with Writer::append
      if (used < sizeof(ChunkHeader) || used > size) damage_.add("a chunk of records is too full", offset);
      read_records(offset, std::min(used, available));
    } else if (chunk->kind == ChunkKind::kOverflow) {
      read_overflow(offset, available);
    } else if (chunk->kind == ChunkKind::kTimeline) {
      const std::uint64_t used = chunk->used.load(std::memory_order_acquire);  // pairs with SampleTrees
      if (used < sizeof(ChunkHeader) || used > size) damage_.add("a chunk of the timeline is too full", offset);
      read_timeline(offset, std::min(used, available));
    } else if (chunk->kind != ChunkKind::kTree && chunk->kind != ChunkKind::kSamples &&
               chunk->kind != ChunkKind::kHot) {
      damage_.add("a chunk is of no known kind", offset);
    }
    offset += available;
  }
}

void Reader::read_records(std::uint64_t chunk, std::uint64_t used) {
  std::uint64_t at_record = sizeof(ChunkHeader);
  while (at_record < used) {
    const std::uint64_t offset = chunk + at_record;
    if (used - at_record < sizeof(RecordHeader)) return damage_.add("a record is cut off", offset);
    const auto* record = at<RecordHeader>(offset);
    const std::uint64_t size = record->size;
    if (size < sizeof(RecordHeader) || size % 8 != 0 || size > used - at_record) {
      return damage_.add("a record has a size of " + std::to_string(size) + "; the rest of its chunk is not read",
                         offset);
    }
    read_record(offset, record->kind, size);
    at_record += size;
  }
}

void Reader::read_record(std::uint64_t offset, RecordKind kind, std::uint64_t size) {
  bool is_complete = true;
  switch (kind) {
    case RecordKind::kClass: is_complete = read_class(offset, size); break;
    case RecordKind::kMethod: is_complete = read_method(offset, size); break;
    case RecordKind::kThread: is_complete = read_thread(offset, size); break;
    case RecordKind::kTree: is_complete = read_tree(offset, size); break;
    case RecordKind::kSampleTree: is_complete = read_sample_tree(offset, size); break;
    case RecordKind::kSubgraphTree: is_complete = read_subgraph_tree(offset, size); break;
    case RecordKind::kWeights: is_complete = read_weights(offset, size); break;
    default: return damage_.add("a record is of no known kind", offset);
  }
  if (!is_complete) damage_.add("a record is shorter than what it holds", offset);
}

bool Reader::read_weights(std::uint64_t offset, std::uint64_t size) {
  if (size < sizeof(WeightsRecord)) return false;
  const auto* record = at<WeightsRecord>(offset);
  if (size - sizeof(WeightsRecord) < record->length) return false;
  summary_.weights = {at<char>(offset + sizeof(WeightsRecord)), record->length};
  return true;
}

bool Reader::read_class(std::uint64_t offset, std::uint64_t size) {
  if (size < sizeof(ClassRecord)) return false;
  const auto* record = at<ClassRecord>(offset);
  if (size - sizeof(ClassRecord) < std::uint64_t{record->name_length} + record->source_length) return false;
  const char* text = at<char>(offset + sizeof(ClassRecord));
  classes_.push_back({.id = record->class_id,
                      .flags = record->flags,
                      .name = {text, record->name_length},
                      .source_file = {text + record->name_length, record->source_length}});
  return true;
}

bool Reader::read_method(std::uint64_t offset, std::uint64_t size) {
  if (size < sizeof(MethodRecord)) return false;
  const auto* record = at<MethodRecord>(offset);
  const std::uint64_t sites_size = std::uint64_t{record->site_count} * sizeof(SiteInfo);
  const std::uint64_t names_size =
      std::uint64_t{record->name_length} + record->descriptor_length + record->class_name_length;
  if (size - sizeof(MethodRecord) < sites_size + names_size) return false;
  const char* name = at<char>(offset + sizeof(MethodRecord) + sites_size);
  const char* descriptor = name + record->name_length;
  methods_.push_back({.id = record->method_id,
                      .class_id = record->class_id,
                      .access_flags = record->access_flags,
                      .flags = record->flags,
                      .constant_bytecodes = record->constant_bytecodes,
                      .first_line = record->first_line,
                      .name = {name, record->name_length},
                      .descriptor = {descriptor, record->descriptor_length},
                      .class_name = {descriptor + record->descriptor_length, record->class_name_length},
                      .sites = bytes_.subspan(offset + sizeof(MethodRecord), sites_size)});
  return true;
}

bool Reader::read_thread(std::uint64_t offset, std::uint64_t size) {
  if (size < sizeof(ThreadRecord)) return false;
  const auto* record = at<ThreadRecord>(offset);
  if (size - sizeof(ThreadRecord) < record->name_length) return false;
  threads_.push_back({.tree_id = record->tree_id,
                      .is_virtual = (record->flags & 1) != 0,
                      .java_thread_id = record->java_thread_id,
                      .start_ns = record->start_ns,
                      .name = {at<char>(offset + sizeof(ThreadRecord)), record->name_length}});
  return true;
}

bool Reader::read_tree(std::uint64_t offset, std::uint64_t size) {
  if (size < sizeof(TreeRecord)) return false;
  const auto* record = at<TreeRecord>(offset);
  const auto header = offset_of(record->address, sizeof(TreeHeader));
  if (!header) {
    damage_.add("tree " + std::to_string(record->tree_id) + " lies outside what is in use", offset);
    return true;
  }
  trees_.push_back({.id = record->tree_id,
                    .flags = record->flags,
                    .group = (record->flags & kTreeOfMember) != 0 ? record->group : 0,
                    .address = record->address,
                    .root = at<TreeHeader>(*header)->root});
  return true;
}

void Reader::read_overflow(std::uint64_t chunk, std::uint64_t size) {
  std::uint64_t page = (chunk + sizeof(ChunkHeader) + kPageSize - 1) / kPageSize * kPageSize;
  for (; page + kPageSize <= chunk + size; page += kPageSize) {
    const auto* overflow = at<OverflowPage>(page);
    if (__atomic_load_n(&overflow->is_used, __ATOMIC_ACQUIRE) == 0) continue;  // pairs with the agent's OverflowPool
    overflows_.push_back({.tree_id = overflow->tree_id, .offset = page});
  }
}

bool Reader::read_sample_tree(std::uint64_t offset, std::uint64_t size) {
  if (size < sizeof(SampleTreeRecord)) return false;
  const auto* record = at<SampleTreeRecord>(offset);
  if (static_cast<std::uint8_t>(record->kind) > static_cast<std::uint8_t>(SampleTreeKind::kWall) ||
      static_cast<std::uint8_t>(record->state) >= kThreadStates) {
    damage_.add("a tree of samples is of no known kind", offset);
    return true;
  }
  sample_trees_.push_back({.id = record->tree_id, .kind = record->kind, .state = record->state, .root = record->root});
  return true;
}

bool Reader::read_subgraph_tree(std::uint64_t offset, std::uint64_t size) {
  if (size < sizeof(SubgraphTreeRecord)) return false;
  const auto* record = at<SubgraphTreeRecord>(offset);
  const auto header = offset_of(record->address, sizeof(SubgraphTree));
  if (!header) {
    damage_.add("a tree of the subgraph lies outside what is in use", offset);
    return true;
  }
  const auto* tree = at<SubgraphTree>(*header);
  subgraph_trees_.push_back({.id = record->tree_id,
                             .threads = tree->threads,
                             .nodes = tree->nodes,
                             .lost = tree->lost,
                             .root = __atomic_load_n(&tree->root, __ATOMIC_ACQUIRE)});  // pairs with SondeSubgraph
  return true;
}

void Reader::read_timeline(std::uint64_t chunk, std::uint64_t used) {
  const std::uint64_t begin = sizeof(ChunkHeader);
  for (std::uint64_t entry = begin; entry + sizeof(TimelineEntry) <= used; entry += sizeof(TimelineEntry)) {
    timeline_.push_back(*at<TimelineEntry>(chunk + entry));
  }
}

void Reader::index_tables() {
  std::stable_sort(overflows_.begin(), overflows_.end(),
                   [](const OverflowEntry& a, const OverflowEntry& b) { return a.tree_id < b.tree_id; });
  sort_unique(classes_, "class", damage_);
  sort_unique(methods_, "method", damage_);
  sort_unique(trees_, "tree", damage_);
  sort_unique(sample_trees_, "tree of samples", damage_);
  sort_unique(subgraph_trees_, "tree of the subgraph", damage_);
  // Nodes know the call site they hang at; roots do not, so no two trees may have the same.
  std::unordered_set<std::uint64_t> roots;
  std::erase_if(trees_, [&](const TreeEntry& tree) {
    if (roots.insert(tree.root).second) return false;
    damage_.add("tree " + std::to_string(tree.id) + " has the root of another", tree.address - base_address_);
    return true;
  });
  for (TreeEntry& tree : trees_) {
    if (tree.group == 0) continue;
    const TreeEntry* group = find_by_id(trees_, tree.group);
    if (group != nullptr && (group->flags & kTreeOfGroup) != 0) continue;
    damage_.add("tree " + std::to_string(tree.id) + " is a member of no known group", tree.address - base_address_);
    tree.group = 0;
  }
  std::erase_if(sample_trees_, [&](const SampleTreeEntry& tree) {
    if (roots.insert(tree.root).second) return false;
    damage_.add("tree " + std::to_string(tree.id) + " has the root of another", tree.root - base_address_);
    return true;
  });
}

std::uint64_t Reader::executed(const TreeEntry& tree) const {
  const auto root = offset_of(tree.root, sizeof(Node));
  return root ? at<Node>(*root)->bytecodes + at<Node>(*root)->calls : 0;
}

const ClassEntry* Reader::find_class(std::uint32_t id) const { return find_by_id(classes_, id); }
const MethodEntry* Reader::find_method(std::uint32_t id) const { return find_by_id(methods_, id); }
const TreeEntry* Reader::find_tree(std::uint32_t id) const { return find_by_id(trees_, id); }

TreeState Reader::state_of(const TreeEntry& tree) const {
  const auto offset = offset_of(tree.address, sizeof(TreeHeader));
  if (!offset) return {};
  const auto* header = at<TreeHeader>(*offset);
  return {.nodes = header->nodes,
          .threads = header->threads,
          .moves = __atomic_load_n(&header->move.sequence, __ATOMIC_ACQUIRE)};
}

Overflow Reader::overflow_of(std::uint32_t tree_id) const {
  Overflow sum;
  const auto comes_before = [](const OverflowEntry& entry, std::uint32_t id) { return entry.tree_id < id; };
  auto it = std::lower_bound(overflows_.begin(), overflows_.end(), tree_id, comes_before);
  for (; it != overflows_.end() && it->tree_id == tree_id; ++it) {
    const auto* page = at<OverflowPage>(it->offset);
    sum.calls += page->node.calls + page->site.child;
    sum.bytecodes += page->node.bytecodes + page->site.bytecodes;
  }
  return sum;
}

std::uint64_t Reader::limit() const {
  if (!is_live()) return limit_;
  const std::uint64_t next = at<ArenaHeader>(0)->next.load(std::memory_order_acquire);  // pairs with Writer::new_chunk
  return std::min<std::uint64_t>(next, bytes_.size());
}

std::optional<std::uint64_t> Reader::offset_of(std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t offset = address - base_address_;  // wraps around below the base: a huge offset
  const std::uint64_t end = limit();
  if (offset < kHeaderSize || offset >= end || end - offset < size || offset % 8 != 0) return std::nullopt;
  return offset;
}

}  // namespace sonde::arena
