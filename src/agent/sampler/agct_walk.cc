// SPDX-License-Identifier: Apache-2.0
#include "agent/sampler/agct_walk.h"

#include <dlfcn.h>

namespace sonde::agent {
namespace {

// As forte.cpp of HotSpot declares them.
struct CallFrame {
  std::int32_t bci;
  std::uint64_t method;
};
struct CallTrace {
  void* env;
  std::int32_t depth;
  CallFrame* frames;
};
static_assert(sizeof(CallFrame) == sizeof(RawFrame));
using AsyncGetCallTrace = void (*)(CallTrace*, std::int32_t, const void*);

constinit AsyncGetCallTrace g_agct = nullptr;

WalkError error_of(std::int32_t code) SIGNAL_SAFE {
  switch (code) {
    case 0: return WalkError::kNoJavaFrames;
    case -2: return WalkError::kGarbageCollection;
    case -3:
    case -5: return WalkError::kUnknownCode;
    case -8: return WalkError::kThreadExiting;
    case -9: return WalkError::kDeoptimizing;
    default: return WalkError::kUnwalkable;
  }
}

}  // namespace

bool find_agct() {
  g_agct = reinterpret_cast<AsyncGetCallTrace>(dlsym(RTLD_DEFAULT, "AsyncGetCallTrace"));
  return g_agct != nullptr;
}

std::uint64_t walk_by_agct(ThreadSlot& slot, const void* ucontext, RawSample& sample) {
  if (slot.jni_env == nullptr) {
    sample.error = WalkError::kNoJavaFrames;
    return slot.stack_high;
  }
  // Its frames have the size of ours and are turned into ours where they are.
  CallTrace trace{.env = slot.jni_env, .depth = 0, .frames = reinterpret_cast<CallFrame*>(sample.frames())};
  g_agct(&trace, kMaxDepth, ucontext);
  if (trace.depth <= 0) {
    sample.error = error_of(trace.depth);
    return 0;
  }
  sample.depth = static_cast<std::uint16_t>(trace.depth);
  sample.is_cut = trace.depth == kMaxDepth ? 1 : 0;
  for (std::int32_t i = 0; i < trace.depth; ++i) {
    const CallFrame frame = trace.frames[i];
    sample.frames()[i] = RawFrame::make(FrameKind::kJmethodId, frame.method, static_cast<std::uint32_t>(frame.bci));
  }
  return 0;
}

}  // namespace sonde::agent
