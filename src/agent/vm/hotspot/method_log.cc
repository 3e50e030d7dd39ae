// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/method_log.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "agent/vm/hotspot/code_cache.h"

namespace sonde::agent::hotspot {
namespace {

bool is_address(std::uint64_t word) SIGNAL_SAFE { return word % 8 == 0 && word >= 4096; }

}  // namespace

// A method as a handler found it.
struct MethodLog::Sighting {
  Record record;
  std::uint64_t texts[kTexts];  // addresses
};

bool MethodLog::start(const Layout& layout) {
  layout_ = layout;
  self_ = getpid();
  if (memory_ == nullptr) {
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<std::uint8_t*>(memory);
  }
  madvise(memory_, kSize, MADV_DONTNEED);
  for (Entry& entry : entries_) entry.sum.store(0, std::memory_order_relaxed);
  for (auto& known : compilations_) known.store(0, std::memory_order_relaxed);
  end_.store(sizeof(Record));  // 0 is no place
  return true;
}

std::uint64_t MethodLog::place_of(std::uint64_t method, std::uint64_t bcp) SIGNAL_SAFE {
  const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
  Known known = find(method);
  if (known.place != 0 && known.epoch == epoch && is_same(known.identity)) return known.place;
  if (known.place != 0 && known.epoch != epoch && is_still_there(layout_, self_, known.identity)) {
    known.epoch = epoch;
    remember(known);
    return known.place;
  }
  Sighting sighting{};
  if (memory_ == nullptr || !look_at(method, bcp, sighting)) return 0;
  const std::uint64_t place = append(sighting);
  if (place != 0) remember({.identity = sighting.record.identity, .place = place, .epoch = epoch});
  return place;
}

MethodLog::Known MethodLog::find(std::uint64_t method) const SIGNAL_SAFE {
  const Entry& entry = entries_[(method * 0x9e3779b97f4a7c15) >> 52];
  static_assert(kEntries == std::size_t{1} << (64 - 52));
  std::uint64_t words[kWords + 2];
  const std::uint64_t sum = entry.sum.load(std::memory_order_acquire);  // pairs with remember()
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < kWords + 2; ++i) {
    words[i] = entry.words[i].load(std::memory_order_relaxed);
    found = found * 31 + words[i];
  }
  Known known{};
  if (sum != found || words[0] != method) return known;
  static_assert(sizeof known == sizeof words);
  std::memcpy(&known, words, sizeof known);
  return known;
}

void MethodLog::remember(const Known& known) SIGNAL_SAFE {
  Entry& entry = entries_[(known.identity.method * 0x9e3779b97f4a7c15) >> 52];
  std::uint64_t words[kWords + 2];
  std::memcpy(words, &known, sizeof words);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kWords + 2; ++i) {
    entry.words[i].store(words[i], std::memory_order_relaxed);
    sum = sum * 31 + words[i];
  }
  entry.sum.store(sum, std::memory_order_release);  // the record in the log was written before
}

// Each pointer is followed only after it was found to be the known one, whose memory is there.
bool MethodLog::is_same(const MethodIdentity& identity) const SIGNAL_SAFE {
  if (load<std::uint64_t>(identity.method + layout_.method_const) != identity.const_method) return false;
  if (load<std::uint64_t>(identity.const_method + layout_.const_pool) != identity.pool) return false;
  const std::uint64_t name_index = load<std::uint16_t>(identity.const_method + layout_.const_name);
  const std::uint64_t descriptor_index = load<std::uint16_t>(identity.const_method + layout_.const_signature);
  if ((name_index << 16 | descriptor_index) != identity.indices) return false;
  return load<std::uint64_t>(identity.name_entry(layout_)) == identity.name &&
         load<std::uint64_t>(identity.descriptor_entry(layout_)) == identity.descriptor &&
         load<std::uint64_t>(identity.pool + layout_.pool_holder) == identity.holder &&
         load<std::uint64_t>(identity.holder + layout_.klass_name) == identity.class_name;
}

// From the method to its names, one system call for each step.
bool MethodLog::look_at(std::uint64_t method, std::uint64_t bcp, Sighting& sighting) const SIGNAL_SAFE {
  Record& record = sighting.record;
  MethodIdentity& identity = record.identity;
  std::uint8_t bytes[kLargestStruct];
  MemoryPieces method_pieces;
  method_pieces.add(method + layout_.method_const, identity.const_method);
  method_pieces.add(method + layout_.method_access_flags, record.access_flags);
  if (!is_address(method) || !method_pieces.read(self_) || !is_address(identity.const_method)) return false;

  MemoryPieces const_pieces;
  const_pieces.add(identity.const_method, bytes, layout_.const_size);
  if (!const_pieces.read(self_)) return false;
  identity.method = method;
  identity.take_const_method(layout_, bytes);
  record.code_size = field<std::uint16_t>(bytes, layout_.const_code_size);
  record.has_lines = field<std::uint16_t>(bytes, layout_.const_flags) & layout_.const_has_lines;
  const std::uint64_t code = identity.const_method + layout_.const_size;
  if (bcp != 0 && (bcp < code || bcp >= code + record.code_size)) return false;

  MemoryPieces pool_pieces;
  pool_pieces.add(identity.pool, bytes, layout_.pool_size);
  pool_pieces.add(identity.name_entry(layout_), identity.name);
  pool_pieces.add(identity.descriptor_entry(layout_), identity.descriptor);
  if (!is_address(identity.pool) || !pool_pieces.read(self_)) return false;
  const std::uint64_t length = field<std::uint32_t>(bytes, layout_.pool_length);
  const auto source_index = field<std::uint16_t>(bytes, layout_.pool_source_file);
  identity.holder = field<std::uint64_t>(bytes, layout_.pool_holder);
  if (identity.indices >> 16 >= length || (identity.indices & 0xffff) >= length || source_index >= length) return false;

  MemoryPieces holder_pieces;
  std::uint64_t source_file = 0;
  holder_pieces.add(identity.holder + layout_.klass_name, identity.class_name);
  holder_pieces.add(identity.entry(layout_, source_index), source_file);
  if (!is_address(identity.holder) || !holder_pieces.read(self_)) return false;

  const std::uint64_t symbols[kTexts] = {identity.class_name, identity.name, identity.descriptor, source_file};
  MemoryPieces lengths;
  for (std::size_t i = 0; i < kTexts; ++i) {
    sighting.texts[i] = symbols[i] + layout_.symbol_body;
    if (i < 3 || source_index != 0) lengths.add(symbols[i] + layout_.symbol_length, record.lengths[i]);
  }
  return lengths.read(self_) && record.lengths[0] != 0 && record.lengths[1] != 0 && record.lengths[2] != 0;
}

std::uint64_t MethodLog::append(const Sighting& sighting) SIGNAL_SAFE {
  std::uint64_t text = 0;
  for (const std::uint16_t length : sighting.record.lengths) text += length;
  const std::uint64_t size = (sizeof(Record) + text + 7) & ~std::uint64_t{7};
  if (text > kMaxText || end_.load(std::memory_order_relaxed) > kSize - size) return 0;
  const std::uint64_t place = end_.fetch_add(size, std::memory_order_relaxed);
  if (place > kSize - size) return 0;  // others were faster
  std::memcpy(memory_ + place, &sighting.record, sizeof(Record));
  std::uint8_t* out = memory_ + place + sizeof(Record);
  std::uint8_t* descriptor = out + sighting.record.lengths[0] + sighting.record.lengths[1];
  MemoryPieces texts;
  for (std::size_t i = 0; i < kTexts; ++i) {
    texts.add(sighting.texts[i], out, sighting.record.lengths[i]);
    out += sighting.record.lengths[i];
  }
  return texts.read(self_) && *descriptor == '(' ? place : 0;
}

std::optional<MethodLog::Method> MethodLog::at(std::uint64_t place) const {
  if (memory_ == nullptr || place < sizeof(Record) || place > kSize - sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, memory_ + place, sizeof record);
  const char* text = reinterpret_cast<const char*>(memory_ + place + sizeof record);
  Method method{.identity = record.identity,
                .code = record.identity.const_method + layout_.const_size,
                .code_size = record.code_size,
                .has_lines = record.has_lines != 0,
                .access_flags = record.access_flags,
                .class_name = {},
                .name = {},
                .descriptor = {},
                .source_file = {}};
  std::string_view* const texts[kTexts] = {&method.class_name, &method.name, &method.descriptor, &method.source_file};
  for (std::size_t i = 0; i < kTexts; ++i) {
    *texts[i] = {text, record.lengths[i]};
    text += record.lengths[i];
  }
  return method;
}

}  // namespace sonde::agent::hotspot
