// SPDX-License-Identifier: Apache-2.0
// The code array of an edited method: step 1 of code_assembler.h.
#include <algorithm>
#include <cstring>

#include "classfile/code_assembler.h"

namespace sonde::classfile {
namespace {

// Copies a few bytes as whole words, which both sides have room for.
constexpr std::size_t kWord = 8;
static_assert(kWord <= ByteWriter::kSlack);

constexpr SnippetId kNone(~std::uint32_t{0});

void copy_short(std::uint8_t* to, const std::uint8_t* from, std::size_t size) {
  if (size <= kWord) [[likely]] {
    std::memcpy(to, from, kWord);
  } else {
    std::memcpy(to, from, size);
  }
}

}  // namespace

// What the code can take at most: each jump wide, each switch with the most padding, each insertion the longest one.
std::size_t CodeAssembler::largest_size(const Context& context) {
  constexpr std::size_t kNotWorthCounting = std::size_t{1} << 18;
  const CodeEdits& edits = context.edits;
  std::size_t size = context.code.length() + context.code.jumps().size() * (kInvertedIf + kGotoW);
  for (const SnippetId id : edits.entry) size += edits.at(id).size;
  for (const CodeEdits::Stub& stub : edits.stubs) size += edits.at(stub.snippet).size + kGotoW;
  const std::size_t count = edits.insertions.size() - 1;
  std::size_t longest = 0;
  for (const CodeEdits::Snippet& snippet : edits.snippets) longest = std::max<std::size_t>(longest, snippet.size);
  if (size + count * longest <= kNotWorthCounting) return size + count * longest;
  for (std::size_t i = 0; i < count; ++i) size += edits.at(edits.insertions[i].snippet).size;
  return size;
}

// The bytes of the code with a word to read behind them, which all classes have but those that end right there.
const std::uint8_t* CodeAssembler::readable_code(const Code& code) {
  const Bytes file = code.owner().bytes();
  const Bytes bytes = code.bytes();
  const std::uint8_t* const end = bytes.data() + bytes.size();
  if (static_cast<std::size_t>(file.data() + file.size() - end) >= kWord) [[likely]]
    return bytes.data();
  padded_code_.assign(bytes.begin(), bytes.end());
  padded_code_.resize(bytes.size() + kWord);
  return padded_code_.data();
}

// The walk over the original code that writes the new one. For each instruction: what is inserted after the one before
// it, what is inserted before it, then the instruction.
class CodeAssembler::Walk {
 public:
  Walk(const Code& code, const CodeEdits& edits, const std::uint8_t* original, CodeMap::Place* places,
       std::uint8_t* base, std::size_t at)
      : edits_(edits),
        original_(original),
        places_(places),
        base_(base),
        at_(at),
        start_(code.starts().data()),
        insertion_(edits.insertions.data()) {
    if (!has_inserted_all()) remember(insertion_->snippet);  // so that it starts fast
  }

  // Up to the label and the insertions of the instruction at `stop`, or to the end of the code. False if insertions are
  // not in order: what was written is then of no use.
  bool run_to(std::size_t stop) {
    for (;;) {
      run_fast(stop);
      if (!insert_here()) return false;
      if (pc_ == stop) return true;
      copy_instruction();
    }
  }
  void skip_instruction(std::size_t at) {
    pc_ = *++start_;
    at_ = at;
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::uint32_t max_stack() const { return max_stack_; }
  [[nodiscard]] bool has_inserted_all() const { return insertion_->key == CodeEdits::kNoMoreInsertions; }

 private:
  // The loop for most of the code: instructions with nothing before them, or with the snippet that was inserted last,
  // of at most a word. It calls nothing and does nothing else, so that all it needs stays in registers.
  [[gnu::noinline]] void run_fast(const std::size_t stop) {
    const std::uint8_t* const original = original_;
    std::uint8_t* const base = base_;
    CodeMap::Place* const places = places_;
    const std::uint16_t* start = start_;
    const CodeEdits::Insertion* insertion = insertion_;
    const std::uint64_t word = word_;
    const std::size_t size = size_;
    const SnippetId last = last_;
    std::size_t at = at_;
    std::size_t pc = pc_;
    while (pc != stop) {
      const std::uint32_t here = static_cast<std::uint32_t>(pc) * 2;
      const std::size_t label = at;
      if (insertion->key <= here) {
        if (insertion->key != here || insertion->snippet != last || insertion[1].key == here) break;
        ++insertion;
        std::memcpy(base + at, &word, kWord);
        at += size;
      }
      places[pc] = CodeMap::Place(label, at);
      std::memcpy(base + at, original + pc, kWord);
      at -= pc;
      pc = *++start;
      at += pc;
    }
    start_ = start;
    insertion_ = insertion;
    at_ = at;
    pc_ = pc;
  }

  bool insert_here() {
    const std::uint32_t here = static_cast<std::uint32_t>(pc_) * 2;
    for (; insertion_->key < here; ++insertion_) {
      if (insertion_->key != start_[-1] * 2U + 1) return false;
      insert(insertion_->snippet);
    }
    const std::size_t label = at_;
    for (; insertion_->key == here; ++insertion_) insert(insertion_->snippet);
    places_[pc_] = CodeMap::Place(label, at_);
    return true;
  }

  void insert(SnippetId id) {
    remember(id);
    at_ = write_snippet(edits_, id, base_, at_);
  }

  void remember(SnippetId id) {
    const CodeEdits::Snippet& snippet = edits_.at(id);
    max_stack_ = std::max(max_stack_, snippet.max_stack);
    if (snippet.size > kWord) return;
    last_ = id;
    size_ = snippet.size;
    std::memcpy(&word_, edits_.bytes.view().data() + snippet.begin, kWord);
  }

  void copy_instruction() {
    std::memcpy(base_ + at_, original_ + pc_, kWord);
    const std::size_t next = *++start_;
    at_ += next - pc_;
    pc_ = next;
  }

  const CodeEdits& edits_;
  const std::uint8_t* original_;
  CodeMap::Place* places_;
  std::uint8_t* base_;
  std::size_t at_;
  std::size_t pc_ = 0;
  const std::uint16_t* start_;  // of pc_
  const CodeEdits::Insertion* insertion_;
  SnippetId last_ = kNone;  // that was at most a word
  std::uint64_t word_ = 0;
  std::size_t size_ = 0;
  std::uint32_t max_stack_ = 0;  // of any inserted
};

// Branches are copied like all other instructions; those that change their size are few and stand in resized_.
std::optional<std::size_t> CodeAssembler::write_code(const Context& context, const std::uint8_t* original,
                                                     std::uint8_t* base) {
  std::size_t at = 0;
  for (const SnippetId id : context.edits.entry) at = write_snippet(context.edits, id, base, at);
  Walk walk(context.code, context.edits, original, map_.places_.data(), base, at);
  for (const std::uint32_t stop : resized_) {
    if (!walk.run_to(stop)) return std::nullopt;
    if (stop != context.code.length())
      walk.skip_instruction(write_resized(Instruction(original, stop), base, walk.at()));
  }
  if (!walk.has_inserted_all()) return std::nullopt;
  inserted_stack_ = walk.max_stack();
  return write_stubs(context, base, walk.at());
}

std::size_t CodeAssembler::write_snippet(const CodeEdits& edits, SnippetId id, std::uint8_t* base, std::size_t at) {
  const CodeEdits::Snippet& snippet = edits.at(id);
  copy_short(base + at, edits.bytes.view().data() + snippet.begin, snippet.size);
  return at + snippet.size;
}

void CodeAssembler::find_resized(const Code& code) {
  resized_.clear();
  if (code.has_switches() || !wide_jumps_.empty()) {
    for (std::size_t i = 0; i < code.jumps().size(); ++i) {
      const Pc pc = code.jumps()[i];
      if (is_wide(i) || code.at(pc).is_switch()) resized_.push_back(pc.value());
    }
  }
  resized_.push_back(code.length());
}

// The instruction in its final size, its offsets not filled in yet.
std::size_t CodeAssembler::write_resized(Instruction insn, std::uint8_t* base, std::size_t at) {
  const std::uint32_t pc = insn.pc().value();
  const Bytes original = insn.bytes();
  std::uint8_t* to = base + at;
  if (insn.is_switch()) {
    const std::uint32_t old_header = switch_operands(pc) - pc;
    const std::size_t new_header = switch_operands(static_cast<std::uint32_t>(at)) - at;
    to[0] = original[0];
    // Padding should be zero, but is copied where it fits: a class that nobody edited stays the same to the byte.
    std::memset(to + 1, 0, new_header - 1);
    if (old_header == new_header) std::memcpy(to, original.data(), old_header);
    std::memcpy(to + new_header, original.data() + old_header, original.size() - old_header);
    return at + new_header + original.size() - old_header;
  }
  if (is_conditional(insn.opcode())) {
    to[0] = static_cast<std::uint8_t>(inverse_of(insn.opcode()));
    store_u2(to + 1, kInvertedIf + kGotoW);
    to += kInvertedIf;
    at += kInvertedIf;
  }
  to[0] = static_cast<std::uint8_t>(insn.opcode() == Opcode::jsr ? Opcode::jsr_w : Opcode::goto_w);
  return at + kGotoW;
}

std::size_t CodeAssembler::write_stubs(const Context& context, std::uint8_t* base, std::size_t at) {
  const CodeEdits& edits = context.edits;
  for (std::size_t i = 0; i < edits.stubs.size(); ++i) {
    map_.stubs_[i] = static_cast<std::uint32_t>(at);
    at = write_snippet(edits, edits.stubs[i].snippet, base, at);
    if (!edits.stubs[i].jump) continue;
    base[at] = static_cast<std::uint8_t>(wide_stubs_[i] != 0 ? Opcode::goto_w : Opcode::goto_);
    at += wide_stubs_[i] != 0 ? kGotoW : kGoto;
  }
  return at;
}

}  // namespace sonde::classfile
