// SPDX-License-Identifier: Apache-2.0
#include "instrument/reporting_pass.h"

namespace sonde::instrument {

using namespace classfile;

namespace {

constexpr MemberRef kSpend{"java/lang/SondeRT", "spend", "(J)V"};

}  // namespace

Result<void> ReportingPass::insert_entry(CodeEditor& code, const CountedMethod& counted) {
  TRY(CountingPass::insert_entry(code, counted));
  if (!plan_.is_single_path()) return {};
  code.at_entry(code.snippet([&](CodeBuilder& b) { b.push_long(plan_.constant_bytecodes()).invoke_static(kSpend); }));
  return {};
}

void ReportingPass::hand_over(CodeBuilder& b) const {
  load_count(b).invoke_static(kSpend);
  CountingPass::hand_over(b);
}

// Before the method is left: the agent is to see it as the current one.
void ReportingPass::finish(CodeBuilder& b, std::int32_t bytecodes) const {
  if (!plan_.is_single_path()) load_count(b).invoke_static(kSpend);
  CountingPass::finish(b, bytecodes);
}

}  // namespace sonde::instrument
