// SPDX-License-Identifier: Apache-2.0
#include "classfile/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classfile/test_class.h"

namespace sonde::classfile {
namespace {

using testing::assemble;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestClass;

// The findings as text. ClassFile::parse must accept the class.
std::vector<std::string> findings(TestClass& cls) {
  const std::vector<std::uint8_t> bytes = cls.bytes();
  const ClassFile parsed = ClassFile::parse(bytes).value();
  std::vector<std::string> texts;
  for (const Error& error : check(parsed)) texts.push_back(error.to_string());
  return texts;
}

std::vector<std::string> findings_in_code(std::string_view text) {
  TestClass cls;
  assemble(cls, text);
  return findings(cls);
}

TestClass empty_method() {
  TestClass cls;
  cls.code = {0xb1};
  return cls;
}

TEST(Check, FindsNothingInACorrectClass) {
  TestClass cls;
  cls.descriptor = "(Ljava/util/List;J)V";
  cls.method_flags = kAccPublic | kAccStatic;
  assemble(cls, R"(
          aload_0
          invokeinterface java/util/List.size()I
          lookupswitch out: -1=out 7=out
    out:  return)");
  cls.class_attributes = {{"SourceFile", {}}};
  const std::uint16_t file = cls.utf8("Test.java").value();
  cls.class_attributes[0].content = {static_cast<std::uint8_t>(file >> 8), static_cast<std::uint8_t>(file)};
  EXPECT_THAT(findings(cls), IsEmpty());
}

TEST(Check, NamesAndDescriptorsFollowTheGrammar) {
  TestClass cls = empty_method();
  cls.class_ref("java.lang.String");
  cls.class_ref("a//B");
  cls.class_ref("[Ljava/lang/String;");
  cls.class_ref("[V");
  cls.member(Tag::kFieldref, "a/B", "x", "()V");
  cls.member(Tag::kMethodref, "a/B", "<clinit>", "()V");
  cls.member(Tag::kMethodref, "a/B", "<init>", "()I");
  cls.member(Tag::kMethodref, "a/B", "f", "(La.b;)V");
  EXPECT_THAT(
      findings(cls),
      ElementsAre(HasSubstr("Class `java.lang.String` is no class name"), HasSubstr("Class `a//B` is no class name"),
                  HasSubstr("Class `[V` is no class name"), HasSubstr("has `()V`, which is no field descriptor"),
                  HasSubstr("has the name `<clinit>`"), HasSubstr("names a constructor with the descriptor `()I`"),
                  HasSubstr("has `(La.b;)V`, which is no method descriptor")));
}

TEST(Check, MethodNamesHaveNoAngleBracketsExceptTheTwo) {
  TestClass cls = empty_method();
  cls.method_name = "<main>";
  EXPECT_THAT(findings(cls), ElementsAre("method `Test.<main>()V`: `<main>` is no method name"));
}

TEST(Check, ArgumentsTakeAtMost255Slots) {
  TestClass cls = empty_method();
  cls.max_locals = 256;
  cls.descriptor = "(" + std::string(127, 'J') + "I)V";
  EXPECT_THAT(findings(cls), IsEmpty());
  cls.descriptor = "(" + std::string(128, 'J') + ")V";
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("takes 256 slots of arguments, more than 255")));
}

TEST(Check, TextIsModifiedUtf8WithRoomForOldHabits) {
  TestClass cls = empty_method();
  cls.utf8("\xC1\x81");
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("is not valid modified UTF-8")));
  cls.major_version = 47;
  EXPECT_THAT(findings(cls), IsEmpty());
  cls.utf8("\xF0\x9F\x98\x80");
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("`\\xf0\\x9f\\x98\\x80` is not valid modified UTF-8")));
}

TEST(Check, CodeIsWhereItBelongs) {
  TestClass cls;
  cls.method_flags = kAccPublic | kAccAbstract;
  EXPECT_THAT(findings(cls), IsEmpty());
  cls.method_attributes = {{"Code", {0, 0, 0, 1, 0, 0, 0, 1, 0xb1, 0, 0, 0, 0}}};
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("has 1 Code attributes, but is native or abstract")));
  cls.method_flags = kAccPublic;
  cls.code = {0xb1};
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("has 2 Code attributes, but is not native or abstract")));
}

TEST(Check, CodeThatDoesNotParseIsAFinding) {
  TestClass cls;
  cls.code = {0xa7, 0, 9, 0xb1};
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("method `Test.f()V`, Code, pc 0: jumps to 9")));
}

TEST(Check, LocalsAreBelowMaxLocals) {
  TestClass cls;
  cls.max_locals = 3;
  assemble(cls, R"(
    iload_2
    dload_1
    lload_2
    astore 3
    wide iinc 300 1
    dstore_2
    return)");
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("pc 2: lload_2 of local 2, but max_locals is 3"),
                                         HasSubstr("pc 3: astore of local 3"), HasSubstr("pc 5: iinc of local 300"),
                                         HasSubstr("pc 11: dstore_2 of local 2")));
  cls.descriptor = "(JJ)V";
  EXPECT_THAT(findings(cls)[0], HasSubstr("max_locals 3 has no room for 4 slots of arguments"));
}

TEST(Check, InvokeOperandsAgreeWithTheDescriptor) {
  TestClass cls;
  const std::uint16_t target = cls.member(Tag::kInterfaceMethodref, "a/B", "f", "(IJ)V").value();
  ASSERT_LT(target, 256);
  const auto index = static_cast<std::uint8_t>(target);
  cls.code = {0xb9, 0, index, 4, 0, 0xb9, 0, index, 3, 0, 0xb9, 0, index, 4, 1, 0xb1};
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("pc 5: invokeinterface has count 3, but `(IJ)V` takes 4"),
                                         HasSubstr("pc 10: invokeinterface has a fourth operand byte that is not 0")));
}

TEST(Check, ConstructorsAreCalledWithInvokespecialOnly) {
  EXPECT_THAT(findings_in_code("invokespecial a/B.<init>()V\n return"), IsEmpty());
  EXPECT_THAT(findings_in_code("invokevirtual a/B.<init>()V\n return"),
              ElementsAre(HasSubstr("invokevirtual of `<init>`")));
}

TEST(Check, ArrayInstructionsNameArraysOfEnoughDimensions) {
  EXPECT_THAT(findings_in_code("multianewarray [[I 2\n new a/B\n return"), IsEmpty());
  EXPECT_THAT(findings_in_code("multianewarray [[I 3\n return"),
              ElementsAre(HasSubstr("of 3 dimensions, but `[[I` has fewer")));
  EXPECT_THAT(findings_in_code("new [I\n return"), ElementsAre(HasSubstr("new of the array type `[I`")));
}

TEST(Check, LookupswitchKeysAscend) {
  EXPECT_THAT(findings_in_code("iconst_0\n lookupswitch out: 5=out 5=out 9=out\n out: return"),
              ElementsAre(HasSubstr("lookupswitch has key 5 after 5")));
  EXPECT_THAT(findings_in_code("iconst_0\n lookupswitch out: 5=out -6=out\n out: return"),
              ElementsAre(HasSubstr("lookupswitch has key -6 after 5")));
}

TEST(Check, SubroutinesEndWithVersion50) {
  TestClass cls;
  cls.major_version = 50;
  assemble(cls, "jsr sub\n return\n sub: astore_1\n ret 1");
  EXPECT_THAT(findings(cls), IsEmpty());
  cls.major_version = 51;
  EXPECT_THAT(findings(cls),
              ElementsAre(HasSubstr("jsr is not allowed in class version 51"), HasSubstr("ret is not allowed")));
}

TEST(Check, BootstrapMethodsAreInRange) {
  TestClass cls = empty_method();
  cls.invoke_dynamic(0, "f", "()V");
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("InvokeDynamic names bootstrap method 0 of 0")));
}

// A method of 20 nops with this StackMapTable, whose first byte is at offset 2 of the attribute.
std::vector<std::string> findings_in_frames(std::vector<std::uint8_t> content, std::uint16_t major_version = 61) {
  TestClass cls;
  cls.major_version = major_version;
  cls.max_locals = 3;
  cls.max_stack = 2;
  cls.descriptor = "(I)V";
  cls.code.assign(20, 0);
  cls.code[10] = 0x10;  // bipush: no instruction starts at 11
  cls.code.back() = 0xb1;
  cls.code_attributes = {{"StackMapTable", std::move(content)}};
  return findings(cls);
}

TEST(Check, FramesStandAtInstructionsAndFitTheMethod) {
  EXPECT_THAT(findings_in_frames({0, 1, 5}), IsEmpty());
  EXPECT_THAT(findings_in_frames({0, 1, 11}), ElementsAre(HasSubstr("frame at pc 11: no instruction starts there")));
  EXPECT_THAT(findings_in_frames({0, 1, 20}), ElementsAre(HasSubstr("frame at pc 20: no instruction starts there")));
  EXPECT_THAT(findings_in_frames({0, 1, 249, 0, 5}), ElementsAre(HasSubstr("chops 2 of 1 locals")));
  EXPECT_THAT(findings_in_frames({0, 1, 253, 0, 5, 4, 1}),
              ElementsAre(HasSubstr("has 4 slots of locals, but max_locals is 3")));
  EXPECT_THAT(findings_in_frames({0, 1, 255, 0, 5, 0, 0, 0, 2, 3, 1}),
              ElementsAre(HasSubstr("has 3 slots of stack, but max_stack is 2")));
}

TEST(Check, FramesHoldKnownTypes) {
  EXPECT_THAT(findings_in_frames({0, 1, 69, 7, 0, 0}), ElementsAre(HasSubstr("Object type #0 is not a Class entry")));
  EXPECT_THAT(findings_in_frames({0, 1, 69, 8, 0, 3}), ElementsAre(HasSubstr("uninitialized 3 does not name a `new`")));
  EXPECT_THAT(findings_in_frames({0, 1, 69, 9}), ElementsAre(HasSubstr("unknown verification type 9")));
}

TEST(Check, StackMapTableHasExactlyItsFrames) {
  EXPECT_THAT(findings_in_frames({0, 1}), ElementsAre(HasSubstr("StackMapTable, frame 0")));
  EXPECT_THAT(findings_in_frames({0}), ElementsAre(HasSubstr("no room for number_of_entries")));
  EXPECT_THAT(findings_in_frames({0, 1, 5, 6}), ElementsAre(HasSubstr("1 bytes follow the last frame")));
  EXPECT_THAT(findings_in_frames({0, 1, 200}), ElementsAre(HasSubstr("frame_type 200 is reserved")));
  EXPECT_THAT(findings_in_frames({0, 1, 200}, 49), IsEmpty()) << "ignored before version 50";
}

TEST(Check, DebuggingTablesLieInTheCode) {
  TestClass cls = empty_method();
  cls.max_locals = 2;
  const auto name = static_cast<std::uint8_t>(cls.utf8("x").value());
  const auto type = static_cast<std::uint8_t>(cls.utf8("J").value());
  const auto bad_type = static_cast<std::uint8_t>(cls.utf8("Q").value());
  cls.code_attributes = {{"LineNumberTable", {0, 2, 0, 0, 0, 1, 0, 1, 0, 2}},
                         {"LocalVariableTable", {0, 3,                                    //
                                                 0, 0, 0, 1, 0, name, 0, type,     0, 0,  //
                                                 0, 0, 0, 2, 0, name, 0, type,     0, 1,  //
                                                 0, 0, 0, 1, 0, name, 0, bad_type, 0, 0}}};
  EXPECT_THAT(findings(cls), ElementsAre(HasSubstr("Code, LineNumberTable, row 1: pc 1 is past the code"),
                                         HasSubstr("row 1: the range of 2 bytes from pc 0 on ends past the code"),
                                         HasSubstr("row 1: slot 1 is not below max_locals 2"),
                                         HasSubstr("row 2: `Q` is no field descriptor")));
}

TEST(Check, KnownAttributesHaveTheLengthOfTheirContent) {
  TestClass cls = empty_method();
  cls.class_attributes = {{"SourceFile", {0}},
                          {"NestMembers", {0, 0, 0}},
                          {"InnerClasses", {0, 1, 0, 0, 0}},
                          {"SomethingElse", {1, 2, 3}},
                          {"ConstantValue", {1}}};
  EXPECT_THAT(findings(cls),
              ElementsAre(HasSubstr("SourceFile: "), HasSubstr("NestMembers: 1 bytes follow its content"),
                          HasSubstr("InnerClasses, row 0: #0 is Unusable"), HasSubstr("InnerClasses: ")))
      << "unknown attributes, and known ones where they mean nothing, are ignored";
}

TEST(Check, NoFlippedByteLeadsOutOfTheClass) {
  TestClass cls;
  cls.descriptor = "(Ljava/util/List;J)V";
  assemble(cls, R"(
          aload_0
          invokeinterface java/util/List.size()I
          lookupswitch out: -1=out 7=out
    out:  return)");
  cls.code_attributes = {{"StackMapTable", {0, 1, 255, 0, 36, 0, 1, 1, 0, 0}}, {"LocalVariableTable", {0, 0}}};
  const std::vector<std::uint8_t> original = cls.bytes();
  for (std::size_t at = 8; at < original.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::vector<std::uint8_t> damaged = original;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ flip);
      const Result<ClassFile> parsed = ClassFile::parse(damaged);
      if (parsed.ok()) (void)check(*parsed);
    }
  }
}

}  // namespace
}  // namespace sonde::classfile
