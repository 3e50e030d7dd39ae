// SPDX-License-Identifier: Apache-2.0
// Exact counting of calls and executed bytecodes per calling context (papers/001), by calls into java.lang.SondeRT.
// What is inserted, by kind of method (site: where we were called from; node: this method in this context; count: a
// new local; ID: the method's number):
//
//                 entry                          before each call        before return        exception leaves
//   leaf, 1 path  leaf(ID)                       -                       -                    correctLeaf(-k, ID)
//   leaf          count = n0                     -                       leaf(count, ID)      count -= k; the same
//   1 path        site = site()                  call(node, offset)      exit(site)           exit(node, -k, site)
//                 node = enter(site, ID, sites)
//   other         the same, count = n0           the same                exit(node, count,    count -= k; the same
//                                                                             site)
//   intrinsic     hidden = hidden()              -                       exitSink(site,       the same
//                 site = enterSink()                                          hidden)
//
//
// Without contexts (exact:flat) there are no nodes and nothing is published before calls, and the runtime is
// java.lang.SondeFlat (its ...OfJdk methods in classes of the JDK):
//
//   1 path        hit(ID)                        -                       -                    add(-k, ID)
//   constructor   hit(ID); count = n0            -                       add(count, ID)       count -= k; the same
//   other         count = n0                     -                       hit(count, ID)       count -= k; the same
//   intrinsic     block = enterSink()            -                       exitSink(block)      the same
//
// where "constructor" is one that calls super() or this() and has several paths.
//
// Bytecodes are counted per block with one addition at its start. An exception leaves a block in the middle: each
// instruction that may throw has its own range in the exception table, which leads to a landing pad that takes back
// the k instructions behind it and goes on to the original handler or out of the method (all pads of a method with a
// count share that end). So the normal path pays nothing for being precise. Reading a field of `this` that the class
// declares itself cannot throw. In long methods so many ranges would keep the verifier busy: there a block ends at each
// instruction that may throw, so that an addition follows it and one pad serves all (k = 0). Code that would pass 64
// KiB is counted by whole blocks.
//
// A constructor's call of super() or this() cannot be inside a range. On a single path what precedes it is the
// constant part of the count; otherwise the count is added to the node just before the call. So nothing is lost when
// the call throws.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "classfile/code_editor.h"
#include "instrument/count_plan.h"
#include "instrument/known_methods.h"

namespace sonde::instrument {

// Numbers for methods that are counted where they are called.
class CalleeIds {
 public:
  virtual std::uint32_t id_of(const classfile::MemberRef& method, KnownKind kind) = 0;

 protected:
  ~CalleeIds() = default;
};

struct SiteLine {
  std::uint16_t pc;
  std::uint16_t line;  // 0: unknown
};

// What the reader of a profile has to know of a method to make sense of its counts.
struct CountedMethod {
  bool is_leaf = false;
  std::uint32_t constant_bytecodes = 0;  // per call, on top of what is stored
  std::uint16_t first_line = 0;
  std::vector<SiteLine> sites;  // [0] is "not at a call"; only [0] in a leaf
};

struct FlatCalls;  // the methods of java.lang.SondeFlat, for one kind of caller

enum class Contexts : std::uint8_t { kTree, kNone };

struct MethodToCount {
  std::uint32_t id;
  bool of_jdk;
  Precision precision;
};

class CountingPass {
 public:
  CountingPass(const KnownMethods& known, CalleeIds& callees, Contexts contexts)
      : known_(known), callees_(callees), flat_(contexts == Contexts::kNone) {}
  virtual ~CountingPass() = default;

  // Edits the method. The caller commits, and tries again with kWholeBlocks if that fails for size.
  Result<void> apply(classfile::CodeEditor& code, const MethodToCount& method, CountedMethod& counted);
  // For a method that the JIT compiler replaces: what it calls is not counted, so that it makes no difference.
  Result<void> apply_sink(classfile::CodeEditor& code);

 protected:
  struct CallToCount {
    classfile::Pc pc;
    std::uint32_t native_id;  // 0: the callee counts itself
  };

  // What another way of recording replaces (sampling_pass.h): the code at the beginning, before calls, before super()
  // or this(), and at the end; `bytecodes` is for single paths, where there is no count.
  virtual Result<void> insert_entry(classfile::CodeEditor& code, const CountedMethod& counted);
  virtual void insert_calls(classfile::CodeEditor& code);
  virtual void hand_over(classfile::CodeBuilder& b) const;
  virtual void finish(classfile::CodeBuilder& b, std::int32_t bytecodes) const;

  // Nothing that is called there can lead to what is instrumented: it is no call site.
  [[nodiscard]] virtual bool is_of_no_interest(const classfile::MemberRef& /*callee*/) const { return false; }
  // Everything was counted at the entry: only an early end is of interest.
  [[nodiscard]] virtual bool is_done_at_entry() const { return leaf_ && plan_.is_single_path(); }

  void set_first_count(classfile::CodeBuilder& b) const;
  classfile::CodeBuilder& load_count(classfile::CodeBuilder& b) const;

  CountPlan plan_;
  // The method at hand.
  std::int32_t id_ = 0;
  bool leaf_ = false;  // counts where it is called from, or without contexts
  classfile::LocalType count_type_ = classfile::LocalType::kInt;
  classfile::LocalIndex count_local_;
  std::vector<CallToCount> calls_;

 private:
  struct Pad {  // on the way to a handler of the method
    std::int32_t unexecuted;
    classfile::Pc handler;
    classfile::StubId stub;
  };

  struct LeavingPad {  // on the way out of the method
    std::int32_t unexecuted;
    bool in_constructor;
    classfile::StubId stub;
  };

  [[nodiscard]] KnownKind kind_of(const classfile::ClassFile& caller, const classfile::MemberRef& callee) const;
  void find_calls(const classfile::Code& code, CountedMethod& counted);
  void insert_counts(classfile::CodeEditor& code);
  void insert_exits(classfile::CodeEditor& code);
  void insert_handlers(classfile::CodeEditor& code);
  template <typename Wanted, typename MakeTarget>
  void cover(classfile::CodeEditor& code, const classfile::Handler& original, Wanted&& wanted, MakeTarget&& target);

  void set_count(classfile::CodeBuilder& b, std::int32_t value) const;
  void add_to_count(classfile::CodeBuilder& b, std::int32_t by) const;
  void finish_flat(classfile::CodeBuilder& b, std::int32_t bytecodes) const;
  classfile::Target leaving_pad(classfile::CodeEditor& code, const Exposure& exposure);
  // For pads, which jump there: what they have in common.
  classfile::Target leaving_end(classfile::CodeEditor& code, bool in_constructor);
  classfile::StubId append_end(classfile::CodeEditor& code, bool in_constructor, std::int32_t unexecuted);
  classfile::Target handler_pad(classfile::CodeEditor& code, const Exposure& exposure, classfile::Pc handler);

  const KnownMethods& known_;
  CalleeIds& callees_;
  const bool flat_;
  bool counts_at_entry_ = false;  // without contexts, several paths: the call is counted before the bytecodes
  const FlatCalls* calls_of_flat_ = nullptr;
  classfile::LocalIndex site_local_;
  classfile::LocalIndex node_local_;
  std::vector<Pad> pads_;
  bool takes_back_ = false;  // somewhere an exception leaves what was counted already
  std::array<std::optional<classfile::StubId>, 2> leaving_ends_;  // before super() or this(): the second
  std::vector<LeavingPad> leaving_pads_;  // few: one for each place in a block that an exception leaves from
  std::vector<classfile::Handler> handlers_;
};

}  // namespace sonde::instrument
