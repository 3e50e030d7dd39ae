// SPDX-License-Identifier: Apache-2.0
#include "classfile/frame_assembler.h"

#include <algorithm>
#include <cstring>

#include "classfile/code_assembler.h"

namespace sonde::classfile {
namespace {

VerificationType to_verification_type(const Type& type, PoolBuilder& pool) {
  VerificationType result{.tag = type.tag};
  if (type.tag == TypeTag::kObject) result.data = pool.class_info(type.name).value();
  if (type.tag == TypeTag::kUninitialized) result.data = type.pc;
  return result;
}

// The stack map form of simulated locals: a long is one item, unused slots at the end are left out.
void append_locals(const TypeState& state, PoolBuilder& pool, std::vector<VerificationType>& out) {
  for (std::size_t slot = 0; slot < state.locals.size(); ++slot) {
    out.push_back(to_verification_type(state.locals[slot], pool));
    if (state.locals[slot].takes_two_slots()) ++slot;
  }
  while (!out.empty() && out.back().tag == TypeTag::kTop) out.pop_back();
}

}  // namespace

// The types of a frame that was copied to `body`: those that name a `new` follow it to its new offset.
void FrameAssembler::relocate_copy(const StackMapTable::Frame& frame, const CodeMap& map, std::uint8_t* body) {
  ByteReader reader(frame.body);
  const bool is_full = frame.type == FrameType::kFull;
  for (int lists = is_full ? 2 : 1; lists > 0; --lists) {
    for (std::uint32_t count = is_full ? reader.u2() : types_of(frame.type); count > 0; --count) {
      const auto tag = static_cast<TypeTag>(reader.u1());
      if (tag < TypeTag::kObject) continue;
      const std::size_t at = reader.position();
      const Pc data(reader.u2());
      if (tag == TypeTag::kUninitialized) store_u2(body + at, static_cast<std::uint16_t>(map.position(data)));
    }
  }
}

void FrameAssembler::copy(const StackMapTable& table, const CodeMap& map, ByteWriter& out) {
  constexpr std::size_t kLongestHeader = 3;
  std::uint32_t previous = ~std::uint32_t{0};  // so that the first delta is the offset itself
  for (const StackMapTable::Frame& frame : table.frames()) {
    const std::uint32_t offset = map.label(frame.pc);
    const std::uint32_t delta = offset - previous - 1;
    previous = offset;
    const std::size_t begin = out.size();
    std::uint8_t* to = out.extend(kLongestHeader + frame.body.size());
    std::uint8_t type = frame.type;
    if (type < FrameType::kReserved && delta >= FrameType::kSameLocals1) {
      type = type < FrameType::kSameLocals1 ? FrameType::kSameExtended : FrameType::kSameLocals1Extended;
    }
    if (type < FrameType::kReserved) {
      *to++ = static_cast<std::uint8_t>((type & FrameType::kSameLocals1) + delta);
      out.truncate(begin + 1 + frame.body.size());
    } else {
      *to++ = type;
      store_u2(to, static_cast<std::uint16_t>(delta));
      to += 2;
    }
    if (frame.body.empty()) continue;
    std::memcpy(to, frame.body.data(), frame.body.size());
    if (frame.has_uninitialized) relocate_copy(frame, map, to);
  }
}

// Types before instructions that have no frame of their own.
void FrameAssembler::simulate_missing(const Code& code, const StackMapTable& table, PoolBuilder& pool) {
  simulated_.clear();
  simulated_.add(Pc(0), {}, {});
  std::vector<Pc> missing;
  for (const Wanted& wanted : wanted_) {
    if (wanted.frame.kind != StubFrame::Kind::kSameAs || explicit_.find(wanted.frame.pc) != nullptr) continue;
    missing.push_back(wanted.frame.pc);
  }
  if (missing.empty()) return;
  std::ranges::sort(missing);
  std::size_t next = 0;
  TypeSimulator().run(code, table, [&](Pc pc, const TypeState& state) {
    while (next < missing.size() && missing[next] < pc) ++next;
    if (next == missing.size() || missing[next] != pc) return;
    locals_.clear();
    stack_.clear();
    append_locals(state, pool, locals_);
    for (const Type& type : state.stack) stack_.push_back(to_verification_type(type, pool));
    simulated_.add(pc, locals_, stack_);
  });
}

const FrameList::Frame* FrameAssembler::state_before(Pc pc, const FrameList** list) const {
  if (const FrameList::Frame* frame = explicit_.find(pc)) {
    *list = &explicit_;
    return frame;
  }
  *list = &simulated_;
  return simulated_.find(pc);
}

void FrameAssembler::append_new_locals(const Code& code, const CodeEdits& edits, PoolBuilder& pool) {
  if (edits.locals.empty()) return;
  std::uint32_t slots = 0;
  for (const VerificationType type : locals_) slots += type.slots();
  for (; slots < code.max_locals(); ++slots) locals_.push_back({.tag = TypeTag::kTop});
  for (const CodeEdits::Local& local : edits.locals) {
    switch (local.type) {
      case LocalType::kInt: locals_.push_back({.tag = TypeTag::kInteger}); break;
      case LocalType::kLong: locals_.push_back({.tag = TypeTag::kLong}); break;
      case LocalType::kObject:
        locals_.push_back({.tag = TypeTag::kObject, .data = pool.class_info(local.class_name).value()});
        break;
    }
  }
}

bool FrameAssembler::compose(const Wanted& wanted, const Code& code, const CodeEdits& edits, PoolBuilder& pool) {
  locals_.clear();
  stack_.clear();
  if (wanted.entry) {
    const FrameList::Frame& entry = explicit_.entry();
    locals_.assign(explicit_.locals(entry).begin(), explicit_.locals(entry).end());
    return true;
  }
  if (wanted.frame.kind == StubFrame::Kind::kSameAs) {
    const FrameList* list = nullptr;
    const FrameList::Frame* frame = state_before(wanted.frame.pc, &list);
    if (frame == nullptr) return false;
    locals_.assign(list->locals(*frame).begin(), list->locals(*frame).end());
    stack_.assign(list->stack(*frame).begin(), list->stack(*frame).end());
  } else {
    if (wanted.frame.kind == StubFrame::Kind::kThrownInConstructor)
      locals_.push_back({.tag = TypeTag::kUninitializedThis});
    stack_.push_back({.tag = TypeTag::kObject, .data = pool.class_info("java/lang/Throwable").value()});
  }
  append_new_locals(code, edits, pool);
  return true;
}

void FrameAssembler::relocate(std::vector<VerificationType>& types, const CodeMap& map) const {
  for (VerificationType& type : types) {
    if (type.tag == TypeTag::kUninitialized) type.data = static_cast<std::uint16_t>(map.position(Pc(type.data)));
  }
}

std::uint16_t FrameAssembler::write(const Code& code, const StackMapTable& table, const CodeEdits& edits,
                                    const CodeMap& map, PoolBuilder& pool, ByteWriter& out) {
  const std::size_t count_at = out.size();
  if (wanted_.empty() && edits.locals.empty()) {
    out.u2(static_cast<std::uint16_t>(table.frames().size()));
    copy(table, map, out);
    return static_cast<std::uint16_t>(table.frames().size());
  }
  out.u2(0);
  explicit_.expand(code, table, pool);
  simulate_missing(code, table, pool);
  // The frames of the original code come first, so that of two at one offset the original one stays.
  const std::size_t added = wanted_.size();
  for (const StackMapTable::Frame& frame : table.frames()) want(map.label(frame.pc), frame.pc);
  if (added != 0) {
    std::rotate(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(added), wanted_.end());
    std::ranges::stable_sort(wanted_, {}, &Wanted::offset);
  }
  FrameWriter writer(out, explicit_.locals(explicit_.entry()), previous_);
  const Wanted* last = nullptr;
  for (const Wanted& wanted : wanted_) {
    if (last != nullptr && last->offset == wanted.offset) continue;
    if (!compose(wanted, code, edits, pool)) continue;
    relocate(locals_, map);
    relocate(stack_, map);
    writer.add(wanted.offset, locals_, stack_);
    last = &wanted;
  }
  out.patch_u2(count_at, writer.count());
  return writer.count();
}

}  // namespace sonde::classfile
