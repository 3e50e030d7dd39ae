// SPDX-License-Identifier: Apache-2.0
#include "classfile/attribute_layout.h"

#include <gtest/gtest.h>

#include "classfile/access_flags.h"
#include "classfile/name_rules.h"
#include "classfile/test_class.h"

namespace sonde::classfile {
namespace {

// Writes down what it is shown: "U1 (label) [row0: #2 ]".
class Recorder final : public LayoutVisitor {
 public:
  void item(const LayoutItem& item) override {
    text += item.kind + std::to_string(item.value) + (item.label.empty() ? "" : "=" + std::string(item.label)) + " ";
  }
  void begin_list(std::string_view label, std::uint16_t count) override {
    text += std::string(label) + "x" + std::to_string(count) + "[";
  }
  void begin_row(std::uint16_t number) override { text += std::to_string(number) + ":"; }
  void end_list() override { text += "] "; }

  std::string text;
};

std::string walk(std::string_view layout, std::vector<std::uint8_t> content) {
  testing::TestClass cls;
  cls.code = {0xb1};
  const std::vector<std::uint8_t> bytes = cls.bytes();
  const ClassFile parsed = ClassFile::parse(bytes).value();
  Recorder recorder;
  const auto result =
      walk_layout(layout, {.name_index = {}, .name = "X", .content = content, .offset = 0}, parsed.pool(), recorder);
  return recorder.text + (result.ok() ? "" : "! " + result.error().to_string());
}

TEST(AttributeLayout, VisitsItemsListsAndNestedLists) {
  EXPECT_EQ(walk("U", {0, 1}), "U1 ");
  EXPECT_EQ(walk("C N?:method", {0, 1, 0, 0}), "C1 N0=method ");
  EXPECT_EQ(walk("*(p #:line)", {0, 2, 0, 1, 0, 10, 0, 2, 0, 20}), "x2[0:p1 #10=line 1:p2 #20=line ] ");
  EXPECT_EQ(walk("+(U?:name a:flags)", {1, 0, 3, 0, 4}), "x1[0:U3=name a4=flags ] ");
  EXPECT_EQ(walk("*(H *arguments(L)) U", {0, 2, 0, 7, 0, 2, 0, 8, 0, 9, 0, 7, 0, 0, 0, 5}),
            "x2[0:H7 argumentsx2[0:L8 1:L9 ] 1:H7 argumentsx0[] ] U5 ");
}

TEST(AttributeLayout, ContentMustBeAsLongAsItsLayoutSays) {
  EXPECT_EQ(walk("", {}), "");
  EXPECT_EQ(walk("U", {0, 1, 2}), "U1 ! 1 bytes follow its content (byte 2)");
  EXPECT_NE(walk("U", {0}).find('!'), std::string::npos);
  EXPECT_NE(walk("*(C)", {0xff, 0xff, 0, 1}).find('!'), std::string::npos);
}

TEST(AttributeLayout, AttributesHaveAMeaningOnlyWhereTheSpecificationSaysSo) {
  EXPECT_TRUE(layout_of("Signature", AttributeOwner::kRecordComponent));
  EXPECT_TRUE(layout_of("ConstantValue", AttributeOwner::kField));
  EXPECT_FALSE(layout_of("ConstantValue", AttributeOwner::kClass));
  EXPECT_FALSE(layout_of("NoSuchThing", AttributeOwner::kClass));
}

TEST(AccessFlags, DependOnWhatTheyAreOf) {
  EXPECT_EQ(flag_words(0x0021, FlagsOf::kClass), "public super");
  EXPECT_EQ(flag_words(0x0021, FlagsOf::kMethod), "public synchronized");
  EXPECT_EQ(flag_words(0x00c0, FlagsOf::kField), "volatile transient");
  EXPECT_EQ(flag_words(0x00c0, FlagsOf::kMethod), "bridge varargs");
  EXPECT_EQ(flag_words(0x8010, FlagsOf::kParameter), "final mandated");
  EXPECT_EQ(flag_words(0x0000, FlagsOf::kField), "");
  EXPECT_EQ(flag_words(0x0302, FlagsOf::kField), "private 0x0100 0x0200") << "bits without a meaning are not hidden";
}

TEST(NameRules, FollowTheSpecification) {
  EXPECT_TRUE(is_class_name("a/b/C$1"));
  EXPECT_TRUE(is_class_name("a/b/-<>!"));
  EXPECT_FALSE(is_class_name(""));
  EXPECT_FALSE(is_class_name("/a"));
  EXPECT_FALSE(is_class_name("a/"));
  EXPECT_FALSE(is_class_name("a;b"));
  EXPECT_TRUE(is_class_or_array("[[I"));
  EXPECT_FALSE(is_class_or_array("["));
  EXPECT_TRUE(is_unqualified_name("<x>"));
  EXPECT_FALSE(is_unqualified_name("a/b"));
  EXPECT_TRUE(is_method_name("<init>"));
  EXPECT_FALSE(is_method_name("<x>"));
  EXPECT_TRUE(is_type_descriptor("[Ljava/lang/Object;"));
  EXPECT_FALSE(is_type_descriptor("L[;"));
  EXPECT_FALSE(is_type_descriptor("II"));
  EXPECT_TRUE(is_method_descriptor("(I[JLa/B;)[[Z"));
  EXPECT_FALSE(is_method_descriptor("(V)V"));
  EXPECT_FALSE(is_method_descriptor("()"));
}

}  // namespace
}  // namespace sonde::classfile
