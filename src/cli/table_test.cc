// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <gtest/gtest.h>

namespace sonde::cli {
namespace {

TEST(Shortened, AbbreviatesPackagesBeforeItCuts) {
  const std::string name = "com.acme.shop.Cart.total(int)";
  EXPECT_EQ(shortened(name, 29), name);
  EXPECT_EQ(shortened(name, 28), "c.acme.shop.Cart.total(int)");
  EXPECT_EQ(shortened(name, 24), "c.a.shop.Cart.total(int)");
  EXPECT_EQ(shortened(name, 21), "c.a.s.Cart.total(int)");
  EXPECT_EQ(shortened(name, 12), "c.a.s.Cart.…");
  EXPECT_EQ(shortened("    " + name, 28), "    c.a.shop.Cart.total(int)") << "the indentation of trees stays";
  EXPECT_EQ(shortened("thread worker-1 (and 2 more)", 12), "thread work…");
  EXPECT_EQ(shortened("naïve.Größe.über", 12), "n.Größe.über");
  EXPECT_EQ(shortened("Größenänderung", 5), "Größ…");
}

TEST(Table, AlignsByCharactersAndKeepsControlCharactersOut) {
  Table table({"n", "name"});
  table.add({"1", "a\x1b[31mb"});
  table.add({"10 ü", "c"});
  EXPECT_EQ(table.text({.out = nullptr, .err = nullptr}), "   n  name\n   1  a?[31mb\n10 ü  c\n");
}

TEST(Table, IsCutOnlyWhereNamesStayReadable) {
  Table table({"n", "name"});
  table.add({"1", "com.acme.Application.start"});
  EXPECT_EQ(table.text({.out = nullptr, .err = nullptr, .width = 26}), "n  name\n1  c.a.Application.start\n");
  EXPECT_EQ(table.text({.out = nullptr, .err = nullptr, .width = 22}), "n  name\n1  com.acme.Application.start\n");
}

TEST(Percent, OfNothingIsADash) {
  EXPECT_EQ(percent(1, 0).text, "-");
  EXPECT_EQ(percent(1, 8).text, "12.5 %");
  EXPECT_EQ(percent(1, 8).ink, Ink::kRed);
}

}  // namespace
}  // namespace sonde::cli
