// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/trapped_stores_x64.h"

#include <cpuid.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "agent/vm/native/store_length_x64.h"
#include "base/signal_safe.h"

namespace sonde::agent {
namespace {

// What the handler leaves for sonde_trap_entry lies so far below the stack pointer: in between the kernel has put all
// registers, which it reads when the handler returns, and the handler has its own frame. A Java thread has 80 KiB
// there.
constexpr std::uint64_t kGap = 16 << 10;

// What the handler reads; written before it is installed.
struct Traps {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  void (*on_store)(const TrappedStore&) = nullptr;
  struct sigaction before {};
};
constinit Traps g_traps;

}  // namespace

extern "C" {

// As sonde_trap_entry leaves it on the stack.
struct TrapFrame {
  std::uint64_t registers[15];
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t pc;
};

__attribute__((visibility("hidden"), used)) void sonde_trap_taken(const TrapFrame* frame) {
  const auto sp = reinterpret_cast<std::uint64_t>(frame + 1) + kGap;
  g_traps.on_store({.address = frame->address, .pc = frame->pc, .sp = sp});
}

__attribute__((visibility("hidden"))) void sonde_trap_entry();
}

// The stack has the address of the store and the return address, below the gap. All registers are kept: general
// ones and flags by pushing them, all others by xsave (x87, SSE, AVX and AVX-512: 0xe7; its header must be zero).
asm(R"(
  .text
  .p2align 4
  .hidden sonde_trap_entry
  .globl sonde_trap_entry
  .type sonde_trap_entry, @function
sonde_trap_entry:
  pushfq
  push %r15
  push %r14
  push %r13
  push %r12
  push %r11
  push %r10
  push %r9
  push %r8
  push %rdi
  push %rsi
  push %rbp
  push %rdx
  push %rcx
  push %rbx
  push %rax
  mov %rsp, %rbx
  sub $2752, %rsp
  and $-64, %rsp
  cld
  xor %eax, %eax
  mov %rax, 512(%rsp)
  mov %rax, 520(%rsp)
  mov %rax, 528(%rsp)
  mov %rax, 536(%rsp)
  mov %rax, 544(%rsp)
  mov %rax, 552(%rsp)
  mov %rax, 560(%rsp)
  mov %rax, 568(%rsp)
  xor %edx, %edx
  mov $0xe7, %eax
  xsave64 (%rsp)
  mov %rbx, %rdi
  call sonde_trap_taken
  xor %edx, %edx
  mov $0xe7, %eax
  xrstor64 (%rsp)
  mov %rbx, %rsp
  pop %rax
  pop %rbx
  pop %rcx
  pop %rdx
  pop %rbp
  pop %rsi
  pop %rdi
  pop %r8
  pop %r9
  pop %r10
  pop %r11
  pop %r12
  pop %r13
  pop %r14
  pop %r15
  popfq
  lea 8(%rsp), %rsp
  ret $16384
  .size sonde_trap_entry, . - sonde_trap_entry
)");

namespace {

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = g_traps.before;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // Nobody wanted it: without a handler the instruction, done again, ends the process as it would have without us.
  sigaction(signal, &before, nullptr);
}

// Context: [signal], of an instruction that a thread has just tried.
void on_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
  const bool is_ours = address >= g_traps.begin && address < g_traps.end;
  const std::size_t length =
      is_ours ? store_length(reinterpret_cast<const std::uint8_t*>(pc)) : 0;  // NOLINT(performance-no-int-to-ptr)
  if (length == 0) return pass_on(signal, info, context);
  const std::uint64_t sp = static_cast<std::uint64_t>(registers[REG_RSP]) - kGap - 16;
  auto* words = reinterpret_cast<std::uint64_t*>(sp);  // NOLINT(performance-no-int-to-ptr)
  words[0] = address;
  words[1] = pc + length;
  registers[REG_RSP] = static_cast<greg_t>(sp);
  registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uint64_t>(&sonde_trap_entry));
}

bool can_save_registers() {
  constexpr unsigned kOsXsave = 1U << 27U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kOsXsave) != 0;
}

}  // namespace

Result<std::uint64_t> trap_stores(std::uint64_t size, void (*on_store)(const TrappedStore&)) {
  if (!can_save_registers()) return Error{ErrorCode::kUnsupported, "this processor cannot save all its registers"};
  void* range = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return Error{ErrorCode::kIo, "there are no addresses for stores that are noticed"};
  g_traps.begin = reinterpret_cast<std::uint64_t>(range);
  g_traps.end = g_traps.begin + size;
  g_traps.on_store = on_store;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&action.sa_mask, fault);
  if (sigaction(SIGSEGV, nullptr, &g_traps.before) != 0 || sigaction(SIGSEGV, &action, nullptr) != 0) {
    return Error{ErrorCode::kIo, "SIGSEGV cannot be handled"};
  }
  return g_traps.begin;
}

}  // namespace sonde::agent
