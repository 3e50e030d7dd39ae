// SPDX-License-Identifier: Apache-2.0
// How frames look on x64 (HotSpot's frame_x86.cpp, sharedRuntime_x86_64.cpp, templateInterpreterGenerator_x86.cpp):
//
//   compiled      sp + frame_size words = the caller's sp; the word below is the return address, then the saved rbp
//   interpreted   rbp points to the saved rbp, the return address is above it, the caller's sp at -1, the Method at -3
//   call stub     where native code called Java: its JavaCallWrapper holds the anchor of the Java frames before it
//   stubs         no rule; most keep rbp or have nothing but the return address on the stack
//
// Only the innermost frame can be at any instruction: prologues and epilogues are recognised by their instructions.
#include "agent/vm/hotspot/stack_walk_x64.h"

#include <ucontext.h>

#include "agent/vm/hotspot/frame_cache.h"
#include "agent/vm/hotspot/frame_edges_x64.h"
#include "agent/vm/hotspot/frame_notes.h"
#include "agent/vm/hotspot/frozen_walk_x64.h"
#include "agent/vm/hotspot/stack_cursor_x64.h"
#include "agent/vm/hotspot/walk_check.h"

namespace sonde::agent::hotspot {
namespace {

constinit const CodeCache* g_cache = nullptr;
constinit MethodLog* g_methods = nullptr;
constinit FrozenLayout g_frozen;
constinit FrameCache g_frames;

class Walk : private StackCursor {
 public:
  Walk(const ThreadSlot& slot, const ucontext_t& context, LastWalk& last, RawSample& sample) SIGNAL_SAFE
      : StackCursor(*g_cache, slot, context),
        last_(last),
        sample_(sample) {}

  WalkError run() SIGNAL_SAFE {
    if (sample_.kind == SampleKind::kWall) sample_.state = state();
    if (!cache_.contains(pc_) && !enter_from_native()) {
      native_end_ = slot_.stack_high;
      return anchor_sp(thread_anchor()) == 0 && !is_in_java() ? WalkError::kNoJavaFrames : WalkError::kUnwalkable;
    }
    // From the first frame of Java code on: what lies further in is another thing each time, and frames that are taken
    // over have the marks of the walk before.
    next_mark_ = (sp_ / kMarkEvery + 1) * kMarkEvery;
    sample_.top_bcp = reg(REG_R13);
    while (sample_.full_depth() < kMaxDepth) {
      switch (step()) {
        case Step::kNext:
          is_top_ = false;
          if (!is_by_size_) last_.interrupt();
          if (sp_ >= next_mark_) mark();
          reuse_last_walk();
          break;
        case Step::kEnd: return error_at_end();
        case Step::kFrozen: return WalkError::kFrozen;
        case Step::kUnknownCode: note(FrameKind::kStub, pc_, 0); return WalkError::kUnknownCode;
        case Step::kDeoptimizing: return WalkError::kDeoptimizing;
        case Step::kBroken: return WalkError::kUnwalkable;
      }
    }
    sample_.is_cut = 1;
    return WalkError::kNone;
  }

  // Where Java begins, if the thread was not in it; else 0.
  [[nodiscard]] std::uint64_t native_end() const SIGNAL_SAFE { return native_end_; }

 private:
  enum class Step { kNext, kEnd, kFrozen, kUnknownCode, kDeoptimizing, kBroken };

  // As far as the JVM's own state tells; the method on top says more.
  [[nodiscard]] ThreadState state() const SIGNAL_SAFE {
    const bool used_cpu = slot_.cpu_moved.load(std::memory_order_relaxed);
    switch (load<std::uint32_t>(slot_.java_thread + layout_.thread_state)) {
      case kThreadBlocked: return ThreadState::kBlocked;
      case kThreadInNative: return used_cpu ? ThreadState::kRunning : ThreadState::kNative;
      default: return used_cpu ? ThreadState::kRunning : ThreadState::kRunnable;
    }
  }

  // No frame at all: that is so in the stub where native code calls Java; anywhere else callers were skipped.
  [[nodiscard]] WalkError error_at_end() const SIGNAL_SAFE {
    if (skipped_skeletons_) return WalkError::kDeoptimizing;
    if (sample_.full_depth() != 0 || sample_.is_virtual != 0) return WalkError::kNone;
    const bool is_call_stub = cache_.blob_of(reg(REG_RIP)) == cache_.blob_of(layout_.call_stub_return);
    return is_call_stub ? WalkError::kNoJavaFrames : WalkError::kUnwalkable;
  }

  void note(FrameKind kind, std::uint64_t what, std::uint64_t value) SIGNAL_SAFE {
    note_frame(sample_, kind, what, value);
  }

  void mark() SIGNAL_SAFE {
    next_mark_ = (sp_ / kMarkEvery + 1) * kMarkEvery;
    if (sample_.full_depth() < kMaxDepth) note(FrameKind::kMark, sp_, 0);
  }

  // From code outside of the code cache to the Java frame that called it.
  bool enter_from_native() SIGNAL_SAFE {
    is_top_ = false;
    if (!go_to_anchor(thread_anchor()) && !(is_in_java() && leave_native())) return false;
    native_end_ = sp_;
    return true;
  }
  bool leave_native() SIGNAL_SAFE {
    if (!is_in_signal_handler()) return leave_frameless() || follow_frame_pointers() || find_return_address();
    is_top_ = leave_signal_handler();
    return is_top_;
  }

  // Frames that are where the walk before met them (last_walk.h). The walk goes on at the outermost of them.
  void reuse_last_walk() SIGNAL_SAFE {
    const std::uint32_t known = last_.known_at(pc_, sp_);
    if (known == 0 || sample_.number % kWholeEvery == 0) return;
    const LastWalk::Frame& outermost = last_.frame(0);
    const std::uint32_t count = last_.frame(known - 1).place;
    if (!is_on_stack(outermost.sp) || sample_.full_depth() + count >= kMaxDepth) return last_.differs_at(0);
    if (const std::uint32_t other = other_frame(known); other != 0) return last_.differs_at(other - 1);
    sample_.same_at = sample_.depth;
    sample_.same_first = static_cast<std::uint16_t>(last_.place_of(known - 1));
    sample_.same_count = static_cast<std::uint16_t>(count);
    last_.reuse(known, sample_.same_at);
    pc_ = outermost.pc;
    sp_ = outermost.sp;
    fp_ = word(sp_ - 2 * kWord);
    next_mark_ = (sp_ / kMarkEvery + 1) * kMarkEvery;
  }

  // The innermost of the first `known` frames of the walk before that is of other code now or has another caller; 0:
  // none is. The outermost lies on the stack, so all do. Differences are gathered, not branched on: no frame waits for
  // another.
  [[nodiscard]] std::uint32_t other_frame(std::uint32_t known) const SIGNAL_SAFE {
    constexpr std::uint32_t kAtOnce = 8;
    for (std::uint32_t i = known - 1; i > 0;) {
      const std::uint32_t end = i > kAtOnce ? i - kAtOnce : 0;
      std::uint64_t differences = 0;
      for (std::uint32_t j = i; j > end; --j) differences |= difference_at(j);
      for (; differences != 0 && i > end; --i) {
        if (difference_at(i) != 0) return i;
      }
      i = end;
    }
    return 0;
  }
  [[nodiscard]] std::uint64_t difference_at(std::uint32_t index) const SIGNAL_SAFE {
    const LastWalk::Frame& frame = last_.frame(index);
    const LastWalk::Frame& caller = last_.frame(index - 1);
    return (injected_fault(load<std::uint64_t>(caller.sp - kWord)) ^ caller.pc) |
           cache_.difference_from(frame.nmethod, frame.compile_id);
  }

  Step step() SIGNAL_SAFE {
    is_by_size_ = false;
    if (!is_top_) {
      const FrameCache::Frame frame = g_frames.find(pc_);
      if (frame.nmethod != 0 && cache_.difference_from(frame.nmethod, frame.compile_id) == 0) {
        is_by_size_ = true;
        last_.add({.sp = sp_,
                   .pc = pc_,
                   .nmethod = frame.nmethod,
                   .compile_id = frame.compile_id,
                   .place = sample_.full_depth()});
        note(FrameKind::kCompiled, pc_, frame.compile_id);
        return leave_frame(frame.size);
      }
    }
    if (pc_ == layout_.call_stub_return) return leave_call_stub();
    if (cache_.is_interpreter(pc_)) return step_interpreted();
    const std::uint64_t blob = cache_.blob_of(pc_);
    if (blob == 0) return Step::kUnknownCode;
    return cache_.is_nmethod(blob) ? step_compiled(blob) : step_stub(blob);
  }

  Step leave_call_stub() SIGNAL_SAFE {
    return leave_by_wrapper(word(fp_ + static_cast<std::uint64_t>(layout_.entry_frame_wrapper * 8)));
  }
  Step leave_by_wrapper(std::uint64_t wrapper) SIGNAL_SAFE {
    if (!is_on_stack(wrapper, layout_.wrapper_anchor + 3 * kWord)) return Step::kBroken;
    const std::uint64_t anchor = wrapper + layout_.wrapper_anchor;
    if (anchor_sp(anchor) == 0) return Step::kEnd;
    if (anchor_sp(anchor) <= sp_) return Step::kBroken;
    return go_to_anchor(anchor) ? Step::kNext : Step::kBroken;
  }

  Step step_interpreted() SIGNAL_SAFE {
    if (is_interpreter_entry()) return step_interpreter_entry();
    const std::uint64_t sender_sp = word(fp_ + static_cast<std::uint64_t>(kInterpretedSenderSp * 8));
    const std::uint64_t return_pc = word(fp_ + kWord);
    if (fp_ < sp_ || sender_sp <= fp_ || !cache_.contains(return_pc)) {
      return is_top_ ? step_interpreter_entry() : Step::kBroken;
    }
    if (pc_ != skeleton_pc_) {
      skeleton_pc_ = 0;
      note_method(sample_, *g_methods, word(fp_ + static_cast<std::uint64_t>(kInterpretedMethod * 8)),
                  word(fp_ + static_cast<std::uint64_t>(kInterpretedBcp * 8)));
    }
    return go_to(return_pc, sender_sp, word(fp_)) ? Step::kNext : Step::kBroken;
  }

  // Until the interpreter has made its frame, rbx is the method and r13 the caller's sp; later r13 is the bytecode
  // pointer. The return address is on top of the stack, in rax while room for locals is made, then above the saved rbp.
  [[nodiscard]] bool is_interpreter_entry() const SIGNAL_SAFE {
    return is_top_ && reg(REG_R13) > sp_ && is_on_stack(reg(REG_R13)) && cache_.contains(entry_return_pc());
  }
  [[nodiscard]] bool is_entry_linked() const SIGNAL_SAFE {
    return fp_ >= sp_ && fp_ <= sp_ + 2 * kWord && cache_.contains(word(fp_ + kWord));
  }
  [[nodiscard]] std::uint64_t entry_return_pc() const SIGNAL_SAFE {
    if (is_entry_linked()) return word(fp_ + kWord);
    return cache_.contains(word(sp_)) ? word(sp_) : reg(REG_RAX);
  }
  Step step_interpreter_entry() SIGNAL_SAFE {
    const std::uint64_t sender_sp = is_interpreter_entry() ? reg(REG_R13) : sp_ + kWord;
    note_method(sample_, *g_methods, reg(REG_RBX), 0);
    return go_to(entry_return_pc(), sender_sp, is_entry_linked() ? word(fp_) : fp_) ? Step::kNext : Step::kBroken;
  }

  Step step_compiled(std::uint64_t nmethod) SIGNAL_SAFE {
    std::uint64_t pc = pc_;
    if (pc == cache_.deopt_handler(nmethod)) {
      // The return address was replaced; the frame keeps the original.
      pc = word(sp_ + load<std::uint32_t>(nmethod + layout_.nmethod_orig_pc));
    }
    note_compiled(sample_, *g_methods, cache_, nmethod, pc, is_top_ ? FrameKind::kInterrupted : FrameKind::kCompiled);
    if (pc_ == cache_.continuation_return()) return end_virtual_thread();
    if (is_top_ && leave_without_frame(nmethod)) return Step::kNext;
    const auto size = static_cast<std::uint32_t>(cache_.frame_size(nmethod));
    if (is_top_ && size == 2 && cache_.is_native(nmethod)) yields_to_ = word(sp_ + kWord);
    // What returns here has its frame complete, unless it will be deoptimized.
    if (!is_top_ && pc == pc_) {
      g_frames.remember(pc_, {.nmethod = nmethod, .compile_id = cache_.compile_id(nmethod), .size = size});
    }
    return leave_frame(size);
  }

  Step leave_frame(std::uint32_t words) SIGNAL_SAFE {
    const std::uint64_t sender_sp = sp_ + words * kWord;
    const std::uint64_t return_pc = word(sender_sp - kWord);
    const bool is_certain = !is_top_ || (may_return_to(return_pc) && has_caller(return_pc, sender_sp));
    if (!is_certain && leave_pushed(words)) return Step::kNext;
    if (go_to(return_pc, sender_sp, word(sender_sp - 2 * kWord))) return Step::kNext;
    return is_top_ && leave_by_guess() ? Step::kNext : Step::kBroken;
  }

  // What calls compiled code: Java code, the call stub, and for virtual threads the stub that fetches more frames.
  [[nodiscard]] bool may_return_to(std::uint64_t pc) const SIGNAL_SAFE {
    if (pc == layout_.call_stub_return || cache_.is_interpreter(pc)) return true;
    const std::uint64_t blob = cache_.contains(pc) ? cache_.blob_of(pc) : 0;
    return blob != 0 && (cache_.is_nmethod(blob) || may_be_virtual());
  }

  Step end_virtual_thread() SIGNAL_SAFE {
    sample_.is_virtual = 1;
    return Step::kEnd;
  }

  // In the prologue or epilogue of a compiled method.
  bool leave_without_frame(std::uint64_t nmethod) SIGNAL_SAFE {
    switch (FrameEdges(cache_.code_of(nmethod)).at(static_cast<std::int64_t>(pc_ - cache_.code_begin(nmethod)))) {
      case FrameEdge::kWhole: return false;
      case FrameEdge::kPushed: return return_at(sp_ + kWord, word(sp_));
      case FrameEdge::kNone: return return_at(sp_, fp_);
      case FrameEdge::kUnsaved:
        return return_at(sp_ + (static_cast<std::uint32_t>(cache_.frame_size(nmethod)) - 1) * kWord, fp_);
      case FrameEdge::kUncertain: return return_at(sp_, fp_) || return_at(sp_ + kWord, word(sp_));
    }
    return false;
  }

  // A compiled frame becomes interpreted ones (deoptimization.cpp). They are made with links only, all with the same
  // return address, and get their methods afterwards, the innermost last: what is in them until then means nothing.
  Step step_deoptimization(std::uint64_t blob) SIGNAL_SAFE {
    const std::uint64_t sender_sp = sp_ + static_cast<std::uint64_t>(cache_.frame_size(blob)) * kWord;
    const std::uint64_t return_pc = word(sender_sp - kWord);
    // Interrupted in the stub itself, it has its whole frame only if it is still above the compiled one.
    if (is_top_ && !is_deoptimized(return_pc)) return Step::kDeoptimizing;
    if (!go_to(return_pc, sender_sp, word(sender_sp - 2 * kWord))) return Step::kBroken;
    if (cache_.is_interpreter(pc_)) {
      skeleton_pc_ = pc_;
      skipped_skeletons_ = true;
    }
    return Step::kNext;
  }

  [[nodiscard]] bool is_deoptimized(std::uint64_t pc) const SIGNAL_SAFE {
    const std::uint64_t blob = cache_.contains(pc) ? cache_.blob_of(pc) : 0;
    return blob != 0 && cache_.is_nmethod(blob) && pc == cache_.deopt_handler(blob);
  }

  Step step_stub(std::uint64_t blob) SIGNAL_SAFE {
    if (cache_.is_deoptimization(blob)) return step_deoptimization(blob);
    const std::int32_t words = cache_.frame_size(blob);
    // Stubs that call the JVM have a frame of known size once they have made it.
    if (!is_top_ && words >= 2) {
      const std::uint64_t sender_sp = sp_ + static_cast<std::uint64_t>(words) * kWord;
      if (go_to(word(sender_sp - kWord), sender_sp, word(sender_sp - 2 * kWord))) return Step::kNext;
    }
    // Interrupted here, or in a function that the stub called.
    if (sample_.full_depth() == 0) {
      if (const std::uint64_t wrapper = is_top_ ? wrapper_in_call_stub() : 0; wrapper != 0)
        return leave_by_wrapper(wrapper);
      if (leave_made_frame(words) || (is_top_ && leave_known_stub(blob, words))) return Step::kNext;
      if (is_top_ && is_poll_handler(blob)) return leave_poll_handler(blob, words) ? Step::kNext : Step::kBroken;
      // The JVM's own functions call some, too.
      if (!is_in_java() && anchor_sp(thread_anchor()) > sp_ && go_to_anchor(thread_anchor())) return Step::kNext;
      const bool is_left = is_top_ && words < 0 && leave_subtype_check(blob);
      if (!is_left && !leave_by_guess() && !find_return_address()) return Step::kUnknownCode;
      if (is_top_) skip_arguments();
      return Step::kNext;
    }
    // Nothing else returns to stubs but the frames of a virtual thread whose callers still lie in the heap.
    if (words >= 2 || !may_be_virtual()) return Step::kBroken;
    sample_.is_virtual = 1;
    return walk_frozen() ? Step::kEnd : Step::kFrozen;
  }

  bool leave_known_stub(std::uint64_t blob, std::int32_t words) SIGNAL_SAFE {
    if (words == 0) return cache_.is_adapter(blob) && leave_adapter();
    return go_to_handler() || (words == 2 && leave_exception_blob(blob)) || leave_c2_stub(blob, words);
  }

  // Does the thread carry a virtual one, as far as is known?
  [[nodiscard]] bool may_be_virtual() const SIGNAL_SAFE {
    return cache_.continuation_return() != 0 && (g_frozen.thread_entry == 0 || continuation_entry() != 0);
  }
  // Where the frames of a virtual thread begin.
  [[nodiscard]] std::uint64_t continuation_entry() const SIGNAL_SAFE {
    return load<std::uint64_t>(slot_.java_thread + g_frozen.thread_entry);
  }

  // The callers of the frames on the stack. False if not all of them can be read.
  bool walk_frozen() SIGNAL_SAFE {
    const auto state = load<std::uint32_t>(slot_.java_thread + layout_.thread_state);
    const std::uint64_t entry = continuation_entry();
    if (!g_frozen.is_known || !is_on_stack(entry, kEntrySize)) return false;
    HeapReader heap(g_frozen.collector, state == kThreadInJava);
    FrozenWalk frozen(g_frozen, heap, cache_, *g_methods, sample_, yields_to_);
    // What stacks refer to has no color.
    if (heap.has_colors()) return frozen.run_of_thread(load<std::uint64_t>(slot_.java_thread + g_frozen.thread_object));
    return frozen.run(load<std::uint64_t>(entry + kEntryContinuation));
  }

  LastWalk& last_;
  RawSample& sample_;
  std::uint64_t native_end_ = 0;
  std::uint64_t next_mark_ = 0;
  std::uint64_t yields_to_ = 0;    // where Continuation.doYield, if it is that, was called (frozen_walk_x64.h)
  std::uint64_t skeleton_pc_ = 0;  // where frames return to that have no methods yet; 0: there are none
  bool skipped_skeletons_ = false;
  bool is_by_size_ = false;
  bool is_top_ = true;
};

}  // namespace

void set_code_cache(const CodeCache& cache) { g_cache = &cache; }
void set_method_log(MethodLog& log) {
  g_methods = &log;
  g_frames.clear();  // what is in it was noted in another log
}
void set_frozen_layout(const FrozenLayout& layout) { g_frozen = layout; }

std::uint64_t walk_java_stack(ThreadSlot& slot, const void* ucontext, RawSample& sample) {
  if (slot.java_thread == 0) {
    sample.error = WalkError::kNoJavaFrames;
    return slot.stack_high != 0 ? slot.stack_high : 1;  // 1: there is a stack, its end is not known
  }
  const auto& context = *static_cast<const ucontext_t*>(ucontext);
  WalkCheck check(
      [&](RawSample& empty) SIGNAL_SAFE {
        LastWalk none;
        return Walk(slot, context, none, empty).run();
      },
      sample);
  slot.last_walk.begin();
  Walk walk(slot, context, slot.last_walk, sample);
  sample.error = walk.run();
  check.finish(sample);
  slot.last_walk.finish();
  return walk.native_end();
}

}  // namespace sonde::agent::hotspot
