// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/unwinder.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "agent/vm/hotspot/safe_memory.h"
#include "base/running_kernel.h"

namespace sonde::agent::native {
namespace {

constexpr std::size_t kMaxPlaces = 1 << 16;  // then the table starts again: libraries may have been replaced meanwhile
constexpr std::size_t kMaxFrames = 256;
constexpr std::uint32_t kMaxEntry = 4096;  // bytes of an FDE

struct FunctionEntry {
  std::uint64_t begin;
  std::uint64_t fde;
};

// .eh_frame_hdr (LSB, "DWARF extensions"): with a sorted table of functions, in the encoding that every linker uses.
std::optional<FunctionEntry> find_function(std::uint64_t table, std::uint64_t pc) {
  constexpr std::uint8_t kEncodings[] = {0x1b, 0x03, 0x3b};  // pcrel sdata4, udata4, datarel sdata4
  struct Header {
    std::uint8_t version;
    std::uint8_t encodings[3];
    std::int32_t frames;
    std::uint32_t count;
  };
  struct Pair {
    std::int32_t begin;
    std::int32_t fde;
  };
  const auto header = hotspot::read_value<Header>(table);
  if (!header || header->version != 1 || std::memcmp(header->encodings, kEncodings, sizeof kEncodings) != 0)
    return std::nullopt;
  const auto pair_at = [&](std::uint64_t i) {
    return hotspot::read_value<Pair>(table + sizeof(Header) + i * sizeof(Pair));
  };
  const auto address = [&](std::int32_t offset) { return table + static_cast<std::uint64_t>(std::int64_t{offset}); };
  std::uint64_t low = 0;
  std::uint64_t high = header->count;
  std::optional<Pair> found;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    const auto pair = pair_at(middle);
    if (!pair) return std::nullopt;
    if (address(pair->begin) <= pc) {
      found = pair;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (!found) return std::nullopt;
  return FunctionEntry{.begin = address(found->begin), .fde = address(found->fde)};
}

// An entry of .eh_frame with its length.
bool read_entry(std::uint64_t address, std::vector<std::uint8_t>& bytes) {
  const auto length = hotspot::read_value<std::uint32_t>(address);
  if (!length || *length == 0 || *length > kMaxEntry) return false;
  bytes.resize(*length + 4);
  return hotspot::read_memory(address, bytes.data(), bytes.size());
}

std::optional<UnwindRule> rule_of(std::uint64_t fde_address, std::uint64_t pc) {
  std::vector<std::uint8_t> fde;
  std::vector<std::uint8_t> cie;
  if (!read_entry(fde_address, fde)) return std::nullopt;
  const Entry fde_entry{.bytes = fde, .address = fde_address};
  const auto cie_at = cie_address(fde_entry);
  if (!cie_at || !read_entry(*cie_at, cie)) return std::nullopt;
  return find_rule({.bytes = cie, .address = *cie_at}, fde_entry, pc);
}

bool is_of_kernel(std::uint64_t pc) { return pc >> 63 != 0; }

// The copied piece of a stack.
class Copy {
 public:
  Copy(std::uint64_t begin, Bytes bytes) : begin_(begin), bytes_(bytes) {}

  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address) const {
    const std::uint64_t at = address - begin_;
    if (at % 8 != 0 || at >= bytes_.size() || bytes_.size() - at < 8) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

 private:
  std::uint64_t begin_;
  Bytes bytes_;
};

struct Registers {
  std::uint64_t pc;
  std::uint64_t sp;
  std::uint64_t fp;
};

// False where the copy ends or nothing makes sense.
bool go_to_caller(const Copy& stack, const UnwindRule& rule, Registers& at) {
  const std::uint64_t base = rule.cfa_base == UnwindRule::Base::kFramePointer ? at.fp : at.sp;
  const std::uint64_t cfa = base + static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
  const auto at_offset = [&](std::int32_t offset) {
    return stack.word(cfa + static_cast<std::uint64_t>(std::int64_t{offset}));
  };
  const auto pc = at_offset(rule.return_offset);
  const auto fp = rule.fp_is_saved ? at_offset(rule.fp_offset) : std::optional(at.fp);
  if (!pc || !fp || cfa <= at.sp) return false;
  at = {.pc = *pc, .sp = cfa, .fp = *fp};
  return true;
}

}  // namespace

Unwinder::Place Unwinder::look_at(std::uint64_t pc, std::uint64_t now_ns) {
  Place place;
  if (is_of_kernel(pc)) {
    if (kernel_.empty()) kernel_ = running_kernel();
    place.method_id = methods_.id_of_function(kernel_, "kernel", pc);
    return place;
  }
  const Module* module = modules_.find(pc, now_ns);
  if (module == nullptr) return place;
  const auto function = module->unwind_table != 0 ? find_function(module->unwind_table, pc) : std::nullopt;
  const bool is_in_module = function && function->begin >= module->begin;
  place.method_id =
      methods_.id_of_function(module->path, module->name(), (is_in_module ? function->begin : pc) - module->bias);
  const auto rule = is_in_module ? rule_of(function->fde, pc) : std::nullopt;
  place.has_rule = rule.has_value();
  if (rule) place.rule = *rule;
  return place;
}

Unwinder::Place Unwinder::place_of(std::uint64_t pc, std::uint64_t now_ns) {
  if (const auto found = places_.find(pc); found != places_.end()) return found->second;
  const Place place = look_at(pc, now_ns);
  if (places_.size() >= kMaxPlaces) places_.clear();
  if (place.method_id != 0) places_.emplace(pc, place);
  return place;
}

std::size_t Unwinder::unwind(const RawSample& sample, std::vector<StackFrame>& frames) {
  for (std::uint16_t i = 0; i < sample.kernel_depth; ++i) {
    const Place place = place_of(sample.kernel()[i] - (i == 0 ? 0 : 1), sample.time_ns);
    frames.push_back({.method_id = place.method_id, .line = 0, .bci = 0});
  }
  return sample.kernel_depth + unwind_program(sample, frames);
}

std::size_t Unwinder::unwind_program(const RawSample& sample, std::vector<StackFrame>& frames) {
  const NativeStack* native = sample.native();
  if (native == nullptr) return 0;
  // Frame pointers: the caller's is where rbp points, the return address above it.
  constexpr UnwindRule kByFramePointer{
      .cfa_base = UnwindRule::Base::kFramePointer, .fp_is_saved = true, .cfa_offset = 16, .fp_offset = -16};
  const Copy stack(native->sp, {native->bytes(), sample.native_size - sizeof(NativeStack)});
  Registers at{.pc = native->pc, .sp = native->sp, .fp = native->fp};
  std::size_t count = 0;
  for (bool is_top = true; count < kMaxFrames && !is_java_(at.pc); is_top = false) {
    // A return address may lie behind the last instruction of its function.
    const Place place = place_of(is_top ? at.pc : at.pc - 1, sample.time_ns);
    if (place.method_id == 0) break;
    frames.push_back({.method_id = place.method_id, .line = 0, .bci = 0});
    ++count;
    if (!go_to_caller(stack, place.has_rule ? place.rule : kByFramePointer, at)) break;
  }
  return count;
}

StackBounds Unwinder::bounds_of(std::uint64_t stack_pointer) {
  const Modules::Range range = Modules::mapping_of(stack_pointer);
  return {.low = range.begin, .high = range.end};
}

}  // namespace sonde::agent::native
