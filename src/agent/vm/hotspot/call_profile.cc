// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/call_profile.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/vm/hotspot/safe_memory.h"
#include "agent/vm/hotspot/symbol.h"
#include "classfile/instruction.h"

namespace sonde::agent::hotspot {

using classfile::Instruction;
using classfile::Opcode;

namespace {

// DataLayout, the same in JDK 17 to 25: one word of tag (u1), flags (u1), bci (u2) and traps (u4), then cells of a
// word.
constexpr std::size_t kWord = 8;
constexpr std::size_t kTag = 0;
constexpr std::size_t kBci = 2;
constexpr std::size_t kCells = kWord;
constexpr std::size_t kReceivers = 2;  // TypeProfileWidth; with another one, data does not fit its code

enum class Tag : std::uint8_t {
  kNone = 0,  // as an answer: the instruction has no entry
  kBit = 1,
  kCounter = 2,
  kJump = 3,
  kReceiver = 4,
  kVirtualCall = 5,
  kBranch = 7,
  kMultiBranch = 8,
  kCallType = 10,
  kVirtualCallType = 11,
};

// What the JVM keeps for an instruction (MethodData::initialize_data); of calls, the plain form.
Tag tag_for(Opcode opcode) {
  switch (opcode) {
    case Opcode::checkcast:
    case Opcode:: instanceof:
    case Opcode::aastore: return Tag::kReceiver;
    case Opcode::invokestatic:
    case Opcode::invokespecial:
    case Opcode::invokedynamic: return Tag::kCounter;
    case Opcode::invokevirtual:
    case Opcode::invokeinterface: return Tag::kVirtualCall;
    case Opcode::goto_:
    case Opcode::goto_w:
    case Opcode::jsr:
    case Opcode::jsr_w: return Tag::kJump;
    case Opcode::tableswitch:
    case Opcode::lookupswitch: return Tag::kMultiBranch;
    default: break;
  }
  const bool is_if = (opcode >= Opcode::ifeq && opcode <= Opcode::if_acmpne) || opcode == Opcode::ifnull ||
                     opcode == Opcode::ifnonnull;
  return is_if ? Tag::kBranch : Tag::kNone;
}

bool fits(Tag expected, Tag found) {
  return found == expected || (expected == Tag::kReceiver && found == Tag::kBit) ||
         (expected == Tag::kCounter && found == Tag::kCallType) ||
         (expected == Tag::kVirtualCall && found == Tag::kVirtualCallType);
}

// One entry after the other; what lies beyond the end is zero.
class Entries {
 public:
  Entries(Bytes data, CellsBeforeReceivers cells) : data_(data), first_receiver_(static_cast<std::size_t>(cells)) {}

  [[nodiscard]] bool has_one() const { return at_ + kCells <= data_.size(); }
  [[nodiscard]] Tag tag() const { return static_cast<Tag>(data_[at_ + kTag]); }
  [[nodiscard]] std::uint32_t bci() const {
    std::uint16_t bci = 0;
    std::memcpy(&bci, data_.data() + at_ + kBci, sizeof bci);
    return bci;
  }
  [[nodiscard]] std::uint64_t cell(std::size_t i) const {
    std::uint64_t value = 0;
    const std::size_t at = at_ + kCells + i * kWord;
    if (at + kWord <= data_.size()) std::memcpy(&value, data_.data() + at, kWord);
    return value;
  }
  [[nodiscard]] std::size_t receiver(std::size_t i) const { return first_receiver_ + 2 * i; }  // each with its count
  void skip() { at_ += kCells + std::min(cells(), data_.size()) * kWord; }

 private:
  [[nodiscard]] std::size_t cells() const {
    const std::size_t with_receivers = receiver(kReceivers);
    switch (tag()) {
      case Tag::kCounter: return 1;
      case Tag::kJump: return 2;
      case Tag::kReceiver:
      case Tag::kVirtualCall: return with_receivers;
      case Tag::kBranch: return 3;
      case Tag::kMultiBranch: return 1 + cell(0);
      case Tag::kCallType: return 2 + cell(1);
      case Tag::kVirtualCallType: return with_receivers + 1 + cell(with_receivers);
      default: return 0;
    }
  }

  Bytes data_;
  std::size_t first_receiver_;
  std::size_t at_ = 0;
};

void add_call(const Entries& entry, std::uint32_t pc, bool has_receivers, std::vector<ProfiledCall>& calls) {
  ProfiledCall call{.pc = classfile::Pc(pc), .count = entry.cell(0), .receivers = {}};
  for (std::size_t i = 0; has_receivers && i < kReceivers; ++i) {
    const std::uint64_t cls = entry.cell(entry.receiver(i));
    const std::uint64_t count = entry.cell(entry.receiver(i) + 1);
    if (cls == 0) continue;
    call.receivers.push_back({cls, count});
    call.count += count;
  }
  if (call.count != 0) calls.push_back(std::move(call));
}

}  // namespace

std::optional<std::vector<ProfiledCall>> profiled_calls(Bytes data, Bytes code, CellsBeforeReceivers cells) {
  std::vector<ProfiledCall> calls;
  Entries entry(data, cells);
  for (std::uint32_t pc = 0; pc < code.size();) {
    const Instruction insn(code.data(), pc);
    const Tag expected = tag_for(insn.opcode());
    if (insn.opcode() == Opcode::ret) return std::nullopt;  // not in today's classes
    if (expected != Tag::kNone) {
      if (!entry.has_one() || entry.bci() != pc || !fits(expected, entry.tag())) return std::nullopt;
      if (classfile::is_invoke(insn.opcode())) add_call(entry, pc, expected == Tag::kVirtualCall, calls);
      entry.skip();
    }
    pc = insn.next_pc().value();
  }
  return calls;
}

Result<CallProfiles> CallProfiles::find(const VmStructs& structs) {
  CallProfiles profiles(TRY(find_layout(structs)));
  const auto of_method = structs.offset("Method", "_method_data");
  const auto size = structs.offset("MethodData", "_size");
  const auto entries = structs.offset("MethodData", "_data[0]");
  if (!of_method || !size || !entries || structs.offset("DataLayout", "_header._struct._tag") != kTag ||
      structs.offset("DataLayout", "_header._struct._bci") != kBci ||
      structs.offset("DataLayout", "_cells[0]") != kCells)
    return Error{ErrorCode::kUnsupported, "the layout of MethodData is not known"};
  profiles.method_data_ = static_cast<std::uint32_t>(*of_method);
  profiles.data_size_ = static_cast<std::uint32_t>(*size);
  profiles.data_entries_ = static_cast<std::uint32_t>(*entries);
  return profiles;
}

std::vector<ProfiledCall> CallProfiles::calls_of(std::uint64_t method, Bytes code) {
  const std::vector<std::uint8_t> data = data_of(method, code.size());
  if (data.empty()) return {};
  if (cells_) return profiled_calls(data, code, *cells_).value_or(std::vector<ProfiledCall>());
  auto one = profiled_calls(data, code, CellsBeforeReceivers::kOne);
  auto two = profiled_calls(data, code, CellsBeforeReceivers::kTwo);
  if (one.has_value() == two.has_value()) return {};  // this one does not tell
  cells_ = one ? CellsBeforeReceivers::kOne : CellsBeforeReceivers::kTwo;
  return std::move(one ? *one : *two);
}

std::vector<std::uint8_t> CallProfiles::data_of(std::uint64_t method, std::size_t code_size) const {
  constexpr std::int32_t kMost = 1 << 20;
  const auto address =
      read_value<std::uint64_t>(method).value_or(0);  // a jmethodID points to where the Method is noted
  const auto const_method = read_value<std::uint64_t>(address + layout_.method_const).value_or(0);
  if (read_value<std::uint16_t>(const_method + layout_.const_code_size).value_or(0) != code_size) return {};
  const auto data = read_value<std::uint64_t>(address + method_data_).value_or(0);
  if (data == 0) return {};
  const auto size = read_value<std::int32_t>(data + data_size_).value_or(0) - static_cast<std::int32_t>(data_entries_);
  if (size <= 0 || size > kMost) return {};
  std::vector<std::uint8_t> entries(static_cast<std::size_t>(size));
  if (!read_memory(data + data_entries_, entries.data(), entries.size())) return {};
  return entries;
}

std::string CallProfiles::class_name(std::uint64_t receiver) const {
  const auto name = read_value<std::uint64_t>(receiver + layout_.klass_name);
  return name ? read_symbol(layout_, *name) : "";
}

}  // namespace sonde::agent::hotspot
