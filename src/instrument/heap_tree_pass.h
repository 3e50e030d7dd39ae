// SPDX-License-Identifier: Apache-2.0
// The scheme of papers/001 in our instrumenter, so that the two can be measured side by side (bench/exact): nodes are
// Java objects (java.lang.SondeNode), a method finds its own among its caller's callees, and each block adds its
// bytecodes to the node in memory. No leaves, no single paths, no call sites; blocks are counted whole.
//
//   entry                          caller = caller(); node = enter(caller, ID)
//   each block                     count(node, k)
//   an exception handler           resume(node)
//   return, exception that leaves  resume(caller)
#pragma once

#include <cstdint>

#include "base/result.h"
#include "classfile/code_editor.h"
#include "instrument/count_plan.h"
#include "instrument/counting_pass.h"

namespace sonde::instrument {

class HeapTreePass {
 public:
  Result<void> apply(classfile::CodeEditor& code, std::uint32_t method_id, CountedMethod& counted);

 private:
  void insert_entry(classfile::CodeEditor& code, std::uint32_t method_id);
  void insert_counts(classfile::CodeEditor& code);
  void insert_exits(classfile::CodeEditor& code);
  void insert_handlers(classfile::CodeEditor& code);
  void count(classfile::CodeBuilder& b, std::int32_t bytecodes) const;
  static classfile::CodeBuilder& resume(classfile::CodeBuilder& b, classfile::LocalIndex node);

  CountPlan plan_;
  classfile::LocalIndex caller_local_;
  classfile::LocalIndex node_local_;
};

}  // namespace sonde::instrument
