// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/unwinder.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "arena/reader.h"
#include "arena/writer.h"
#include "base/clock.h"

namespace sonde::agent::native {

// A stack of known functions, the innermost of which copies it as the handler would.
struct Capture {
  alignas(16) std::uint8_t memory[sizeof(RawSample) + sizeof(NativeStack) + kMaxNativeBytes];
  RawSample& sample() { return *reinterpret_cast<RawSample*>(memory); }
};
__attribute__((noinline)) int innermost(Capture& capture) {
  ucontext_t context;
  getcontext(&context);
  const auto reg = [&](int number) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]); };
  RawSample& sample = capture.sample();
  sample = {};
  sample.time_ns = monotonic_ns();
  auto* native = reinterpret_cast<NativeStack*>(sample.frames());
  *native = {.pc = reg(REG_RIP), .sp = reg(REG_RSP), .fp = reg(REG_RBP)};
  std::memcpy(native->bytes(), reinterpret_cast<const void*>(native->sp), 4096);
  sample.native_size = sizeof(NativeStack) + 4096;
  return 1;
}
__attribute__((noinline)) int middle(Capture& capture) { return innermost(capture) + 1; }
__attribute__((noinline)) int outermost(Capture& capture) { return middle(capture) + 1; }

namespace {

class UnwinderTest : public testing::Test {
 protected:
  UnwinderTest() : path_(std::filesystem::temp_directory_path() / ("unwinder_test-" + std::to_string(getpid()))) {
    std::filesystem::remove(path_);
    EXPECT_TRUE(arena_.create(path_.c_str(), {.capacity = 4 << 20, .address_bias = 0, .flags = 0}).ok());
  }
  ~UnwinderTest() override { std::filesystem::remove(path_); }

  // "+0x1234" of a function in this program.
  static std::string place(int (*function)(Capture&)) {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(function), &info);
    char text[32];
    std::snprintf(text, sizeof text, "+0x%lx",
                  reinterpret_cast<unsigned long>(function) - reinterpret_cast<unsigned long>(info.dli_fbase));
    return text;
  }

  std::string name_of(const StackFrame& frame) {
    const auto reader = arena::Reader::open(path_);
    EXPECT_TRUE(reader.ok());
    const arena::MethodEntry* method = reader->find_method(frame.method_id);
    return method == nullptr ? "" : std::string(method->name);
  }

  std::filesystem::path path_;
  arena::Writer arena_;
  SampledMethods methods_{arena_};
  Unwinder unwinder_{methods_, [](std::uint64_t pc) { return pc == 0x7777; }};
  Capture capture_{};
  std::vector<StackFrame> frames_;
};

TEST_F(UnwinderTest, FindsCallersByCallFrameInformation) {
  ASSERT_EQ(outermost(capture_), 3);
  ASSERT_GE(unwinder_.unwind(capture_.sample(), frames_), 3U);
  EXPECT_TRUE(name_of(frames_[0]).ends_with(place(innermost))) << name_of(frames_[0]);
  EXPECT_TRUE(name_of(frames_[1]).ends_with(place(middle))) << name_of(frames_[1]);
  EXPECT_TRUE(name_of(frames_[2]).ends_with(place(outermost))) << name_of(frames_[2]);
}

TEST_F(UnwinderTest, EndsWhereTheCopyEnds) {
  ASSERT_EQ(outermost(capture_), 3);
  capture_.sample().native_size = sizeof(NativeStack);
  EXPECT_EQ(unwinder_.unwind(capture_.sample(), frames_), 1U);
  capture_.sample().native_size = 0;
  EXPECT_EQ(unwinder_.unwind(capture_.sample(), frames_), 0U);
}

TEST_F(UnwinderTest, GarbageLeadsNowhere) {
  ASSERT_EQ(outermost(capture_), 3);
  auto* native = reinterpret_cast<NativeStack*>(capture_.sample().frames());
  std::memset(native->bytes(), 0x5a, 4096);
  EXPECT_EQ(unwinder_.unwind(capture_.sample(), frames_), 1U);
  native->pc = 0x7777;
  EXPECT_EQ(unwinder_.unwind(capture_.sample(), frames_), 0U);
  native->pc = 0x10;
  EXPECT_EQ(unwinder_.unwind(capture_.sample(), frames_), 0U);
}

TEST_F(UnwinderTest, KnowsTheStackAnAddressLiesIn) {
  const int local = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&local);
  const StackBounds bounds = unwinder_.bounds_of(address);
  EXPECT_LE(bounds.low, address);
  EXPECT_GT(bounds.high, address);
  EXPECT_EQ(unwinder_.bounds_of(16).high, 0U);
}

}  // namespace
}  // namespace sonde::agent::native
