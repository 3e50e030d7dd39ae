// SPDX-License-Identifier: Apache-2.0
#include "classfile/class_editor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "classfile/test_class.h"

namespace sonde::classfile {
namespace {

using ClassBytes = std::vector<std::uint8_t>;

// Three times the method of a class. Nobody here asks for different names.
ClassBytes with_three_methods() {
  testing::TestClass one;
  testing::assemble(one, R"(
      iconst_0
      istore_0
      return
  )");
  const ClassBytes bytes = one.bytes();
  const ClassFile cls = ClassFile::parse(bytes).value();
  ByteWriter three;
  three.bytes(cls.bytes().first(cls.methods_offset()));
  three.u2(3);
  for (int i = 0; i < 3; ++i) three.bytes(cls.methods()[0].bytes);
  three.bytes(cls.attributes().bytes());
  return {three.view().begin(), three.view().end()};
}

// So many nops before the first instruction of a method.
struct Edit {
  std::size_t method;
  int nops;
};

void commit(ClassEditor& editor, const ClassFile& cls, Edit edit) {
  CodeEditor& code = **editor.edit(cls.methods()[edit.method]);
  code.before(Pc(0), code.snippet([&](CodeBuilder& b) {
    for (int i = 0; i < edit.nops; ++i) b.op(Opcode::nop);
  }));
  EXPECT_TRUE(editor.commit().ok());
}

ClassBytes written(ClassEditor& editor) {
  const Bytes bytes = editor.write().value();
  return {bytes.begin(), bytes.end()};
}

ClassBytes edited(const std::vector<Edit>& edits) {
  const ClassBytes bytes = with_three_methods();
  const ClassFile cls = ClassFile::parse(bytes).value();
  ClassEditor editor;
  editor.open(cls);
  for (const Edit& edit : edits) commit(editor, cls, edit);
  return written(editor);
}

std::vector<std::uint32_t> code_lengths(const ClassBytes& bytes) {
  const ClassFile cls = ClassFile::parse(bytes).value();
  std::vector<std::uint32_t> lengths;
  for (const Member& method : cls.methods()) lengths.push_back(Code::parse(cls, method)->length());
  return lengths;
}

TEST(ClassEditor, MethodsMayBeEditedInAnyOrder) {
  const ClassBytes in_order = edited({{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(code_lengths(in_order), (std::vector<std::uint32_t>{4, 5, 6}));
  EXPECT_EQ(edited({{2, 3}, {1, 2}, {0, 1}}), in_order);
  EXPECT_EQ(edited({{1, 2}, {0, 1}, {2, 3}}), in_order);
  EXPECT_EQ(edited({{2, 3}, {0, 1}, {1, 2}}), in_order);
}

TEST(ClassEditor, OfTwoEditsOfAMethodTheLastCounts) {
  const ClassBytes once = edited({{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(edited({{0, 9}, {1, 2}, {0, 1}, {2, 3}}), once);          // shorter, nothing behind the next method yet
  EXPECT_EQ(edited({{0, 1}, {1, 1}, {2, 1}, {1, 2}, {2, 3}}), once);  // longer
  EXPECT_EQ(edited({{2, 9}, {1, 9}, {0, 9}, {0, 1}, {1, 2}, {2, 3}}), once);
}

TEST(ClassEditor, MethodsThatAreNotEditedStayAsTheyWere) {
  EXPECT_EQ(edited({}), with_three_methods());
  EXPECT_EQ(code_lengths(edited({{1, 2}})), (std::vector<std::uint32_t>{3, 5, 3}));
  EXPECT_EQ(code_lengths(edited({{2, 1}, {0, 2}})), (std::vector<std::uint32_t>{5, 3, 4}));
}

TEST(ClassEditor, ARefusedEditLeavesTheOthers) {
  const ClassBytes bytes = with_three_methods();
  const ClassFile cls = ClassFile::parse(bytes).value();
  ClassEditor editor;
  editor.open(cls);
  commit(editor, cls, {0, 1});
  for (const std::size_t method : {1U, 0U}) {
    CodeEditor& code = **editor.edit(cls.methods()[method]);
    code.before(Pc(99), code.snippet([](CodeBuilder& b) { b.op(Opcode::nop); }));
    EXPECT_FALSE(editor.commit().ok());
  }
  commit(editor, cls, {2, 3});
  EXPECT_EQ(written(editor), edited({{0, 1}, {2, 3}}));
}

TEST(ClassEditor, EditingGoesOnAfterWriting) {
  const ClassBytes bytes = with_three_methods();
  const ClassFile cls = ClassFile::parse(bytes).value();
  ClassEditor editor;
  editor.open(cls);
  commit(editor, cls, {1, 2});
  EXPECT_EQ(written(editor), edited({{1, 2}}));
  EXPECT_EQ(written(editor), edited({{1, 2}}));
  commit(editor, cls, {2, 3});
  commit(editor, cls, {0, 1});
  EXPECT_EQ(written(editor), edited({{0, 1}, {1, 2}, {2, 3}}));
}

TEST(ClassEditor, ConstantsNeedNotFitTheRoomThatIsKeptForThem) {
  const ClassBytes bytes = with_three_methods();
  const ClassFile cls = ClassFile::parse(bytes).value();
  ClassEditor editor;
  editor.open(cls);
  commit(editor, cls, {1, 2});
  for (std::size_t size = 1; size < 20000; size *= 3) editor.pool().utf8(std::string(size, 'x'));
  const ClassBytes first = written(editor);
  EXPECT_EQ(code_lengths(first), (std::vector<std::uint32_t>{3, 5, 3}));
  commit(editor, cls, {2, 1});
  commit(editor, cls, {0, 1});
  const ClassBytes second = written(editor);
  EXPECT_EQ(code_lengths(second), (std::vector<std::uint32_t>{4, 5, 4}));
  EXPECT_EQ(ClassFile::parse(second)->pool().count(), ClassFile::parse(first)->pool().count());
}

TEST(ClassEditor, AddsAFieldAndFindsConstantsThatAreThere) {
  testing::TestClass cls;
  testing::assemble(cls, "return");
  const ClassBytes bytes = cls.bytes();
  const ClassFile parsed = ClassFile::parse(bytes).value();
  ClassEditor editor;
  editor.open(parsed);
  EXPECT_EQ(editor.pool().class_info("java/lang/Object"), parsed.super_class());
  editor.add_field(kAccTransient | kAccSynthetic, "$sonde", "J");
  const Bytes written = editor.write().value();
  const ClassFile result = ClassFile::parse(written).value();
  ASSERT_EQ(result.fields().size(), 1u);
  EXPECT_EQ(result.fields()[0].name, "$sonde");
  EXPECT_EQ(result.fields()[0].descriptor, "J");
  EXPECT_EQ(result.pool().count(), parsed.pool().count() + 2);
}

TEST(ClassEditor, AFullConstantPoolIsAnErrorAndNotAWrongIndex) {
  testing::TestClass cls;
  testing::assemble(cls, "return");
  const ClassBytes bytes = cls.bytes();
  const ClassFile parsed = ClassFile::parse(bytes).value();
  ClassEditor editor;
  editor.open(parsed);
  for (int i = 0; i < 70000; ++i) (void)editor.pool().integer(i);
  ASSERT_FALSE(editor.write().ok());
  EXPECT_EQ(editor.write().error().code, ErrorCode::kTooLarge);
  editor.open(parsed);
  EXPECT_TRUE(std::ranges::equal(editor.write().value(), bytes)) << "a new open() starts afresh";
}

TEST(ConstantPool, KnowsConstantsThatAreNotEqualToThemselves) {
  const auto has_nan = [](auto&& add) {
    testing::TestClass cls;
    testing::assemble(cls, "return");
    add(cls);
    const ClassBytes bytes = cls.bytes();
    return ClassFile::parse(bytes)->pool().has_nan();
  };
  constexpr std::int64_t kNan = 0x7ff8'0000'0000'0000;
  EXPECT_TRUE(has_nan([](testing::TestClass& cls) { cls.double_bits(kNan); }));
  EXPECT_TRUE(has_nan([](testing::TestClass& cls) { cls.float_bits(0xffc0'0001); }));
  EXPECT_FALSE(has_nan([](testing::TestClass& cls) { cls.long_integer(kNan); }));
  EXPECT_FALSE(has_nan([](testing::TestClass& cls) { cls.double_bits(0x7ff0'0000'0000'0000); })) << "infinity";
}

TEST(ClassFile, OneObjectServesForManyClasses) {
  const ClassBytes three = with_three_methods();
  ClassFile cls;
  ASSERT_TRUE(ClassFile::parse_into(three, cls).ok());
  EXPECT_EQ(cls.methods().size(), 3U);
  testing::TestClass other;
  other.name = "Other";
  testing::assemble(other, "return");
  const ClassBytes one = other.bytes();
  EXPECT_FALSE(ClassFile::parse_into(Bytes(one).first(one.size() - 1), cls).ok());
  ASSERT_TRUE(ClassFile::parse_into(one, cls).ok());
  EXPECT_EQ(cls.name(), "Other");
  EXPECT_EQ(cls.methods().size(), 1U);
  EXPECT_EQ(cls.pool().count(), ClassFile::parse(one)->pool().count());
}

}  // namespace
}  // namespace sonde::classfile
