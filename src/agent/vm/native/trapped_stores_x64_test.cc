// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/trapped_stores_x64.h"

#include <gtest/gtest.h>

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sonde::agent {
namespace {

std::mutex g_mutex;
std::vector<std::uint64_t> g_addresses;

// Uses as many registers as it can, takes a lock and memory.
void note(const TrappedStore& store) {
  const std::lock_guard lock(g_mutex);
  g_addresses.push_back(store.address);
  const std::string text(100, 'x');
  volatile double sum = 0;
  for (const char c : text) sum = sum + static_cast<double>(c);
}

// The compiler knows as little of what it leads to as that of Java does, but nothing is left in registers here.
void store(std::uint64_t address) { asm volatile("movl $1, (%0)" : : "r"(address) : "memory"); }

std::uint64_t range() {
  static const std::uint64_t begin = trap_stores(1 << 20, note).value();
  return begin;
}

TEST(TrappedStores, GoToTheFunctionAndOn) {
  const std::uint64_t begin = range();
  g_addresses.clear();
  for (int i = 0; i < 1000; ++i) {
    store(begin + static_cast<std::uint64_t>(i) * 8);
  }
  ASSERT_EQ(g_addresses.size(), 1000u);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(g_addresses[i], begin + i * 8);
}

TEST(TrappedStores, ChangeNoRegisterAndNotTheRedZone) {
  const std::uint64_t begin = range();
  std::uint64_t changed = 0;
  std::uint64_t carry = 0;
  asm volatile(
      R"(
      mov $0x1111, %%rbx
      mov $0x2222, %%rcx
      mov $0x3333, %%rdx
      mov $0x4444, %%rsi
      mov $0x5555, %%r8
      mov $0x6666, %%r15
      movq %%rbx, %%xmm3
      movq %%r15, %%xmm15
      mov %%r8, -120(%%rsp)
      stc
      movl %%ecx, 16(%%rax)
      setc %%cl
      movzbl %%cl, %%r9d
      mov -120(%%rsp), %%r10
      xor %%r8, %%r10
      movq %%xmm3, %%r11
      xor %%rbx, %%r11
      or %%r11, %%r10
      movq %%xmm15, %%r11
      xor %%r15, %%r11
      or %%r11, %%r10
      xor $0x1111, %%rbx
      xor $0x3333, %%rdx
      xor $0x4444, %%rsi
      xor $0x5555, %%r8
      xor $0x6666, %%r15
      or %%rbx, %%r10
      or %%rdx, %%r10
      or %%rsi, %%r10
      or %%r8, %%r10
      or %%r15, %%r10
      mov %%r10, %0
      mov %%r9, %1
      )"
      : "=m"(changed), "=m"(carry)
      : "a"(begin)
      : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r15", "xmm3", "xmm15", "memory", "cc");
  EXPECT_EQ(changed, 0u);
  EXPECT_EQ(carry, 1u);
}

__attribute__((target("avx"))) bool wide_registers_survive(std::uint64_t begin) {
  const std::int32_t wanted[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::int32_t found[8] = {};
  asm volatile("vmovdqu %1, %%ymm7\n movl $1, 8(%2)\n vmovdqu %%ymm7, %0"
               : "=m"(found)
               : "m"(wanted), "r"(begin)
               : "ymm7", "memory");
  return std::memcmp(found, wanted, sizeof found) == 0;
}

TEST(TrappedStores, KeepWideRegisters) {
  if (!__builtin_cpu_supports("avx")) GTEST_SKIP() << "this processor has none";
  EXPECT_TRUE(wide_registers_survive(range()));
}

// The last ones that the kernel and we save: whoever writes over the end of what the kernel saved loses them.
__attribute__((target("avx512f,avx512vl"))) bool widest_registers_survive(std::uint64_t begin) {
  const std::uint64_t wanted = 0x1234567;
  std::uint64_t found = 0;
  std::uint64_t mask = 0;
  asm volatile(
      "vmovq %2, %%xmm24\n vpbroadcastq %%xmm24, %%zmm31\n kmovw %k2, %%k3\n movl $1, 8(%3)\n"
      "vextracti64x4 $1, %%zmm31, %%ymm31\n vpandq %%ymm31, %%ymm24, %%ymm24\n vmovq %%xmm24, %0\n kmovw %%k3, %k1"
      : "=&r"(found), "=&r"(mask)
      : "r"(wanted), "r"(begin)
      : "xmm24", "xmm31", "k3", "memory");
  return found == wanted && mask == (wanted & 0xffffU);
}

TEST(TrappedStores, KeepTheWidestRegisters) {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl")) GTEST_SKIP() << "there are none";
  EXPECT_TRUE(widest_registers_survive(range()));
}

TEST(TrappedStores, AreToldApartByThread) {
  const std::uint64_t begin = range();
  g_addresses.clear();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 8; ++t) {
    threads.emplace_back([begin, t] {
      for (int i = 0; i < 500; ++i) store(begin + t * 8);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> counts(8);
  for (const std::uint64_t address : g_addresses) ++counts[(address - begin) / 8];
  EXPECT_EQ(counts, std::vector<int>(8, 500));
}

sigjmp_buf g_back;

TEST(TrappedStores, FaultsElsewhereGoToWhoeverHandledThem) {
  EXPECT_EXIT(
      {
        struct sigaction action {};
        action.sa_handler = [](int) { siglongjmp(g_back, 1); };
        sigaction(SIGSEGV, &action, nullptr);
        if (trap_stores(4096, note).ok() && sigsetjmp(g_back, 1) == 0) {
          store(16);
        } else {
          std::exit(7);
        }
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sonde::agent
