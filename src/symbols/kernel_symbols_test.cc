// SPDX-License-Identifier: Apache-2.0
#include "symbols/kernel_symbols.h"

#include <gtest/gtest.h>

#include "base/running_kernel.h"
#include "symbols/library_symbols.h"

namespace sonde::symbols {
namespace {

constexpr const char* kText =
    "ffffffff81000000 T _stext\n"
    "ffffffff81001000 t do_one\n"
    "ffffffff81003000 D some_data\n"
    "ffffffff81002000 W do_two\n"
    "ffffffffc0000000 t xfs_read\t[xfs]\n";

TEST(KernelSymbols, NameTheFunctionThatBeginsLastBeforeAnAddress) {
  const auto symbols = KernelSymbols::parse(kText);
  EXPECT_EQ(symbols.size(), 4U);
  EXPECT_EQ(symbols.name_of(0xffffffff81000fff), "_stext");
  EXPECT_EQ(symbols.name_of(0xffffffff81001000), "do_one");
  EXPECT_EQ(symbols.name_of(0xffffffff81003456), "do_two") << "data is no function";
  EXPECT_EQ(symbols.name_of(0xffffffffc0000001), "xfs_read") << "without its module";
  EXPECT_EQ(symbols.name_of(0x1000), "");
}

TEST(KernelSymbols, HiddenAddressesHaveNoNames) {
  EXPECT_EQ(KernelSymbols::parse("0000000000000000 T _stext\n0000000000000000 t do_one\n").size(), 0U);
}

TEST(KernelSymbols, OtherTextIsNoFunction) {
  EXPECT_EQ(KernelSymbols::parse("").size(), 0U);
  EXPECT_EQ(KernelSymbols::parse("ffffffff81000000").size(), 0U);
  EXPECT_EQ(KernelSymbols::parse("ffffffff81000000 T").size(), 0U);
  EXPECT_EQ(KernelSymbols::parse("no address T at_all\n\n\n").size(), 0U);
}

// Addresses of a kernel that ran earlier, or on another machine, mean nothing to this one.
TEST(LibrarySymbols, AnotherKernelHasNoNames) {
  EXPECT_EQ(LibrarySymbols().name_of("[kernel of-another-day]", 0xffffffff81000000), "kernel+0xffffffff81000000");
}

TEST(LibrarySymbols, TheRunningKernelHasNoFunctionAtZero) {
  EXPECT_EQ(LibrarySymbols().name_of(running_kernel(), 0), "kernel+0x0");
}

}  // namespace
}  // namespace sonde::symbols
