// SPDX-License-Identifier: Apache-2.0
// Methods before and after an edit, as listings. That the results verify and run is shown by test/torture on every
// class there is; here is one example of each thing the editor does.
#include "classfile/code_editor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "classfile/class_editor.h"
#include "classfile/listing.h"
#include "classfile/printer.h"
#include "classfile/test_class.h"

namespace sonde::classfile {
namespace {

using testing::assemble;
using ::testing::HasSubstr;
using testing::ParsedMethod;
using testing::TestClass;

// What an edit makes of a class with one method.
class Edited {
 public:
  Edited(TestClass& cls, const std::function<void(CodeEditor&)>& pass) : original_(cls.bytes()) {
    const ClassFile parsed = ClassFile::parse(original_).value();
    editor_.open(parsed);
    CodeEditor& code = *editor_.edit(parsed.methods()[0]).value();
    pass(code);
    committed_ = editor_.commit();
    const Bytes written = editor_.write().value();
    method_.emplace(std::vector<std::uint8_t>(written.begin(), written.end()));
  }

  [[nodiscard]] const Result<void>& committed() const { return committed_; }
  [[nodiscard]] const Code& code() const { return method_->code(); }
  [[nodiscard]] const std::vector<std::uint8_t>& original() const { return original_; }
  [[nodiscard]] Bytes bytes() const { return method_->cls().bytes(); }

  // One instruction per line: "0 iload_0", "1 ifeq 7", with the exception table and the frames behind them.
  [[nodiscard]] std::string listing() const {
    std::ostringstream out;
    for (const Instruction insn : code().instructions()) {
      out << insn.pc().value() << " " << (insn.is_wide() ? "wide " : "") << info_of(insn.opcode()).mnemonic;
      if (insn.is_branch()) out << " " << insn.branch_target().value();
      if (insn.is_switch()) {
        const Switch cases = insn.as_switch();
        for (std::uint32_t i = 0; i < cases.size(); ++i) out << " " << cases.key(i) << ":" << cases.target(i).value();
        out << " default:" << cases.default_target().value();
      }
      out << "\n";
    }
    for (const ExceptionEntry& entry : code().exceptions()) {
      out << "catch " << entry.start.value() << ".." << entry.end.value() << " -> " << entry.handler.value() << "\n";
    }
    return out.str() + frames();
  }

  // "frame 7: int, long | int"
  [[nodiscard]] std::string frames() const {
    const auto attribute = code().attributes().find("StackMapTable");
    if (!attribute) return "";
    StackMapTable table;
    EXPECT_TRUE(StackMapTable::parse_into(code(), *attribute, table).ok());
    std::ostringstream out;
    TypeSimulator().run(code(), table, [&](Pc pc, const TypeState& state) {
      if (std::ranges::find(table.frames(), pc, &StackMapTable::Frame::pc) == table.frames().end()) return;
      out << "frame " << pc.value() << ":";
      for (std::size_t i = 0; i < state.locals.size(); ++i) out << " " << text_of(state.locals[i]);
      out << " |";
      for (const Type& type : state.stack) out << " " << text_of(type);
      out << "\n";
    });
    return out.str();
  }

 private:
  static std::string text_of(const Type& type) {
    static constexpr const char* kNames[] = {"-", "int", "float", "double", "long", "null", "uninitializedThis"};
    if (type.tag == TypeTag::kObject) return std::string(type.name);
    if (type.tag == TypeTag::kUninitialized) return "new@" + std::to_string(type.pc);
    return kNames[static_cast<std::size_t>(type.tag)];
  }

  std::vector<std::uint8_t> original_;
  ClassEditor editor_;
  Result<void> committed_;
  std::optional<ParsedMethod> method_;
};

SnippetId nop(CodeEditor& code) {
  return code.snippet([](CodeBuilder& b) { b.op(Opcode::nop); });
}

// if (a == 0) return 1; else return 2, with the frame a compiler gives it.
TestClass branching_class() {
  TestClass cls;
  cls.descriptor = "(I)I";
  cls.max_stack = 1;
  cls.max_locals = 1;
  assemble(cls, R"(
        iload_0
        ifne other
        iconst_1
        ireturn
 other: iconst_2
        ireturn)");
  cls.code_attributes.push_back({"StackMapTable", {0, 1, 6}});
  return cls;
}

TEST(CodeEditor, LeavesAMethodThatNobodyEditsAsItWas) {
  TestClass cls = branching_class();
  const Edited edited(cls, [](CodeEditor&) {});
  EXPECT_TRUE(std::ranges::equal(edited.bytes(), edited.original()));
}

TEST(CodeEditor, BeforeAnInstructionIsReachedByJumpsToo) {
  TestClass cls = branching_class();
  const Edited edited(cls, [](CodeEditor& code) { code.before(Pc(6), nop(code)); });
  EXPECT_EQ(edited.listing(), R"(0 iload_0
1 ifne 6
4 iconst_1
5 ireturn
6 nop
7 iconst_2
8 ireturn
frame 6: int |
)");
}

TEST(CodeEditor, AfterAnInstructionIsReachedByFallingThroughOnly) {
  TestClass cls = branching_class();
  const Edited edited(cls, [](CodeEditor& code) { code.after(Pc(1), nop(code)); });
  EXPECT_EQ(edited.listing(), R"(0 iload_0
1 ifne 7
4 nop
5 iconst_1
6 ireturn
7 iconst_2
8 ireturn
frame 7: int |
)");
}

TEST(CodeEditor, AnEdgeIsRoutedThroughAStubWithTheFrameOfItsTarget) {
  TestClass cls = branching_class();
  const Edited edited(cls, [](CodeEditor& code) { code.on_edge(JumpEdge::taken(Pc(1)), nop(code)); });
  EXPECT_EQ(edited.listing(), R"(0 iload_0
1 ifne 8
4 iconst_1
5 ireturn
6 iconst_2
7 ireturn
8 nop
9 goto 6
frame 6: int |
frame 8: int |
)");
}

TEST(CodeEditor, EachCaseOfASwitchIsAnEdge) {
  TestClass cls;
  cls.descriptor = "(I)V";
  cls.major_version = 49;
  assemble(cls, R"(
        iload_0
        tableswitch 0 same: same same
  same: return)");
  const Edited edited(cls, [](CodeEditor& code) {
    code.before(Pc(0), nop(code));  // moves the switch by one: its padding changes
    code.on_edge(JumpEdge::case_of(Pc(1), 1), nop(code));
    code.on_edge(JumpEdge::default_of(Pc(1)), nop(code));
  });
  EXPECT_EQ(edited.listing(), R"(0 nop
1 iload_0
2 tableswitch 0:24 1:25 default:29
24 return
25 nop
26 goto 24
29 nop
30 goto 24
)");
}

TEST(CodeEditor, EntryCodeRunsOnceEvenIfTheMethodLoopsToItsStart) {
  TestClass cls;
  cls.major_version = 49;
  assemble(cls, "start: goto start");
  const Edited edited(cls, [](CodeEditor& code) { code.at_entry(nop(code)); });
  EXPECT_EQ(edited.listing(), "0 nop\n1 goto 1\n");
}

TEST(CodeEditor, NewLocalsAreInEveryFrame) {
  TestClass cls = branching_class();
  cls.max_locals = 2;
  const Edited edited(cls, [](CodeEditor& code) {
    const LocalIndex sum = code.new_local(LocalType::kLong);
    const LocalIndex count = code.new_local(LocalType::kInt);
    EXPECT_EQ(sum, LocalIndex(2));
    EXPECT_EQ(count, LocalIndex(4));
    code.at_entry(code.snippet(
        [&](CodeBuilder& b) { b.push_long(0).store(LocalType::kLong, sum).push(0).store(LocalType::kInt, count); }));
  });
  EXPECT_EQ(edited.code().max_locals(), 5);
  EXPECT_EQ(edited.code().max_stack(), 2);
  EXPECT_EQ(edited.frames(), "frame 12: int - long - int |\n");
}

TEST(CodeEditor, ANewReferenceHasItsClassInEveryFrame) {
  TestClass cls = branching_class();
  cls.max_locals = 2;
  const Edited edited(cls, [](CodeEditor& code) {
    const LocalIndex node = code.new_local("a/Node");
    code.at_entry(code.snippet([&](CodeBuilder& b) { b.op(Opcode::aconst_null).store(LocalType::kObject, node); }));
  });
  EXPECT_EQ(edited.code().max_locals(), 3);
  EXPECT_EQ(edited.frames(), "frame 9: int - a/Node |\n");
}

TEST(CodeEditor, ALabelInASnippetGetsTheTypesOfItsPlace) {
  TestClass cls;
  cls.descriptor = "(Ljava/lang/String;J)I";
  cls.max_locals = 3;
  assemble(cls, R"(
      aload_0
      lload_1
      l2i
      pop
      pop
      iconst_0
      ireturn)");
  const Edited edited(cls, [](CodeEditor& code) {
    code.before(Pc(2), code.snippet([](CodeBuilder& b) {  // with a String and a long on the stack
      const CodeBuilder::Label skip = b.new_label();
      b.push(7).branch(Opcode::ifeq, skip).op(Opcode::nop).place(skip);
    }));
  });
  EXPECT_EQ(edited.frames(), "frame 8: java/lang/String long - | java/lang/String long\n");
}

TEST(CodeEditor, UninitializedTypesFollowTheNewInstruction) {
  TestClass cls;
  cls.descriptor = "(I)V";
  cls.max_locals = 1;
  assemble(cls, R"(
        new java/lang/Object
        dup
        iload_0
        ifne other
        nop
 other: invokespecial java/lang/Object.<init>()V
        pop
        return)");
  // full_frame at 9: locals int; stack uninitialized(0), uninitialized(0)
  cls.code_attributes.push_back({"StackMapTable", {0, 1, 255, 0, 9, 0, 1, 1, 0, 2, 8, 0, 0, 8, 0, 0}});
  const Edited edited(cls, [](CodeEditor& code) {
    code.before(Pc(0), nop(code));
    code.on_edge(JumpEdge::taken(Pc(5)), nop(code));
  });
  EXPECT_EQ(edited.frames(), "frame 10: int | new@1 new@1\nframe 15: int | new@1 new@1\n");
}

TEST(CodeEditor, LandingPadsCatchCorrectAndGoOn) {
  TestClass cls;
  cls.max_stack = 1;
  cls.max_locals = 0;
  assemble(cls, R"(
  from: invokestatic a/B.f()V
    to: return
 catch: pop
        return
        .catch from to catch java/io/IOException)");
  const PoolIndex type = cls.class_ref("java/io/IOException");
  cls.code_attributes.push_back({"StackMapTable", {0, 1, 64 + 4, 7, 0, static_cast<std::uint8_t>(type.value())}});
  const Edited edited(cls, [](CodeEditor& code) {
    const LocalIndex count = code.new_local(LocalType::kInt);
    code.at_entry(code.snippet([&](CodeBuilder& b) { b.push(5).store(LocalType::kInt, count); }));
    const SnippetId correct = code.snippet([&](CodeBuilder& b) { b.iinc(count, -2); });
    Handler& original = code.handlers()[0];
    original.handler = code.append_stub(StubFrame::same_as(Pc(4)), correct, Pc(4));
    const SnippetId rethrow = code.snippet([&](CodeBuilder& b) { b.iinc(count, -1).op(Opcode::athrow); });
    code.handlers().push_back({.start = Pc(0),
                               .end = Pc(3),
                               .handler = code.append_stub(StubFrame::thrown(), rethrow),
                               .catch_type = PoolIndex(0)});
  });
  EXPECT_EQ(edited.listing(), R"(0 iconst_5
1 istore
3 invokestatic
6 return
7 pop
8 return
9 iinc
12 goto 7
15 iinc
18 athrow
catch 3..6 -> 9
catch 3..6 -> 15
frame 7: int | java/io/IOException
frame 9: int | java/io/IOException
frame 15: int | java/lang/Throwable
)");
}

TEST(CodeEditor, RowsCoverWhatIsInsertedAtTheirStartUnlessTheySpareIt) {
  TestClass cls;
  cls.max_locals = 0;
  assemble(cls, R"(
    invokestatic a/B.f()V
    return)");
  const Edited edited(cls, [](CodeEditor& code) {
    const SnippetId before = code.snippet([](CodeBuilder& b) { b.push(5).op(Opcode::pop); });
    code.before(Pc(0), before);
    const SnippetId rethrow = code.snippet([](CodeBuilder& b) { b.op(Opcode::athrow); });
    const StubId stub = code.append_stub(StubFrame::thrown(), rethrow);
    for (const bool spares : {false, true}) {
      code.handlers().push_back(
          {.start = Pc(0), .end = Pc(3), .handler = stub, .catch_type = PoolIndex(0), .spares_inserted = spares});
    }
  });
  EXPECT_EQ(edited.listing(), R"(0 iconst_5
1 pop
2 invokestatic
5 return
6 athrow
catch 0..5 -> 6
catch 2..5 -> 6
frame 6: | java/lang/Throwable
)");
}

TEST(CodeEditor, JumpsThatNoLongerReachBecomeWide) {
  TestClass cls;
  cls.descriptor = "(I)V";
  cls.max_locals = 1;
  std::string text = "start: iload_0\n ifne end\n goto end\n";
  for (int i = 0; i < 20000; ++i) text += "nop\n";
  assemble(cls, text + "end: return\n");
  cls.code_attributes.push_back({"StackMapTable", {0, 1, 251, 0x4e, 0x27}});  // same_frame_extended at 20007
  const Edited edited(cls, [](CodeEditor& code) {
    const SnippetId id = nop(code);
    for (const Instruction insn : code.code().instructions()) code.before(insn.pc(), id);
  });
  ASSERT_TRUE(edited.committed().ok());
  EXPECT_THAT(edited.listing(),
              HasSubstr("1 iload_0\n2 nop\n3 ifeq 11\n6 goto_w 40017\n11 nop\n12 goto_w 40017\n17 nop\n"));
  EXPECT_EQ(edited.frames(), "frame 11: int |\nframe 40017: int |\n");
}

TEST(CodeEditor, CodeThatPasses64KiBIsRefusedAndTheMethodStays) {
  TestClass cls;
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "nop\n";
  assemble(cls, text + "return");
  const Edited edited(cls, [](CodeEditor& code) {
    const SnippetId id = nop(code);
    for (const Instruction insn : code.code().instructions()) code.before(insn.pc(), id);
  });
  ASSERT_FALSE(edited.committed().ok());
  EXPECT_EQ(edited.committed().error().code, ErrorCode::kTooLarge);
  EXPECT_THAT(edited.committed().error().to_string(), HasSubstr("method `Test.f()V`, Code: would take 80002 bytes"));
  EXPECT_TRUE(std::ranges::equal(edited.bytes(), edited.original()));
}

TEST(CodeEditor, SubroutinesOfOldClassesAreEditedToo) {
  TestClass cls;
  cls.major_version = 48;
  assemble(cls, R"(
        jsr sub
        return
   sub: astore_0
        ret 0)");
  const Edited edited(cls, [](CodeEditor& code) {
    code.on_edge(JumpEdge::taken(Pc(0)), nop(code));
    code.after(Pc(0), nop(code));  // when the subroutine is back
    code.before(Pc(4), nop(code));
  });
  EXPECT_EQ(edited.listing(), "0 nop\n1 jsr 6\n4 nop\n5 return\n6 nop\n7 astore_0\n8 ret\n");
}

TEST(CodeEditor, TablesWithOffsetsFollowTheCode) {
  TestClass cls;
  cls.max_locals = 1;
  assemble(cls, R"(
        .line 10
        nop
        .line 11
        new a/B
        pop
        return)");
  // LocalVariableTable: pc 1, length 4. Type annotation on the `new` (0x44) at 1 with no path, no elements.
  cls.code_attributes.push_back({"LocalVariableTable", {0, 1, 0, 1, 0, 4, 0, 1, 0, 1, 0, 0}});
  cls.code_attributes.push_back({"RuntimeInvisibleTypeAnnotations", {0, 1, 0x44, 0, 1, 0, 0, 1, 0, 0}});
  cls.code_attributes.push_back({"Unknown", {1, 2, 3}});
  const Edited edited(cls, [](CodeEditor& code) {
    for (const Instruction insn : code.code().instructions()) code.before(insn.pc(), nop(code));
  });
  const AttributeList& attributes = edited.code().attributes();
  const auto content = [&](std::string_view name) {
    const Bytes bytes = attributes.find(name).value().content;
    return std::vector<int>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(edited.code().line_at(Pc(1)), 10);
  EXPECT_EQ(edited.code().line_at(Pc(2)), 11) << "what is inserted before an instruction belongs to its line";
  EXPECT_EQ(content("LocalVariableTable"), (std::vector<int>{0, 1, 0, 2, 0, 6, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(content("RuntimeInvisibleTypeAnnotations"), (std::vector<int>{0, 1, 0x44, 0, 3, 0, 0, 1, 0, 0}))
      << "an annotation points at the instruction itself";
  EXPECT_EQ(content("Unknown"), (std::vector<int>{1, 2, 3}));
}

TEST(CodeEditor, TablesThatDoNotFitTheirLengthAreRefused) {
  const auto refused = [](const char* name, std::vector<std::uint8_t> content) {
    TestClass cls;
    assemble(cls, "return");
    cls.code_attributes.push_back({name, std::move(content)});
    const Edited edited(cls, [](CodeEditor& code) { code.before(Pc(0), nop(code)); });
    EXPECT_TRUE(std::ranges::equal(edited.bytes(), edited.original()));
    return edited.committed().ok() ? "not refused" : edited.committed().error().to_string();
  };
  const auto mention = HasSubstr("does not fit its length or the code");
  EXPECT_THAT(refused("LineNumberTable", {0, 1}), mention) << "fewer rows than it says";
  EXPECT_THAT(refused("LineNumberTable", {0, 0, 0, 0, 0, 1}), mention) << "more rows than it says";
  EXPECT_THAT(refused("LineNumberTable", {0, 1, 0, 1, 0, 7}), mention) << "a line behind the code";
  EXPECT_THAT(refused("LocalVariableTable", {0, 1}), mention);
  EXPECT_THAT(refused("LocalVariableTable", {0, 1, 0, 0, 0, 2, 0, 1, 0, 1, 0, 0}), mention);
}

TEST(CodeEditor, InsertionsMayComeInAnyOrder) {
  TestClass cls;
  cls.major_version = 49;
  assemble(cls, "iconst_0\npop\nreturn");
  const Edited edited(cls, [](CodeEditor& code) {
    const SnippetId longer = code.snippet([](CodeBuilder& b) {
      for (int i = 0; i < 5; ++i) b.push(7).op(Opcode::pop);  // 15 bytes
    });
    const SnippetId shorter = nop(code);
    code.before(Pc(2), shorter);
    code.before(Pc(2), longer);
    code.before(Pc(2), shorter);
    code.before(Pc(1), shorter);
    code.after(Pc(0), longer);
    code.before(Pc(0), shorter);
  });
  ASSERT_TRUE(edited.committed().ok());
  std::string seven;
  for (int i = 0; i < 5; ++i) seven += "bipush pop ";
  std::string mnemonics;
  for (const Instruction insn : edited.code().instructions()) {
    mnemonics += std::string(info_of(insn.opcode()).mnemonic) + " ";
  }
  EXPECT_EQ(mnemonics, "nop iconst_0 " + seven + "nop pop nop " + seven + "nop return ");
}

TEST(CodeEditor, ManyTimesTheLimitIsRefusedBeforeItIsWritten) {
  TestClass cls;
  assemble(cls, "return");
  const Edited edited(cls, [](CodeEditor& code) {
    const SnippetId big = code.snippet([](CodeBuilder& b) {
      for (int i = 0; i < 60'000; ++i) b.op(Opcode::nop);
    });
    for (int i = 0; i < 100'000; ++i) code.before(Pc(0), big);
  });
  ASSERT_FALSE(edited.committed().ok());
  EXPECT_EQ(edited.committed().error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(std::ranges::equal(edited.bytes(), edited.original()));
}

TEST(CodeEditor, ImpossibleEditsAreRefused) {
  const auto refused = [](const std::function<void(CodeEditor&)>& pass) {
    TestClass cls = branching_class();
    const Edited edited(cls, pass);
    EXPECT_TRUE(std::ranges::equal(edited.bytes(), edited.original()));
    return edited.committed().ok() ? "not refused" : edited.committed().error().to_string();
  };
  EXPECT_THAT(refused([](CodeEditor& code) { code.before(Pc(2), nop(code)); }),
              HasSubstr("no instruction starts here"));
  EXPECT_THAT(refused([](CodeEditor& code) { code.after(Pc(5), nop(code)); }), HasSubstr("not reached from here"));
  EXPECT_THAT(refused([](CodeEditor& code) { code.on_edge(JumpEdge::case_of(Pc(1), 1), nop(code)); }),
              HasSubstr("no such edge"));
  EXPECT_THAT(
      refused([](CodeEditor& code) { code.before(Pc(0), code.snippet([](CodeBuilder& b) { b.op(Opcode::bipush); })); }),
      HasSubstr("does not fit"));
}

TEST(CodeBuilder, ChoosesTheShortestForms) {
  TestClass cls;
  cls.major_version = 49;
  assemble(cls, "return");
  const Edited edited(cls, [](CodeEditor& code) {
    code.at_entry(code.snippet([](CodeBuilder& b) {
      b.push(-1).op(Opcode::pop).push(100).op(Opcode::pop).push(1000).op(Opcode::pop).push(100000).op(Opcode::pop);
      b.push_long(1).op(Opcode::pop2).push_long(2).op(Opcode::pop2);
      b.load(LocalType::kInt, LocalIndex(5)).op(Opcode::pop).load(LocalType::kLong, LocalIndex(300)).op(Opcode::pop2);
      b.iinc(LocalIndex(5), 1).iinc(LocalIndex(5), 1000).iinc(LocalIndex(5), 100000);
    }));
  });
  EXPECT_THAT(edited.listing(), HasSubstr("iconst_m1"));
  EXPECT_EQ(edited.listing(), R"(0 iconst_m1
1 pop
2 bipush
4 pop
5 sipush
8 pop
9 ldc
11 pop
12 lconst_1
13 pop2
14 ldc2_w
17 pop2
18 iload
20 pop
21 wide lload
25 pop2
26 iinc
29 wide iinc
35 iload
37 ldc
39 iadd
40 istore
42 return
)");
}

}  // namespace
}  // namespace sonde::classfile
