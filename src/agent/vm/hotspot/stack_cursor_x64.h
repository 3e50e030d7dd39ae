// SPDX-License-Identifier: Apache-2.0
// Context: [signal]. Where a walk over a thread's stack is: program counter, stack pointer and frame pointer of one
// frame, and the ways from there to its caller. A way that leads to no code or not upwards is refused.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "agent/sampler/thread_slot.h"
#include "agent/vm/hotspot/code_cache.h"

namespace sonde::agent::hotspot {

inline constexpr std::uint64_t kWord = 8;
// A leaf function that compiled code called: how far up the return address may be.
inline constexpr int kNativeFrames = 64;
inline constexpr std::uint64_t kHandlerBytes = 16 * 1024;  // of the stack, at most, for a signal handler of the JVM
inline constexpr std::uint64_t kKernelContextBytes = 304;  // of its ucontext_t; the C library's has more
inline constexpr std::uint64_t kPollHandlerCode = 1024;    // bytes
inline constexpr std::uint64_t kMostPushed = 96;           // bytes
inline constexpr std::uint64_t kCallStubCode = 192;        // bytes, before its call and behind it
inline constexpr std::uint64_t kMostArguments = 256 * 8;   // bytes

#ifdef SONDE_FAULT_INJECTION
// One word in a hundred is another address: of nothing, of the next object, or of the middle of some code.
inline std::uint64_t injected_fault(std::uint64_t value) SIGNAL_SAFE {
  static constinit std::atomic<std::uint64_t> reads{0};
  const std::uint64_t read = reads.fetch_add(1, std::memory_order_relaxed);
  if (read % 100 != 0) return value;
  constexpr std::uint64_t kWrong[] = {0, 8, 0x100000000000, 1};
  return value + kWrong[read / 100 % 4] - (read / 100 % 4 == 0 ? value : 0);
}
#else
inline std::uint64_t injected_fault(std::uint64_t value) SIGNAL_SAFE { return value; }
#endif

class StackCursor {
 public:
  StackCursor(const CodeCache& cache, const ThreadSlot& slot, const ucontext_t& context) SIGNAL_SAFE
      : cache_(cache),
        layout_(cache.layout()),
        slot_(slot),
        registers_(context.uc_mcontext.gregs),
        signal_return_(load<std::uint64_t>(reinterpret_cast<std::uint64_t>(&context) - kWord)),
        is_in_signal_handler_(sigismember(&context.uc_sigmask, SIGVTALRM) == 1),
        pc_(reg(REG_RIP)),
        sp_(reg(REG_RSP)),
        fp_(reg(REG_RBP)) {}

 protected:
  [[nodiscard]] std::uint64_t reg(int number) const SIGNAL_SAFE {
    return static_cast<std::uint64_t>(registers_[number]);
  }
  [[nodiscard]] bool is_on_stack(std::uint64_t address, std::uint64_t bytes = kWord) const SIGNAL_SAFE {
    return address >= reg(REG_RSP) && address % kWord == 0 && address < slot_.stack_high &&
           slot_.stack_high - address >= bytes;
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t address) const SIGNAL_SAFE {
    return is_on_stack(address) ? injected_fault(load<std::uint64_t>(address)) : 0;
  }
  [[nodiscard]] std::uint64_t thread_anchor() const SIGNAL_SAFE { return slot_.java_thread + layout_.thread_anchor; }
  [[nodiscard]] std::uint64_t anchor_sp(std::uint64_t anchor) const SIGNAL_SAFE {
    return load<std::uint64_t>(anchor + layout_.anchor_sp);
  }
  [[nodiscard]] bool is_in_java() const SIGNAL_SAFE {
    return load<std::uint32_t>(slot_.java_thread + layout_.thread_state) == kThreadInJava;
  }

  // Callers lie above their callees, so the walk comes to an end.
  bool go_to(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp) SIGNAL_SAFE {
    if (!cache_.contains(pc) || sp <= sp_ || !is_on_stack(sp)) return false;
    pc_ = pc;
    sp_ = sp;
    fp_ = fp;
    return true;
  }

  // The thread left Java in good order: JavaFrameAnchor says where.
  bool go_to_anchor(std::uint64_t anchor) SIGNAL_SAFE {
    const std::uint64_t sp = anchor_sp(anchor);
    if (!is_on_stack(sp)) return false;
    std::uint64_t pc = load<std::uint64_t>(anchor + layout_.anchor_pc);
    if (pc == 0) pc = word(sp - kWord);
    return go_to(pc, sp, load<std::uint64_t>(anchor + layout_.anchor_fp));
  }
  bool return_at(std::uint64_t at, std::uint64_t fp) SIGNAL_SAFE { return go_to(word(at), at + kWord, fp); }

  // ---- from functions outside of the code cache ----

  // Java code may be in a signal handler of the JVM: a null pointer, a stack that is full, a page that stops it. Such
  // handlers block everything but faults.
  [[nodiscard]] bool is_in_signal_handler() const SIGNAL_SAFE { return is_in_signal_handler_; }
  // The kernel left what was interrupted right behind the handler's return address, which is that of all handlers. Such
  // words lie about where signals were handled before; those were ours.
  bool leave_signal_handler() SIGNAL_SAFE {
    for (std::uint64_t at = sp_; at < sp_ + kHandlerBytes && is_on_stack(at, kWord + sizeof(ucontext_t)); at += kWord) {
      if (word(at) == signal_return_ && is_fault(at + kWord) && go_to_interrupted(at + kWord)) return true;
    }
    return false;
  }
  // By the siginfo_t behind it.
  [[nodiscard]] static bool is_fault(std::uint64_t context) SIGNAL_SAFE {
    const auto number = load<std::int32_t>(context + kKernelContextBytes);
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
  }
  bool go_to_interrupted(std::uint64_t context) SIGNAL_SAFE {
    const greg_t* registers = reinterpret_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    const auto sp = static_cast<std::uint64_t>(registers[REG_RSP]);
    const auto pc = static_cast<std::uint64_t>(registers[REG_RIP]);
    if (sp <= context || !is_on_stack(sp) || !cache_.contains(pc)) return false;
    registers_ = registers;
    pc_ = pc;
    sp_ = sp;
    fp_ = reg(REG_RBP);
    return true;
  }

  // At its first instructions, or for ever if it is a small one, a function has no frame, or has just saved rbp. Then
  // rbp is that of a frame further out.
  bool leave_frameless() SIGNAL_SAFE {
    const std::uint64_t at = word(sp_) == fp_ ? sp_ + kWord : sp_;
    if (is_return_to_stub(word(at)) && !is_return_to_stub(word(fp_ + kWord))) return return_at(at, fp_);
    return is_return_address(word(at)) && has_caller(word(at), at + kWord) && return_at(at, fp_);
  }

  // The JVM's own functions keep rbp.
  bool follow_frame_pointers() SIGNAL_SAFE {
    std::uint64_t fp = fp_;
    for (int i = 0; i < kNativeFrames && is_on_stack(fp, 2 * kWord); ++i) {
      if (cache_.contains(word(fp + kWord))) return go_to(word(fp + kWord), fp + 2 * kWord, word(fp));
      if (word(fp) <= fp) return false;
      fp = word(fp);
    }
    return false;
  }

  // A function or stub that keeps no frame, called right from Java code, as memcpy: the first word on the stack that
  // points behind a call instruction of compiled or interpreted code.
  bool find_return_address() SIGNAL_SAFE {
    for (std::uint64_t at = sp_; at < sp_ + kNativeFrames * kWord && is_on_stack(at); at += kWord) {
      if (is_return_address(word(at))) return go_to(word(at), at + kWord, frame_pointer_at(at));
    }
    return false;
  }
  // Functions of the C library have rbp for themselves, which an interpreted caller needs. The function of the JVM that
  // it called had saved it below the return address.
  [[nodiscard]] std::uint64_t frame_pointer_at(std::uint64_t at) const SIGNAL_SAFE {
    const std::uint64_t saved = word(at - kWord);
    const bool is_lost = cache_.is_interpreter(word(at)) && !(is_on_stack(fp_) && fp_ > at);
    return is_lost && is_on_stack(saved) && saved > at ? saved : fp_;
  }

  [[nodiscard]] bool is_return_address(std::uint64_t pc) const SIGNAL_SAFE {
    if (!cache_.contains(pc)) return false;
    if (!cache_.is_interpreter(pc)) {
      const std::uint64_t blob = cache_.blob_of(pc);
      if (blob == 0 || !cache_.is_nmethod(blob) || pc < cache_.code_begin(blob) + 5) return false;
    }
    return is_behind_call(pc);
  }
  [[nodiscard]] bool is_return_to_stub(std::uint64_t pc) const SIGNAL_SAFE {
    if (!cache_.contains(pc) || cache_.is_interpreter(pc) || pc == layout_.call_stub_return) return false;
    const std::uint64_t blob = cache_.blob_of(pc);
    return blob != 0 && !cache_.is_nmethod(blob) && pc >= cache_.code_begin(blob) + 5 && is_behind_call(pc);
  }
  [[nodiscard]] static bool is_behind_call(std::uint64_t pc) SIGNAL_SAFE {
    const auto is_call_through_register = [&](int length) {
      return load<std::uint8_t>(pc - static_cast<std::uint64_t>(length)) == 0xff &&
             (load<std::uint8_t>(pc - static_cast<std::uint64_t>(length) + 1) & 0x38) == 0x10;
    };
    return load<std::uint8_t>(pc - 5) == 0xe8 || is_call_through_register(2) || is_call_through_register(3);
  }

  // ---- from stubs and from the innermost frame ----

  // The return address is on top of the stack, above the saved rbp, or where the anchor says.
  bool leave_by_guess() SIGNAL_SAFE {
    if (return_at(sp_, fp_)) return true;
    // Pushed a moment ago, or by the method that an exception has just left: the JVM is asked where to go on.
    if (word(sp_) == fp_ && return_at(sp_ + kWord, fp_)) return true;
    if (is_on_stack(fp_, 2 * kWord) && fp_ >= sp_) {
      // The barrier at the entry of compiled methods pushes a word of ones before its frame.
      const std::uint64_t at = fp_ + (word(fp_ + kWord) == ~std::uint64_t{0} ? 2 : 1) * kWord;
      if (go_to(word(at), at + kWord, word(fp_))) return true;
    }
    if (return_at(sp_ + kWord, word(sp_))) return true;
    return anchor_sp(thread_anchor()) > sp_ && go_to_anchor(thread_anchor());
  }

  // Some intrinsics push words in the middle of a method (c2_MacroAssembler_x86.cpp): StringUTF16.compress a length,
  // String.indexOf copies of short strings and what it looks for, then the stack pointer as it was.
  bool leave_pushed(std::uint32_t words) SIGNAL_SAFE {
    const std::uint64_t saved_sp = word(sp_);
    const bool is_saved = saved_sp > sp_ && saved_sp <= sp_ + kMostPushed && saved_sp % kWord == 0;
    if (is_saved && return_from(saved_sp + words * kWord)) return true;
    for (std::uint64_t sp = sp_ + kWord; sp <= sp_ + kMostPushed; sp += kWord) {
      if (return_from(sp + words * kWord)) return true;
    }
    return false;
  }
  // From a frame that ends there, if that can be: words that are not written yet hold return addresses of calls that
  // are over, but these do not return to a frame whose caller is one, too.
  bool return_from(std::uint64_t sender_sp) SIGNAL_SAFE {
    const std::uint64_t pc = word(sender_sp - kWord);
    return is_return_address(pc) && has_caller(pc, sender_sp) && go_to(pc, sender_sp, word(sender_sp - 2 * kWord));
  }
  [[nodiscard]] bool has_caller(std::uint64_t pc, std::uint64_t sp) const SIGNAL_SAFE {
    if (pc == layout_.call_stub_return || cache_.is_interpreter(pc)) return true;
    const std::uint64_t blob = cache_.blob_of(pc);
    if (blob == 0 || !cache_.is_nmethod(blob)) return true;
    const std::uint64_t caller = word(sp + static_cast<std::uint64_t>(cache_.frame_size(blob)) * kWord - kWord);
    return caller == layout_.call_stub_return || (cache_.contains(caller) && cache_.blob_of(caller) != 0);
  }

  // C1's subtype check keeps no frame, but saves some registers and leaves words between them as they were. rbp is that
  // of a frame further out: that of an interpreted method leads past all callers.
  bool leave_subtype_check(std::uint64_t blob) SIGNAL_SAFE {
    if (load<std::uint32_t>(cache_.code_begin(blob)) != 0x50515657) return false;  // push rdi, rsi, rcx, rax
    for (std::uint64_t at = sp_; at <= sp_ + kMostPushed && is_on_stack(at); at += kWord) {
      if (returns_to_pops(word(at))) return go_to(word(at), at + kWord, fp_);
    }
    return false;
  }
  [[nodiscard]] bool returns_to_pops(std::uint64_t pc) const SIGNAL_SAFE {
    return is_return_address(pc) && pops_arguments(reinterpret_cast<const std::uint8_t*>(pc));
  }
  // What was taken for a return address may be any number, and the code cache has parts without memory.
  void skip_arguments() SIGNAL_SAFE {
    if (!cache_.is_in_use(pc_)) return;
    if (pops_arguments(reinterpret_cast<const std::uint8_t*>(pc_)) && is_on_stack(sp_ + 2 * kWord)) sp_ += 2 * kWord;
  }

  // Stubs for exceptions jump to the handler when the stack is already that of its method.
  bool go_to_handler() SIGNAL_SAFE {
    const bool is_r10 = (load<std::uint32_t>(pc_) & 0xffffff) == 0xe2ff41;
    const auto jump = load<std::uint16_t>(pc_);
    if (!is_r10 && jump != 0xe1ff && jump != 0xe3ff) return false;
    return go_to_code_of_frame(reg(is_r10 ? REG_R10 : jump == 0xe1ff ? REG_RCX : REG_RBX));
  }
  // Nothing of a callee is left on the stack.
  bool go_to_code_of_frame(std::uint64_t pc) SIGNAL_SAFE {
    const std::uint64_t blob = cache_.contains(pc) ? cache_.blob_of(pc) : 0;
    if (blob == 0 || (!cache_.is_nmethod(blob) && !cache_.is_interpreter(pc))) return false;
    pc_ = pc;
    return true;
  }
  // Compiled code jumps to the stub that finds its handlers with the place in rdx, which the stub pushes first (push
  // rdx, sub rsp, 8) and pops before it goes on (add rsp, 8, pop rdx, mov r8, rax).
  bool leave_exception_blob(std::uint64_t blob) SIGNAL_SAFE {
    const std::uint64_t begin = cache_.code_begin(blob);
    if (load<std::uint32_t>(begin) != 0xec834852 || load<std::uint8_t>(begin + 4) != 0x08) return false;
    bool is_popped = pc_ == begin;
    for (std::uint64_t at = begin; at + 5 <= pc_ && !is_popped; ++at) {
      is_popped = load<std::uint64_t>(at) == 0xc08b4c5a08c48348;
    }
    return is_popped && go_to_code_of_frame(reg(REG_RDX));
  }
  // C2 makes its stubs as it compiles methods: sub rsp, n; mov [rsp + n - 8], rbp. The one that exceptions leave
  // methods by copies the return address to the bottom of its frame, by a push and a pop, and has it in rdx at its end.
  bool leave_c2_stub(std::uint64_t blob, std::int32_t words) SIGNAL_SAFE {
    constexpr std::int32_t kPrologue = 12;
    CompiledCode code = cache_.code_of(blob);
    if (words < 3 || load<std::uint32_t>(cache_.code_begin(blob) + 7) != 0x246c8948) return false;
    code.frame_complete = kPrologue;
    if (FrameEdges(code).at(0) != FrameEdge::kNone) return false;
    const std::uint64_t frame = static_cast<std::uint64_t>(words) * kWord;
    if (load<std::uint8_t>(pc_) == 0x5a && load<std::uint8_t>(pc_ - 1) == 0x5d) return return_at(sp_, fp_);
    switch (FrameEdges(code).at(static_cast<std::int64_t>(pc_ - cache_.code_begin(blob)))) {
      case FrameEdge::kWhole: break;
      case FrameEdge::kPushed: return return_at(sp_ + kWord, word(sp_));
      case FrameEdge::kUnsaved: return return_at(sp_ + frame - kWord, fp_);
      default: return return_at(sp_, fp_);
    }
    const std::uint64_t sender_sp = sp_ + frame + (load<std::uint32_t>(pc_) == 0x24048f48 ? kWord : 0);
    return go_to(word(sender_sp - kWord), sender_sp, word(sender_sp - 2 * kWord));
  }
  // The stub through which native code calls Java: push rbp, mov rbp, rsp. Its JavaCallWrapper is in rdi until it
  // calls, then in its frame; 0 anywhere else.
  [[nodiscard]] std::uint64_t wrapper_in_call_stub() const SIGNAL_SAFE {
    const std::uint64_t call = layout_.call_stub_return;
    if (pc_ + kCallStubCode < call || pc_ > call + kCallStubCode) return 0;
    if (pc_ >= call) return word(fp_ + static_cast<std::uint64_t>(layout_.entry_frame_wrapper * 8));
    for (std::uint64_t at = pc_; at + kCallStubCode > call; --at) {
      if (load<std::uint32_t>(at) == 0xec8b4855) return reg(REG_RDI);
    }
    return 0;
  }
  // Adapters take the return address off the stack, keep the stack pointer in r13, make room for the arguments, and put
  // the address back. Before and after it is on top; r13 may be a stack pointer of long ago before.
  bool leave_adapter() SIGNAL_SAFE {
    const std::uint64_t before = reg(REG_R13);
    const bool is_moved = is_on_stack(before) && before <= sp_ + kMostArguments;
    if (is_moved && before == sp_) return go_to_code_of_frame(reg(REG_RAX));
    const bool is_put_next = load<std::uint8_t>(pc_) == 0x50 || load<std::uint32_t>(pc_) == 0x24048948;
    if (is_moved && is_put_next) return go_to(reg(REG_RAX), before, fp_);
    const std::uint64_t pc = word(sp_);
    if (!cache_.contains(pc)) return false;
    if (!is_moved || has_caller(pc, sp_ + kWord)) return return_at(sp_, fp_);
    return go_to(pc, before, fp_);
  }

  // Stubs that save all registers link rbp at the top of their frame. Words at its bottom are what others left there,
  // return addresses among them.
  bool leave_made_frame(std::int32_t words) SIGNAL_SAFE {
    const std::uint64_t sender_sp = sp_ + static_cast<std::uint64_t>(words) * kWord;
    return words >= 2 && fp_ == sender_sp - 2 * kWord && go_to(word(fp_ + kWord), sender_sp, word(fp_));
  }
  // Compiled code that reads a page which is protected while the JVM wants to stop is sent here by a signal handler:
  // no return address is on the stack. The stub makes room for it (push rbx, push rbp) and fetches it later from the
  // thread: mov rbx, [r15 + offset], mov [rbp + 8], rbx.
  [[nodiscard]] bool is_poll_handler(std::uint64_t blob) const SIGNAL_SAFE {
    return load<std::uint16_t>(cache_.code_begin(blob)) == 0x5553;
  }
  bool leave_poll_handler(std::uint64_t blob, std::int32_t words) SIGNAL_SAFE {
    const std::uint64_t begin = cache_.code_begin(blob);
    const std::uint64_t frame = static_cast<std::uint64_t>(words) * kWord;
    const bool is_made = fp_ == sp_ + frame - 2 * kWord;
    if (!is_made && pc_ != begin) return false;
    for (std::uint64_t at = begin; at < begin + kPollHandlerCode; ++at) {
      if ((load<std::uint32_t>(at) & 0xffffff) != 0x9f8b49 || load<std::uint32_t>(at + 7) != 0x085d8948) continue;
      const auto pc = load<std::uint64_t>(slot_.java_thread + load<std::uint32_t>(at + 3));
      if (!cache_.contains(pc)) return false;
      if (is_made) return go_to(pc, sp_ + frame, word(fp_));
      pc_ = pc;
      return true;
    }
    return false;
  }

  const CodeCache& cache_;
  const Layout& layout_;
  const ThreadSlot& slot_;
  const greg_t* registers_;      // of the innermost frame of Java code
  std::uint64_t signal_return_;  // where signal handlers return to
  bool is_in_signal_handler_;
  std::uint64_t pc_;
  std::uint64_t sp_;
  std::uint64_t fp_;
};

}  // namespace sonde::agent::hotspot
