// SPDX-License-Identifier: Apache-2.0
// Exact counting for a user-written agent that is called every so many bytecodes (papers/001, section 5): what a method
// executes is taken off the thread's countdown as well, at its entry on a single path, else when it ends.
//
//                 entry                          before return, exception leaves
//   1 path        as in counting_pass.h,         as in counting_pass.h
//                 spend(n)
//   other         as in counting_pass.h          spend(count), as in counting_pass.h
#pragma once

#include "instrument/counting_pass.h"

namespace sonde::instrument {

class ReportingPass final : public CountingPass {
 public:
  ReportingPass(const KnownMethods& known, CalleeIds& callees) : CountingPass(known, callees, Contexts::kTree) {}

 private:
  Result<void> insert_entry(classfile::CodeEditor& code, const CountedMethod& counted) override;
  void hand_over(classfile::CodeBuilder& b) const override;
  void finish(classfile::CodeBuilder& b, std::int32_t bytecodes) const override;
};

}  // namespace sonde::instrument
