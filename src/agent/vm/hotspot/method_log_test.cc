// SPDX-License-Identifier: Apache-2.0
// Methods as HotSpot lays them out, made by hand.
#include "agent/vm/hotspot/method_log.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string>

namespace sonde::agent::hotspot {
namespace {

constexpr std::size_t kPage = 4096;

Layout layout() {
  Layout l{};
  l.method_const = 8;
  l.method_access_flags = 16;
  l.const_pool = 8;
  l.const_code_size = 16;
  l.const_name = 18;
  l.const_signature = 20;
  l.const_size = 24;
  l.pool_holder = 8;
  l.pool_source_file = 16;
  l.pool_length = 20;
  l.pool_size = 24;
  l.klass_name = 8;
  l.symbol_length = 0;
  l.symbol_body = 2;
  return l;
}

// A page with one method: Method at 0, ConstMethod at 64 with 16 bytes of code, pool at 256, class at 512, symbols
// behind.
class Page {
 public:
  Page() {
    bytes_ =
        static_cast<std::uint8_t*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    put<std::uint64_t>(8, address(64));
    put<std::uint16_t>(16, 9);  // public static
    put<std::uint64_t>(64 + 8, address(256));
    put<std::uint16_t>(64 + 16, 16);
    put<std::uint16_t>(64 + 18, 1);
    put<std::uint16_t>(64 + 20, 2);
    put<std::uint64_t>(256 + 8, address(512));
    put<std::uint16_t>(256 + 16, 3);
    put<std::int32_t>(256 + 20, 4);
    for (std::uint64_t i = 1; i < 4; ++i) put<std::uint64_t>(256 + 24 + i * 8, address(512 + 64 * i));
    put<std::uint64_t>(512 + 8, address(768));
    symbol(512 + 64, "work");
    symbol(512 + 128, "(J)J");
    symbol(512 + 192, "Worker.java");
    symbol(768, "app/Worker");
  }
  ~Page() { unmap(); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  [[nodiscard]] std::uint64_t address(std::uint64_t offset) const {
    return reinterpret_cast<std::uint64_t>(bytes_) + offset;
  }
  [[nodiscard]] std::uint64_t code() const { return address(64 + 24); }
  template <typename T>
  void put(std::uint64_t offset, T value) {
    std::memcpy(bytes_ + offset, &value, sizeof value);
  }
  void symbol(std::uint64_t offset, const std::string& text) {
    put(offset, static_cast<std::uint16_t>(text.size()));
    std::memcpy(bytes_ + offset + 2, text.data(), text.size());
  }
  void unmap() {
    if (bytes_ != nullptr) munmap(bytes_, kPage);
    bytes_ = nullptr;
  }

 private:
  std::uint8_t* bytes_;
};

class MethodLogTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(log_->start(layout())); }
  std::string name_at(std::uint64_t place) {
    const auto method = log_->at(place);
    return method ? std::string(method->class_name) + "." + std::string(method->name) + std::string(method->descriptor)
                  : "";
  }
  std::unique_ptr<MethodLog> log_ = std::make_unique<MethodLog>();
};

TEST_F(MethodLogTest, NotesAMethodOnce) {
  const Page page;
  const std::uint64_t place = log_->place_of(page.address(0), page.code() + 3);
  ASSERT_NE(place, 0U);
  EXPECT_EQ(name_at(place), "app/Worker.work(J)J");
  EXPECT_EQ(log_->at(place)->source_file, "Worker.java");
  EXPECT_EQ(log_->at(place)->access_flags, 9);
  EXPECT_EQ(log_->at(place)->code, page.code());
  EXPECT_EQ(log_->place_of(page.address(0), page.code() + 5), place);
  log_->doubt();
  EXPECT_EQ(log_->place_of(page.address(0), page.code() + 5), place);
  EXPECT_EQ(log_->place_of(page.address(0), page.code() + 5), place);
}

// What a redefinition does: the old version is freed, and another method comes to lie at its address.
TEST_F(MethodLogTest, AnAddressThatIsUsedAgainIsAnotherMethod) {
  Page page;
  const std::uint64_t work = log_->place_of(page.address(0), page.code());
  page.symbol(1024, "twice");
  page.put<std::uint64_t>(256 + 24 + 8, page.address(1024));
  const std::uint64_t twice = log_->place_of(page.address(0), page.code());
  EXPECT_EQ(name_at(twice), "app/Worker.twice(J)J");
  page.put<std::uint16_t>(64 + 18, 3);
  EXPECT_EQ(name_at(log_->place_of(page.address(0), page.code())), "app/Worker.Worker.java(J)J");
  page.put<std::uint16_t>(64 + 18, 1);
  page.symbol(1280, "app/Other");
  page.put<std::uint64_t>(512 + 8, page.address(1280));
  log_->doubt();
  EXPECT_EQ(name_at(log_->place_of(page.address(0), page.code())), "app/Other.twice(J)J");
  EXPECT_EQ(name_at(work), "app/Worker.work(J)J");
}

TEST_F(MethodLogTest, WhatIsNoMethodHasNoPlace) {
  Page page;
  EXPECT_EQ(log_->place_of(0, 0), 0U);
  EXPECT_EQ(log_->place_of(0x15, 0), 0U);
  EXPECT_EQ(log_->place_of(page.address(4), 0), 0U);
  EXPECT_EQ(log_->place_of(page.address(0), page.code() + 16), 0U);  // the bytecode pointer is another method's
  EXPECT_EQ(log_->place_of(page.address(2048), 0), 0U);
  page.put<std::uint64_t>(64 + 8, 0x100000000000);
  EXPECT_EQ(log_->place_of(page.address(0), page.code()), 0U);
}

TEST_F(MethodLogTest, MemoryThatIsGoneAfterACollectionIsNotTouched) {
  Page page;
  const std::uint64_t method = page.address(0);
  const std::uint64_t place = log_->place_of(method, page.code());
  log_->doubt();
  page.unmap();
  EXPECT_EQ(log_->place_of(method, 0), 0U);
  EXPECT_EQ(name_at(place), "app/Worker.work(J)J");
}

TEST_F(MethodLogTest, KnowsTheMethodOfCompiledCodeThatIsGone) {
  Page page;
  log_->note_compilation(7, page.address(0));
  log_->note_compilation(8, 0);
  log_->note_compilation(8, page.address(0));
  page.unmap();
  EXPECT_EQ(name_at(log_->place_of_compilation(7)), "app/Worker.work(J)J");
  log_->note_compilation(7, 0);
  EXPECT_EQ(name_at(log_->place_of_compilation(7)), "app/Worker.work(J)J") << "known, so it is not looked at again";
  EXPECT_EQ(log_->place_of_compilation(8), 0U) << "it had no method, and is not asked again";
  EXPECT_EQ(log_->place_of_compilation(7 + (1U << 20)), 0U) << "another compilation that shares its slot";
  ASSERT_TRUE(log_->start(layout()));
  EXPECT_EQ(log_->place_of_compilation(7), 0U) << "of the recording before";
}

TEST_F(MethodLogTest, NotesNothingMoreWhenItIsFull) {
  Page page;
  page.symbol(1024, std::string(2000, 'a'));
  int noted = 0;
  // The name moves to and fro, which makes it another method each time.
  for (std::uint64_t place = 1; place != 0 && noted < 100'000; ++noted) {
    page.put<std::uint64_t>(256 + 24 + 8, page.address(noted % 2 == 0 ? 1024 : 512 + 64));
    place = log_->place_of(page.address(0), page.code());
  }
  EXPECT_GT(noted, 10'000);
  EXPECT_LT(noted, 100'000);
}

}  // namespace
}  // namespace sonde::agent::hotspot
