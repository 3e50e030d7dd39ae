// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/cfi.h"

#include <cstring>
#include <vector>

namespace sonde::agent::native {
namespace {

// How a register of the caller is found: as it is, or in memory at an offset from the CFA.
constexpr std::uint64_t kRbp = 6;
constexpr std::uint64_t kRsp = 7;
constexpr std::uint64_t kReturnAddress = 16;

class Reader {
 public:
  explicit Reader(const Entry& entry) : reader_(entry.bytes), address_(entry.address) {}

  template <typename T>
  T value() {
    T result{};
    if (const std::uint8_t* p = reader_.take(sizeof result)) std::memcpy(&result, p, sizeof result);
    return result;
  }
  std::uint64_t uleb() {
    std::uint64_t result = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = reader_.u1();
      if (shift < 64) result |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0 || reader_.overran()) return result;
    }
  }
  std::int64_t sleb() {
    std::uint64_t result = 0;
    for (unsigned shift = 0;;) {
      const std::uint8_t byte = reader_.u1();
      if (shift < 64) result |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
      if ((byte & 0x80) != 0 && !reader_.overran()) continue;
      if (shift < 64 && (byte & 0x40) != 0) result |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(result);
    }
  }
  // DW_EH_PE_*: the low four bits are the format, the high ones what it is relative to.
  std::uint64_t pointer(std::uint8_t encoding, bool is_relative) {
    const std::uint64_t here = address_ + reader_.position();
    std::uint64_t result = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c: result = value<std::uint64_t>(); break;
      case 0x02: result = value<std::uint16_t>(); break;
      case 0x03: result = value<std::uint32_t>(); break;
      case 0x0a: result = static_cast<std::uint64_t>(std::int64_t{value<std::int16_t>()}); break;
      case 0x0b: result = static_cast<std::uint64_t>(std::int64_t{value<std::int32_t>()}); break;
      default: is_understood_ = false;
    }
    return is_relative && (encoding & 0x70) == 0x10 ? here + result : result;
  }
  void skip(std::uint64_t n) {
    reader_.skip(static_cast<std::size_t>(std::min<std::uint64_t>(n, reader_.remaining() + 1)));
  }
  [[nodiscard]] std::size_t position() const { return reader_.position(); }
  [[nodiscard]] bool at_end() const { return reader_.at_end(); }
  [[nodiscard]] bool is_good() const { return is_understood_ && !reader_.overran(); }

 private:
  ByteReader reader_;
  std::uint64_t address_;
  bool is_understood_ = true;
};

struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = -8;
  std::uint8_t encoding = 0;
  bool has_augmentation = false;
};

// Leaves the reader at the initial instructions.
std::optional<Cie> read_cie(Reader& reader) {
  Cie cie;
  reader.skip(4);  // length
  if (reader.value<std::uint32_t>() != 0) return std::nullopt;
  const auto version = reader.value<std::uint8_t>();
  if (version != 1 && version != 3) return std::nullopt;
  char augmentation[8] = {};
  for (char& letter : augmentation) {
    letter = reader.value<char>();
    if (letter == 0) break;
  }
  cie.code_alignment = reader.uleb();
  cie.data_alignment = reader.sleb();
  const std::uint64_t return_register = version == 1 ? reader.value<std::uint8_t>() : reader.uleb();
  if (return_register != kReturnAddress) return std::nullopt;
  if (augmentation[0] != 'z') return augmentation[0] == 0 ? std::optional(cie) : std::nullopt;
  cie.has_augmentation = true;
  const std::uint64_t length = reader.uleb();
  const std::size_t begin = reader.position();
  for (const char* letter = augmentation + 1; letter < std::end(augmentation) && *letter != 0; ++letter) {
    if (*letter == 'R') {
      cie.encoding = reader.value<std::uint8_t>();
    } else if (*letter == 'P') {
      const auto encoding = reader.value<std::uint8_t>();
      reader.pointer(encoding, false);
    } else if (*letter == 'L') {
      reader.skip(1);
    } else if (*letter != 'S') {
      return std::nullopt;
    }
  }
  if (const std::size_t read = reader.position() - begin; read < length) reader.skip(length - read);
  return reader.is_good() ? std::optional(cie) : std::nullopt;
}

// Executes instructions until they are about a place behind `pc`.
class Machine {
 public:
  Machine(const Cie& cie, std::uint64_t begin, std::uint64_t pc) : cie_(cie), at_(begin), pc_(pc) {}

  // False if there is an instruction we do not know.
  bool run(Reader& reader) {
    while (!reader.at_end() && at_ <= pc_) {
      if (!step(reader) || !reader.is_good()) return false;
    }
    return true;
  }
  void keep_initial() { initial_ = row_; }

  [[nodiscard]] std::optional<UnwindRule> rule() const {
    if (!row_.is_plain) return std::nullopt;
    return row_.rule;
  }

 private:
  struct Row {
    UnwindRule rule{.return_offset = 0};
    bool is_plain = true;  // the CFA is the stack or frame pointer plus an offset
  };

  bool step(Reader& reader) {
    const auto byte = reader.value<std::uint8_t>();
    const std::uint64_t low = byte & 0x3f;
    switch (byte >> 6) {
      case 1: advance(low); return true;
      case 2: return saved(low, static_cast<std::int64_t>(reader.uleb()));
      case 3: restored(low); return true;
      default: return step_extended(byte, reader);
    }
  }

  bool step_extended(std::uint8_t code, Reader& reader) {
    switch (code) {
      case 0x00: return true;                                             // nop
      case 0x01: at_ = reader.pointer(cie_.encoding, true); return true;  // set_loc
      case 0x02: advance(reader.value<std::uint8_t>()); return true;
      case 0x03: advance(reader.value<std::uint16_t>()); return true;
      case 0x04: advance(reader.value<std::uint32_t>()); return true;
      case 0x05: {  // offset_extended
        const std::uint64_t number = reader.uleb();
        return saved(number, static_cast<std::int64_t>(reader.uleb()));
      }
      case 0x06: restored(reader.uleb()); return true;
      case 0x07:                                    // undefined
      case 0x08: kept(reader.uleb()); return true;  // same_value
      case 0x09: {                                  // register
        const std::uint64_t number = reader.uleb();
        reader.uleb();
        return number != kRbp && number != kReturnAddress;
      }
      case 0x0a: remembered_.push_back(row_); return remembered_.size() < 64;
      case 0x0b:
        if (remembered_.empty()) return false;
        row_ = remembered_.back();
        remembered_.pop_back();
        return true;
      case 0x0c: {  // def_cfa
        const std::uint64_t number = reader.uleb();
        define_cfa(number);
        row_.rule.cfa_offset = static_cast<std::int32_t>(reader.uleb());
        return true;
      }
      case 0x0d: define_cfa(reader.uleb()); return true;
      case 0x0e: row_.rule.cfa_offset = static_cast<std::int32_t>(reader.uleb()); return true;
      case 0x0f:  // def_cfa_expression
        row_.is_plain = false;
        reader.skip(reader.uleb());
        return true;
      case 0x10:    // expression
      case 0x16: {  // val_expression
        const std::uint64_t number = reader.uleb();
        reader.skip(reader.uleb());
        return number != kRbp && number != kReturnAddress;
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t number = reader.uleb();
        return saved(number, reader.sleb());
      }
      case 0x2e: reader.uleb(); return true;  // GNU_args_size
      default: return false;
    }
  }

  void advance(std::uint64_t units) { at_ += units * cie_.code_alignment; }
  // False for a place that no stack frame has.
  bool saved(std::uint64_t number, std::int64_t factor) {
    std::int32_t offset = 0;
    if (__builtin_mul_overflow(factor, cie_.data_alignment, &offset)) return false;
    if (number == kReturnAddress) row_.rule.return_offset = offset;
    if (number == kRbp) {
      row_.rule.fp_is_saved = true;
      row_.rule.fp_offset = offset;
    }
    return true;
  }
  void kept(std::uint64_t number) {
    if (number == kRbp) row_.rule.fp_is_saved = false;
    if (number == kReturnAddress) row_.rule.return_offset = 0;
  }
  void restored(std::uint64_t number) {
    if (number == kReturnAddress) row_.rule.return_offset = initial_.rule.return_offset;
    if (number != kRbp) return;
    row_.rule.fp_is_saved = initial_.rule.fp_is_saved;
    row_.rule.fp_offset = initial_.rule.fp_offset;
  }
  void define_cfa(std::uint64_t number) {
    row_.is_plain = number == kRsp || number == kRbp;
    row_.rule.cfa_base = number == kRbp ? UnwindRule::Base::kFramePointer : UnwindRule::Base::kStackPointer;
  }

  const Cie& cie_;
  std::uint64_t at_;
  std::uint64_t pc_;
  Row row_;
  Row initial_;
  std::vector<Row> remembered_;
};

}  // namespace

std::optional<std::uint64_t> cie_address(const Entry& fde) {
  Reader reader(fde);
  reader.skip(4);
  const auto distance = reader.value<std::uint32_t>();
  if (!reader.is_good() || distance == 0) return std::nullopt;
  return fde.address + 4 - distance;
}

std::optional<UnwindRule> find_rule(const Entry& cie_entry, const Entry& fde, std::uint64_t pc) {
  Reader initial(cie_entry);
  const auto cie = read_cie(initial);
  if (!cie) return std::nullopt;
  Reader reader(fde);
  reader.skip(8);  // length and the way to the CIE
  const std::uint64_t begin = reader.pointer(cie->encoding, true);
  const std::uint64_t size = reader.pointer(cie->encoding & 0x0f, false);
  if (cie->has_augmentation) reader.skip(reader.uleb());
  if (!reader.is_good() || pc < begin || pc - begin >= size) return std::nullopt;
  Machine machine(*cie, begin, pc);
  if (!machine.run(initial)) return std::nullopt;
  machine.keep_initial();
  if (!machine.run(reader)) return std::nullopt;
  const auto rule = machine.rule();
  // A frame without a return address is the first of its thread.
  return rule && rule->return_offset != 0 ? rule : std::nullopt;
}

}  // namespace sonde::agent::native
