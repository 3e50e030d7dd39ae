// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_symbols.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "symbols/library_symbols.h"

namespace sonde::symbols {

// A function with a name of its own, in this very program.
__attribute__((noinline)) int burn_something(int x) { return x * 31 + 7; }

namespace {

std::uint64_t own_offset() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&burn_something), &info);
  return reinterpret_cast<std::uint64_t>(&burn_something) - reinterpret_cast<std::uint64_t>(info.dli_fbase);
}

std::string own_file() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ElfSymbols, NamesTheFunctionAnAddressLiesIn) {
  const std::string file = own_file();
  const auto symbols = ElfSymbols::parse(as_bytes(file));
  ASSERT_TRUE(symbols.ok());
  EXPECT_EQ(symbols->name_of(own_offset()), "sonde::symbols::burn_something");
  EXPECT_EQ(symbols->name_of(own_offset() + 1), "sonde::symbols::burn_something");
  EXPECT_EQ(symbols->name_of(1), "");
}

TEST(ElfSymbols, CutFilesAreErrorsOrHaveFewerNames) {
  const std::string file = own_file();
  EXPECT_FALSE(ElfSymbols::parse(as_bytes(std::string_view(file).substr(0, 40))).ok());
  EXPECT_FALSE(
      ElfSymbols::parse(as_bytes("no ELF file at all, but long enough to have a header of sixty-four bytes")).ok());
  EXPECT_FALSE(ElfSymbols::parse(as_bytes(std::string_view(file).substr(0, file.size() / 2))).ok());
}

TEST(ElfSymbols, ReadableNamesHaveNoParameters) {
  EXPECT_EQ(readable("_ZN9JavaCalls4callEP9JavaValueRK12methodHandleP17JavaCallArgumentsP10JavaThread"),
            "JavaCalls::call");
  EXPECT_EQ(readable("memcpy"), "memcpy");
  EXPECT_EQ(readable("_ZNK3FooclEi"), "Foo::operator()");
}

TEST(LibrarySymbols, TellTheOffsetWhereThereIsNoName) {
  LibrarySymbols symbols;
  EXPECT_EQ(symbols.name_of("/no/such/libthing.so", 0x1a2b), "libthing.so+0x1a2b");
  EXPECT_EQ(symbols.name_of("[vdso]", 0x10), "[vdso]+0x10");
  EXPECT_THAT(symbols.name_of("/proc/self/exe", own_offset()), testing::EndsWith(": sonde::symbols::burn_something"));
}

}  // namespace
}  // namespace sonde::symbols
