// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/perf_counters.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/vm/hotspot/vm_structs.h"

namespace sonde::agent::hotspot {
namespace {

constexpr std::uint32_t kMagic = 0xc0c0feca;  // the bytes ca fe c0 c0
constexpr std::uint8_t kMajorVersion = 2;
constexpr std::uint8_t kLong = 'J';

struct Prologue {
  std::uint32_t magic;
  std::uint8_t byte_order;
  std::uint8_t major_version;
  std::uint8_t minor_version;
  std::uint8_t is_accessible;
  std::uint32_t used;
  std::uint32_t overflow;
  std::int64_t modified;
  std::uint32_t first_entry;
  std::uint32_t entry_count;
};
static_assert(sizeof(Prologue) == 32);

struct Entry {
  std::uint32_t size;
  std::uint32_t name;  // offsets from the entry
  std::uint32_t vector_length;
  std::uint8_t type;
  std::uint8_t flags;
  std::uint8_t units;
  std::uint8_t variability;
  std::uint32_t value;
};
static_assert(sizeof(Entry) == 20);

template <typename T>
T read(Bytes memory, std::size_t offset) {
  T value{};
  if (offset <= memory.size() && memory.size() - offset >= sizeof(T))
    std::memcpy(&value, memory.data() + offset, sizeof(T));
  return value;
}

bool has_name(Bytes entry, std::uint32_t offset, std::string_view name) {
  return offset < entry.size() && entry.size() - offset > name.size() &&
         std::memcmp(entry.data() + offset, name.data(), name.size()) == 0 && entry[offset + name.size()] == 0;
}

// Where the JVM says that its counters are.
Bytes perf_memory() {
  const VmStructs structs = VmStructs::load();
  const auto start = structs.address("PerfMemory", "_start");
  const auto end = structs.address("PerfMemory", "_end");
  if (!start || !end) return {};
  const auto* first = *reinterpret_cast<const std::uint8_t* const*>(*start);
  const auto* last = *reinterpret_cast<const std::uint8_t* const*>(*end);
  return first == nullptr || last <= first ? Bytes() : Bytes(first, last);
}

// Null where there is none.
struct Counters {
  const std::int64_t* times = nullptr;
  const std::int64_t* ns = nullptr;
  const std::int64_t* reaching_ns = nullptr;
  const std::int64_t* operations_ns = nullptr;
  std::array<const std::int64_t*, 3> collectors{};
  const std::int64_t* compiled_ns = nullptr;
};

Counters find_counters() {
  const Bytes memory = perf_memory();
  // Clocks of HotSpot on Linux tick in nanoseconds, which it says itself.
  const std::int64_t* frequency = find_perf_counter(memory, "sun.os.hrt.frequency");
  if (frequency == nullptr || *frequency != 1'000'000'000) return {};
  return {.times = find_perf_counter(memory, "sun.rt.safepoints"),
          .ns = find_perf_counter(memory, "sun.rt.safepointTime"),
          .reaching_ns = find_perf_counter(memory, "sun.rt.safepointSyncTime"),
          .operations_ns = find_perf_counter(memory, "sun.threads.vmOperationTime"),
          .collectors = {find_perf_counter(memory, "sun.gc.collector.0.time"),
                         find_perf_counter(memory, "sun.gc.collector.1.time"),
                         find_perf_counter(memory, "sun.gc.collector.2.time")},
          .compiled_ns = find_perf_counter(memory, "java.ci.totalTime")};
}

const Counters& counters() {
  static const Counters found = find_counters();
  return found;
}

std::int64_t value_of(const std::int64_t* counter) {
  return counter == nullptr ? 0 : __atomic_load_n(counter, __ATOMIC_RELAXED);
}

}  // namespace

const std::int64_t* find_perf_counter(Bytes memory, std::string_view name) {
  const auto prologue = read<Prologue>(memory, 0);
  if (prologue.magic != kMagic || prologue.major_version != kMajorVersion) return nullptr;
  std::size_t offset = prologue.first_entry;
  for (std::uint32_t i = 0; i < prologue.entry_count && offset < memory.size(); ++i) {
    const auto entry = read<Entry>(memory, offset);
    if (entry.size < sizeof(Entry) || entry.size > memory.size() - offset) return nullptr;
    const Bytes own = memory.subspan(offset, entry.size);
    const bool is_number = entry.type == kLong && entry.vector_length == 0 && entry.value % 8 == 0 &&
                           std::uint64_t{entry.value} + sizeof(std::int64_t) <= entry.size;
    if (is_number && has_name(own, entry.name, name))
      return reinterpret_cast<const std::int64_t*>(own.data() + entry.value);
    offset += entry.size;
  }
  return nullptr;
}

Stopped stopped_so_far() {
  Stopped stopped{.times = value_of(counters().times),
                  .ns = value_of(counters().ns),
                  .reaching_ns = value_of(counters().reaching_ns),
                  .operations_ns = value_of(counters().operations_ns)};
  for (const std::int64_t* collector : counters().collectors) stopped.collecting_ns += value_of(collector);
  return stopped;
}

std::optional<std::uint64_t> stopped_between(const Stopped& before, const Stopped& now) {
  if (now.ns == 0) return std::nullopt;
  std::int64_t standing = now.ns - before.ns;
  if (now.operations_ns != 0) standing = std::min(standing, now.operations_ns - before.operations_ns);
  const std::int64_t all = now.reaching_ns - before.reaching_ns + standing;
  const std::int64_t others = now.times - before.times > 1 ? now.collecting_ns - before.collecting_ns : 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(all - others, 0));
}

std::uint64_t compiled_ns_so_far() { return static_cast<std::uint64_t>(value_of(counters().compiled_ns)); }

}  // namespace sonde::agent::hotspot
