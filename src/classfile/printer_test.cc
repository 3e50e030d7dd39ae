// SPDX-License-Identifier: Apache-2.0
#include "classfile/printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "classfile/test_class.h"

namespace sonde::classfile {
namespace {

using testing::assemble;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestClass;

// ctest runs tests in the root of the source tree.
const std::filesystem::path kGoldens = "test/golden/classfile";

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string listing(Bytes bytes, const PrintOptions& options = {}) {
  const Result<ClassFile> cls = ClassFile::parse(bytes);
  if (!cls.ok()) return cls.error().to_string();
  std::string out;
  print(*cls, options, out);
  return out;
}

std::string listing(TestClass& cls, const PrintOptions& options = {}) {
  const std::vector<std::uint8_t> bytes = cls.bytes();
  return listing(bytes, options);
}

TEST(Printer, ListsTheGoldenClassesAsExpected) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGoldens)) {
    if (entry.path().extension() != ".class") continue;
    const std::string bytes = read(entry.path());
    EXPECT_EQ(listing(as_bytes(bytes)), read(std::filesystem::path(entry.path()).replace_extension(".expected")))
        << entry.path() << ": if the change is intended, run " << kGoldens << "/update and read the diff";
    ++count;
  }
  EXPECT_GE(count, 5);
}

TEST(Printer, PrintsInstructionsWithTheirOperands) {
  TestClass cls;
  cls.descriptor = "(IJ)V";
  assemble(cls, R"(
    loop: iinc 0 -1
          wide iinc 300 1000
          bipush -128
          sipush 32767
          newarray 10
          ldc 2.5f
          ldc2_w 7
          multianewarray [[I 2
          invokeinterface java/util/List.size()I
          iload_0
          lookupswitch out: -5=loop 9=out
    out:  return)");
  const std::string text = listing(cls, {.constant_pool = false, .code_only = true});
  EXPECT_THAT(text, HasSubstr("Code: stack=100, locals=100, args_size=3, length="));
  EXPECT_THAT(text, HasSubstr("  0: iinc              0, -1\n"));
  EXPECT_THAT(text, HasSubstr("  3: iinc_w            300, 1000\n"));
  EXPECT_THAT(text, HasSubstr(": bipush            -128\n"));
  EXPECT_THAT(text, HasSubstr(": sipush            32767\n"));
  EXPECT_THAT(text, HasSubstr(": newarray          int\n"));
  EXPECT_THAT(text, HasSubstr("// float 2.5f\n"));
  EXPECT_THAT(text, HasSubstr("// long 7l\n"));
  EXPECT_THAT(text, HasSubstr(", 2             // class [[I\n"));
  EXPECT_THAT(text, HasSubstr("// InterfaceMethod java/util/List.size()I\n"));
  EXPECT_THAT(text, HasSubstr("lookupswitch      { // 2\n"));
  EXPECT_THAT(text, HasSubstr("-5: 0\n"));
  EXPECT_THAT(text, HasSubstr("default: "));
  EXPECT_THAT(text, Not(HasSubstr("Constant pool")));
}

TEST(Printer, PrintsEveryKindOfFrame) {
  TestClass cls;
  cls.code.assign(400, 0);
  cls.code.back() = 0xb1;
  const std::uint16_t string = cls.class_ref("java/lang/String").value();
  ByteWriter w;
  w.u2(7);
  w.u1(5);                                  // same at 5
  w.u1(64 + 3), w.u1(1);                    // same_locals_1_stack_item at 9: int
  w.u1(247), w.u2(100), w.u1(8), w.u2(12);  // extended at 110: uninitialized 12
  w.u1(253), w.u2(0), w.u1(4), w.u1(5);     // append at 111: long, null
  w.u1(249), w.u2(0);                       // chop at 112
  w.u1(251), w.u2(100);                     // same_frame_extended at 213
  w.u1(255), w.u2(0), w.u2(3), w.u1(0), w.u1(6), w.u1(7), w.u2(string), w.u2(2), w.u1(2), w.u1(3);
  cls.code_attributes = {{"StackMapTable", {w.view().begin(), w.view().end()}}};
  EXPECT_THAT(listing(cls), HasSubstr(R"(
      StackMapTable: 7 frames
          5: same (5)
          9: same_locals_1_stack_item (67)
             stack = [ int ]
        110: same_locals_1_stack_item_frame_extended (247)
             stack = [ uninitialized 12 ]
        111: append (253)
             locals = [ long, null ]
        112: chop (249)
        213: same_frame_extended (251)
        214: full_frame (255)
             locals = [ top, this(uninit), class java/lang/String ]
             stack = [ float, double ]
)"));
}

TEST(Printer, SaysWhatIsMalformedAndGoesOn) {
  TestClass cls;
  assemble(cls, "return");
  cls.code_attributes = {
      {"StackMapTable", {0, 1, 200}}, {"LineNumberTable", {0, 2, 0, 0, 0, 7, 0, 0}}, {"LocalVariableTable", {0}}};
  cls.method_attributes = {{"Exceptions", {0, 1, 0, 1}}, {"RuntimeVisibleAnnotations", {0, 1, 0, 1}}};
  cls.class_attributes = {
      {"SourceFile", {0, 0}}, {"Signature", {0}}, {"InnerClasses", {0, 0, 9}}, {"Unheard", {1, 2, 3}}};
  const std::string text = listing(cls);
  EXPECT_THAT(text, HasSubstr("<malformed: frame 0: frame_type 200 is reserved (byte 3)>\n"));
  EXPECT_THAT(text, HasSubstr("        line 7: 0\n        <malformed: "));
  EXPECT_THAT(text, HasSubstr("Exceptions:\n      <malformed: #1 is Utf8>\n"));
  EXPECT_THAT(text, HasSubstr("SourceFile: <malformed: #0 is Unusable>\n"));
  EXPECT_THAT(text, HasSubstr("Signature: <malformed: "));
  EXPECT_THAT(text, HasSubstr("InnerClasses: <malformed: 1 bytes follow its content (byte 2)>\n"));
  EXPECT_THAT(text, HasSubstr("Unheard: 3 bytes\n"));
}

TEST(Printer, CodeThatDoesNotParseIsOneLine) {
  TestClass cls;
  cls.code = {0xcb};
  EXPECT_THAT(listing(cls),
              HasSubstr("    Code: <malformed: method `Test.f()V`, Code, pc 0: unknown opcode 203 (byte "));
}

TEST(Printer, EveryPrefixAndEveryFlippedByteOfAClassIsPrintedOrRefused) {
  const std::string original = read(kGoldens / "Tour.class");
  ASSERT_FALSE(original.empty());
  for (std::size_t size = 0; size < original.size(); size += 7) (void)listing(as_bytes(original).first(size));
  for (std::size_t at = 8; at < original.size(); ++at) {
    std::string damaged = original;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    (void)listing(as_bytes(damaged));
  }
}

}  // namespace
}  // namespace sonde::classfile
