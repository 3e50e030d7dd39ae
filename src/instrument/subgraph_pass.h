// SPDX-License-Identifier: Apache-2.0
// Calls and times of a call subgraph (papers/003), by calls into java.lang.SondeSubgraph. What is inserted (entry:
// where the thread is, 0 outside of the subgraph; caller, node: in the call tree; start: when it began; ID: the
// method):
//
//                 entry                              before each call           before return        exception leaves
//   inner         entry = inside()                   call(node, SITE) or        exit(entry, caller,  thrown(entry,
//   node)
//                 caller = caller(entry)             call(receiver, node,            node, start)    exit(...)
//                 node = enter(entry, caller, ID, n)      SITE)
//                 start = start(node)
//   root          the same with rootEntry(), enterRoot(), exitRoot()
//   followed      node = current()                   the same                   -                    -
//
// where an exception is caught, resume(entry, node) stands first: a constructor cannot see what super() throws.
// Without times there is no start. Call sites have a probe only while somebody wants to know what is called there.
//
// With bytecodes there is a count as in exact counting (counting_pass.h), of whole blocks, and add(node, count) at the
// end.
//
// A receiver that is itself a handle of the callee goes to reflected(receiver, node, SITE) instead. An argument may be
// of interest, too: then it stands where the receiver stands, with a SITE of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "classfile/code_editor.h"
#include "instrument/count_plan.h"

namespace sonde::instrument {

enum class SubgraphRole : std::uint8_t {
  kRoot,
  kInner,
  kFollowed,  // not measured: only what it calls is of interest
};
enum class SubgraphClock : std::uint8_t { kNone, kWall, kCpu };

// Who wants to know what is called where.
class CallSites {
 public:
  enum class Kind : std::uint8_t {
    kBound,     // what is called does not depend on the receiver, or is not asked for
    kReceiver,  // the receiver's class decides
    kHandle,    // the receiver is a handle of the callee: java.lang.reflect.Method and the like
    kPassed,    // an argument, of which the callee may call methods
  };
  struct Probe {
    std::uint32_t number;
    Kind kind;
    std::uint32_t depth = 0;  // of its object on the stack, in words; at most kDeepest
  };
  // Of a call in the method at hand; none: this one is of no interest.
  virtual std::vector<Probe> probes_at(const classfile::Code& code, classfile::Instruction call) = 0;

 protected:
  ~CallSites() = default;
};

// A probe can have an object with so many words on it.
inline constexpr std::uint32_t kDeepest = 2;
// Words of arguments, which lie on the receiver; more than kDeepest if the call has none.
std::uint32_t receiver_depth(classfile::Opcode opcode, std::string_view descriptor);

struct SubgraphMethod {
  std::uint32_t id;
  SubgraphRole role;
  SubgraphClock clock;
  bool bytecodes;
  CallSites* sites;  // null: nobody wants to know
};

class SubgraphPass {
 public:
  // Edits the method; the caller commits.
  Result<void> apply(classfile::CodeEditor& code, const SubgraphMethod& method);

 private:
  [[nodiscard]] bool is_measured() const { return method_.role != SubgraphRole::kFollowed; }
  void insert_entry(classfile::CodeEditor& code);
  void insert_counts(classfile::CodeEditor& code);
  void insert_calls(classfile::CodeEditor& code);
  void insert_exits(classfile::CodeEditor& code);
  void insert_handlers(classfile::CodeEditor& code);
  void add_to_count(classfile::CodeBuilder& b, std::int32_t by) const;
  void exit(classfile::CodeBuilder& b) const;

  CountPlan plan_;
  SubgraphMethod method_{};
  classfile::LocalIndex entry_local_;
  classfile::LocalIndex caller_local_;
  classfile::LocalIndex node_local_;
  classfile::LocalIndex start_local_;
  classfile::LocalIndex count_local_;
};

}  // namespace sonde::instrument
