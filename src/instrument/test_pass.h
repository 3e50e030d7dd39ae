// SPDX-License-Identifier: Apache-2.0
// For tests of passes: a method before and after, as text on one line.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "classfile/class_editor.h"
#include "classfile/test_class.h"
#include "instrument/counting_pass.h"

namespace sonde::instrument::testing {

// All callees that are counted where they are called have the same number.
class FixedIds final : public CalleeIds {
 public:
  std::uint32_t id_of(const classfile::MemberRef&, KnownKind) override { return 99; }
};

// A branch on its parameter, and a return on both sides.
inline classfile::testing::TestClass class_with_two_paths() {
  classfile::testing::TestClass cls;
  cls.max_locals = 1;
  classfile::testing::assemble(cls, R"(
        iload_0
        ifeq other
        iconst_1
        ireturn
 other: iconst_0
        ireturn)");
  return cls;
}

struct Instrumented {
  std::string code;      // calls of the runtime (java.lang.Sonde*) by name, everything else by mnemonic
  std::string handlers;  // the exception table
};

// The class with what a pass makes of its first method.
template <typename Apply>  // Result<void>(CodeEditor&)
Result<std::vector<std::uint8_t>> rewritten(classfile::testing::TestClass& cls, Apply&& apply) {
  using namespace classfile;
  const std::vector<std::uint8_t> bytes = cls.bytes();
  const ClassFile parsed = ClassFile::parse(bytes).value();
  ClassEditor editor;
  editor.open(parsed);
  TRY(apply(*editor.edit(parsed.methods()[0]).value()));
  const auto committed = editor.commit();
  EXPECT_TRUE(committed.ok()) << committed.error().to_string();
  const Bytes written = editor.write().value();
  return std::vector<std::uint8_t>(written.begin(), written.end());
}

// The same as text; if the pass refuses, its message for code.
template <typename Apply>  // Result<void>(CodeEditor&)
Instrumented instrumented(classfile::testing::TestClass& cls, Apply&& apply) {
  using namespace classfile;
  const auto written = rewritten(cls, apply);
  if (!written.ok()) return {.code = written.error().message, .handlers = ""};
  const classfile::testing::ParsedMethod method(*written);
  std::ostringstream code;
  for (const Instruction insn : method.code().instructions()) {
    const bool call = insn.opcode() == Opcode::invokestatic;
    const MemberRef callee = call ? method.cls().pool().member(insn.pool_index()) : MemberRef{};
    code << (callee.class_name.starts_with("java/lang/Sonde") ? callee.name : info_of(insn.opcode()).mnemonic) << " ";
  }
  std::ostringstream handlers;
  for (const ExceptionEntry& entry : method.code().exceptions()) {
    handlers << "[" << entry.start.value() << ".." << entry.end.value() << "->" << entry.handler.value() << "]";
  }
  return {.code = code.str(), .handlers = handlers.str()};
}

}  // namespace sonde::instrument::testing
