// SPDX-License-Identifier: Apache-2.0
// Edits one method. A pass says what to insert and where, in terms of the instructions that were parsed:
//
//   const SnippetId count = code.snippet([&](CodeBuilder& b) { b.iinc(counter, 3); });
//   code.before(pc, count);                   // runs however control arrives at pc, jumps included
//   code.after(pc, count);                    // runs when control falls out of pc into the next instruction
//   code.on_edge(JumpEdge::taken(pc), count);     // runs when this branch is taken
//   code.at_entry(init);                      // runs once, before everything else
//   code.handlers().push_back({...});         // catches what the range throws; see Handler
//
// Offsets, padding, jump widths, tables and stack maps are settled when ClassEditor commits the edit (CodeAssembler).
// Nothing here allocates per instruction once the vectors have grown to the size of the largest method.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/id.h"
#include "base/result.h"
#include "classfile/code.h"
#include "classfile/code_builder.h"
#include "classfile/pool_builder.h"
#include "classfile/stack_map.h"

namespace sonde::classfile {

using SnippetId = Id<struct SnippetTag, std::uint32_t>;
// A stub: code appended behind the method's own, such as landing pads and what edges are routed through.
using StubId = Id<struct StubTag, std::uint32_t>;

// An instruction of the method or an appended stub.
class Target {
 public:
  Target(Pc pc) : value_(pc.value()), is_stub_(false) {}         // NOLINT(google-explicit-constructor)
  Target(StubId stub) : value_(stub.value()), is_stub_(true) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool is_stub() const { return is_stub_; }
  [[nodiscard]] Pc pc() const { return Pc(value_); }
  [[nodiscard]] StubId stub() const { return StubId(value_); }

 private:
  std::uint32_t value_;
  bool is_stub_;
};

// One way out of an instruction.
struct JumpEdge {
  static constexpr std::uint32_t kDefault = ~std::uint32_t{0};  // a switch's default
  static constexpr std::uint32_t kFallThrough = kDefault - 1;
  static constexpr std::uint32_t kTaken = 0;  // the only target of a branch

  Pc from;
  std::uint32_t which = kTaken;  // kTaken, kFallThrough, kDefault or the number of a switch's case

  static JumpEdge taken(Pc from) { return {from, kTaken}; }
  static JumpEdge fall_through(Pc from) { return {from, kFallThrough}; }
  static JumpEdge case_of(Pc from, std::uint32_t number) { return {from, number}; }
  static JumpEdge default_of(Pc from) { return {from, kDefault}; }
};

// The types on entry to an appended stub, for classes that have frames.
struct StubFrame {
  enum class Kind : std::uint8_t {
    kSameAs,               // as at an instruction: its locals and its stack. What a jump there needs
    kThrown,               // none of the method's own locals, one Throwable on the stack: enough to rethrow
    kThrownInConstructor,  // the same while `this` is not initialised yet (see mark_uninitialized_this)
  };
  Kind kind;
  Pc pc = {};

  static StubFrame same_as(Pc pc) { return {Kind::kSameAs, pc}; }
  static StubFrame thrown() { return {Kind::kThrown}; }
  static StubFrame thrown_in_constructor() { return {Kind::kThrownInConstructor}; }
};

// A row of the exception table. The order of rows decides, as in the class file. New locals are available in handlers.
struct Handler {
  static constexpr std::uint16_t kNoOrigin = 0xffff;

  Pc start;
  Pc end;  // exclusive; code inserted before `start` is covered, code inserted before `end` is not
  Target handler;
  PoolIndex catch_type;              // 0: any
  std::uint16_t origin = kNoOrigin;  // the row of the original table that it comes from: type annotations follow it
  bool spares_inserted = false;      // code inserted before `start` is not covered
};

// Everything a pass asked for. CodeAssembler reads it.
struct CodeEdits {
  struct Snippet {
    std::uint32_t begin;  // in `bytes`
    std::uint32_t size;
    std::uint32_t max_stack;
    std::uint32_t first_frame;  // in `frame_offsets`: labels inside the snippet
    std::uint32_t frame_count;
  };
  static constexpr std::uint32_t kNoMoreInsertions = ~std::uint32_t{0};  // the key of one that only ends the list
  struct Insertion {
    std::uint32_t key;  // 2 * pc for before, 2 * pc + 1 for after: ascending keys are code order
    SnippetId snippet;
  };
  struct Redirect {
    Pc from;
    std::uint32_t which;  // as in JumpEdge
    StubId stub;
  };
  struct Local {
    LocalType type;
    std::string_view class_name;  // of kObject
    [[nodiscard]] std::uint32_t slots() const { return type == LocalType::kLong ? 2 : 1; }
  };
  struct Stub {
    StubFrame frame;
    SnippetId snippet;
    std::optional<Target> jump;  // where it goes on; none if the snippet ends in athrow
  };

  ByteWriter bytes;
  std::vector<std::uint32_t> frame_offsets;
  std::vector<Snippet> snippets;
  std::vector<SnippetId> entry;
  std::vector<Insertion> insertions;  // in the order of the calls, which mostly is code order
  std::vector<Redirect> redirects;
  std::vector<Stub> stubs;
  std::vector<Handler> handlers;
  std::vector<Local> locals;

  void clear();
  [[nodiscard]] const Snippet& at(SnippetId id) const { return snippets[id.value()]; }
};

class CodeEditor {
 public:
  [[nodiscard]] const Code& code() const { return code_; }
  [[nodiscard]] const StackMapTable& stack_maps() const { return stack_maps_; }
  [[nodiscard]] PoolBuilder& pool() { return *pool_; }

  // A local variable of our own behind the method's. Entry code must store to it before anything else reads it.
  LocalIndex new_local(LocalType type) { return add_local({.type = type, .class_name = {}}); }
  // A reference; the name must live as long as the edit.
  LocalIndex new_local(std::string_view class_name) {
    return add_local({.type = LocalType::kObject, .class_name = class_name});
  }

  template <typename Build>  // void(CodeBuilder&)
  SnippetId snippet(Build&& build) {
    const auto begin = static_cast<std::uint32_t>(edits_.bytes.size());
    CodeBuilder builder(edits_.bytes, *pool_);
    std::forward<Build>(build)(builder);
    return add_snippet(begin, builder);
  }

  void at_entry(SnippetId snippet) { edits_.entry.push_back(snippet); }
  void before(Pc pc, SnippetId snippet) {
    if (!code_.is_instruction(pc)) [[unlikely]]
      return refuse("no instruction starts here", pc);
    edits_.insertions.push_back({.key = pc.value() * 2, .snippet = snippet});
  }
  void after(Pc pc, SnippetId snippet) { on_edge(JumpEdge::fall_through(pc), snippet); }
  // At most one snippet per edge.
  void on_edge(JumpEdge edge, SnippetId snippet);

  // Code behind the method's own that handlers() may name. Without `jump` the snippet must end in athrow.
  StubId append_stub(StubFrame frame, SnippetId snippet, std::optional<Target> jump = std::nullopt);

  // The exception table to be: starts as the original one.
  [[nodiscard]] std::vector<Handler>& handlers() { return edits_.handlers; }

 private:
  friend class ClassEditor;

  Result<void> open(const ClassFile& cls, const Member& method, PoolBuilder& pool);
  LocalIndex add_local(const CodeEdits::Local& local);
  SnippetId add_snippet(std::uint32_t begin, CodeBuilder& builder);
  void refuse(const char* message, Pc pc);

  Code code_;
  StackMapTable stack_maps_;
  PoolBuilder* pool_ = nullptr;
  CodeEdits edits_;
  std::uint32_t next_local_ = 0;
  // The first misuse by a pass; commit reports it and the method stays as it was.
  std::optional<Error> refused_;
};

}  // namespace sonde::classfile
