// SPDX-License-Identifier: Apache-2.0
#include "classfile/code_builder.h"

#include <algorithm>
#include <array>
#include <limits>

#include "classfile/descriptor.h"

namespace sonde::classfile {
namespace {

struct SlotEffect {
  std::int8_t popped = 0;
  std::int8_t pushed = 0;
};

constexpr std::int8_t slots_of_effect(std::string_view types) {
  std::int32_t slots = 0;
  for (const char type : types) slots += slots_of(type);
  return static_cast<std::int8_t>(slots);
}

constexpr SlotEffect slot_effect(Opcode opcode) {
  switch (opcode) {
    // Their effect in slots is fixed even though their types are not.
    case Opcode::pop: return {1, 0};
    case Opcode::pop2: return {2, 0};
    case Opcode::dup: return {1, 2};
    case Opcode::dup_x1: return {2, 3};
    case Opcode::dup_x2: return {3, 4};
    case Opcode::dup2: return {2, 4};
    case Opcode::dup2_x1: return {3, 5};
    case Opcode::dup2_x2: return {4, 6};
    case Opcode::swap: return {2, 2};
    case Opcode::aaload: return {2, 1};
    default: break;
  }
  const std::string_view effect = info_of(opcode).effect;
  if (effect == "*") return {};  // operands decide; no snippet has one of these
  const std::size_t arrow = effect.find('>');
  return {slots_of_effect(effect.substr(0, arrow)), slots_of_effect(effect.substr(arrow + 1))};
}

constexpr std::array<SlotEffect, kOpcodeCount> kSlotEffects = [] {
  std::array<SlotEffect, kOpcodeCount> effects{};
  for (std::size_t i = 0; i < effects.size(); ++i) effects[i] = slot_effect(static_cast<Opcode>(i));
  return effects;
}();

Opcode with_type(Opcode int_form, LocalType type) {
  constexpr int kBehindInt[] = {0, 1, 4};  // iload, lload, fload, dload, aload
  return static_cast<Opcode>(static_cast<int>(int_form) + kBehindInt[static_cast<std::size_t>(type)]);
}

}  // namespace

CodeBuilder::CodeBuilder(ByteWriter& out, PoolBuilder& pool)
    : out_(out), pool_(pool), begin_(static_cast<std::uint32_t>(out.size())) {}

void CodeBuilder::adjust(std::int32_t popped, std::int32_t pushed) {
  depth_ += pushed - popped;
  max_depth_ = std::max(max_depth_, depth_);
}

void CodeBuilder::adjust(Opcode opcode) {
  const SlotEffect effect = kSlotEffects[static_cast<std::size_t>(opcode)];
  adjust(effect.popped, effect.pushed);
}

CodeBuilder& CodeBuilder::op(Opcode opcode) {
  if (info_of(opcode).format != OperandFormat::none) {
    valid_ = false;
    return *this;
  }
  emit(opcode);
  adjust(opcode);
  return *this;
}

CodeBuilder& CodeBuilder::push(std::int32_t value) {
  if (value >= -1 && value <= 5) {
    emit(static_cast<Opcode>(static_cast<std::int32_t>(Opcode::iconst_0) + value));
  } else if (value >= std::numeric_limits<std::int8_t>::min() && value <= std::numeric_limits<std::int8_t>::max()) {
    emit(Opcode::bipush);
    out_.u1(static_cast<std::uint8_t>(value));
  } else if (value >= std::numeric_limits<std::int16_t>::min() && value <= std::numeric_limits<std::int16_t>::max()) {
    emit(Opcode::sipush);
    out_.u2(static_cast<std::uint16_t>(value));
  } else {
    constant(pool_.integer(value));
  }
  adjust(0, 1);
  return *this;
}

CodeBuilder& CodeBuilder::push_long(std::int64_t value) {
  if (value == 0 || value == 1) {
    emit(value == 0 ? Opcode::lconst_0 : Opcode::lconst_1);
  } else {
    emit(Opcode::ldc2_w);
    out_.u2(pool_.long_integer(value).value());
  }
  adjust(0, 2);
  return *this;
}

void CodeBuilder::constant(PoolIndex index) {
  if (index.value() <= 255) {
    emit(Opcode::ldc);
    out_.u1(static_cast<std::uint8_t>(index.value()));
  } else {
    emit(Opcode::ldc_w);
    out_.u2(index.value());
  }
}

void CodeBuilder::local_op(Opcode opcode, LocalIndex local) {
  if (local.value() <= 255) {
    emit(opcode);
    out_.u1(static_cast<std::uint8_t>(local.value()));
  } else {
    emit(Opcode::wide);
    emit(opcode);
    out_.u2(local.value());
  }
}

CodeBuilder& CodeBuilder::load(LocalType type, LocalIndex local) {
  local_op(with_type(Opcode::iload, type), local);
  adjust(0, type == LocalType::kLong ? 2 : 1);
  return *this;
}

CodeBuilder& CodeBuilder::store(LocalType type, LocalIndex local) {
  local_op(with_type(Opcode::istore, type), local);
  adjust(type == LocalType::kLong ? 2 : 1, 0);
  return *this;
}

CodeBuilder& CodeBuilder::iinc(LocalIndex local, std::int32_t by) {
  // One instruction reaches 16 bits; block counts and corrections beyond that do not occur in 64 KiB of code.
  if (by < std::numeric_limits<std::int16_t>::min() || by > std::numeric_limits<std::int16_t>::max()) {
    load(LocalType::kInt, local).push(by).op(Opcode::iadd).store(LocalType::kInt, local);
    return *this;
  }
  const bool narrow = local.value() <= 255 && by >= -128 && by <= 127;
  if (!narrow) emit(Opcode::wide);
  emit(Opcode::iinc);
  if (narrow) {
    out_.u1(static_cast<std::uint8_t>(local.value()));
    out_.u1(static_cast<std::uint8_t>(by));
  } else {
    out_.u2(local.value());
    out_.u2(static_cast<std::uint16_t>(by));
  }
  return *this;
}

CodeBuilder& CodeBuilder::invoke_static(const MemberRef& method) {
  const auto descriptor = MethodDescriptor::parse(method.descriptor);
  if (!descriptor) {
    valid_ = false;
    return *this;
  }
  emit(Opcode::invokestatic);
  out_.u2(pool_.method_ref(method).value());
  adjust(static_cast<std::int32_t>(descriptor->parameter_slots()),
         static_cast<std::int32_t>(descriptor->return_slots()));
  return *this;
}

CodeBuilder::Label CodeBuilder::new_label() {
  labels_.emplace_back();
  return Label(static_cast<std::uint32_t>(labels_.size() - 1));
}

CodeBuilder& CodeBuilder::branch(Opcode opcode, Label target) {
  if (info_of(opcode).format != OperandFormat::branch2 || opcode == Opcode::jsr) {
    valid_ = false;
    return *this;
  }
  adjust(opcode);
  valid_ = valid_ && depth_ == 0;
  labels_[target.value()].targeted = true;
  fixups_.push_back({.branch = here(), .label = target});
  emit(opcode);
  out_.u2(0);
  return *this;
}

CodeBuilder& CodeBuilder::place(Label label) {
  labels_[label.value()].offset = here();
  depth_ = 0;
  return *this;
}

void CodeBuilder::finish(std::vector<std::uint32_t>& frame_offsets) {
  for (const Fixup& fixup : fixups_) {
    const std::uint32_t target = labels_[fixup.label.value()].offset;
    const auto distance = static_cast<std::int64_t>(target) - static_cast<std::int64_t>(fixup.branch);
    if (target == kUnplaced || distance > 32767 || distance < -32768) {
      valid_ = false;
      return;
    }
    out_.patch_u2(begin_ + fixup.branch + 1, static_cast<std::uint16_t>(distance));
  }
  for (const LabelState& label : labels_) {
    if (label.targeted) frame_offsets.push_back(label.offset);
  }
  std::ranges::sort(frame_offsets);
  const auto repeated = std::unique(frame_offsets.begin(), frame_offsets.end());
  frame_offsets.erase(repeated, frame_offsets.end());
}

}  // namespace sonde::classfile
