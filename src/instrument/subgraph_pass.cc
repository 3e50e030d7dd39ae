// SPDX-License-Identifier: Apache-2.0
#include "instrument/subgraph_pass.h"

#include <algorithm>
#include <bit>

#include "classfile/descriptor.h"
#include "instrument/places.h"

namespace sonde::instrument {

using namespace classfile;

namespace {

constexpr std::string_view kRuntime = "java/lang/SondeSubgraph";
constexpr MemberRef kInside{kRuntime, "inside", "()J"};
constexpr MemberRef kRootEntry{kRuntime, "rootEntry", "()J"};
constexpr MemberRef kCaller{kRuntime, "caller", "(J)J"};
constexpr MemberRef kCurrent{kRuntime, "current", "()J"};
constexpr MemberRef kEnter{kRuntime, "enter", "(JJII)J"};
constexpr MemberRef kEnterRoot{kRuntime, "enterRoot", "(JJII)J"};
constexpr MemberRef kStart{kRuntime, "start", "(J)J"};
constexpr MemberRef kStartCpu{kRuntime, "startCpu", "(J)J"};
constexpr MemberRef kExit{kRuntime, "exit", "(JJJ)V"};
constexpr MemberRef kExitTimed{kRuntime, "exit", "(JJJJ)V"};
constexpr MemberRef kExitCpu{kRuntime, "exitCpu", "(JJJJ)V"};
constexpr MemberRef kExitRoot{kRuntime, "exitRoot", "(JJJ)V"};
constexpr MemberRef kExitRootTimed{kRuntime, "exitRoot", "(JJJJ)V"};
constexpr MemberRef kExitRootCpu{kRuntime, "exitRootCpu", "(JJJJ)V"};
constexpr MemberRef kThrown{kRuntime, "thrown", "(JJ)V"};
constexpr MemberRef kResume{kRuntime, "resume", "(JJ)V"};
constexpr MemberRef kAdd{kRuntime, "add", "(JJJ)V"};
constexpr MemberRef kCall{kRuntime, "call", "(JI)V"};
constexpr MemberRef kReflected{kRuntime, "reflected", "(Ljava/lang/Object;JI)V"};
constexpr MemberRef kCallObject{kRuntime, "call", "(Ljava/lang/Object;JI)V"};

constexpr std::uint32_t kMostSlots = 32;

// Callees that a node has room for at first: as many as there are calls, a power of two.
std::uint32_t slots_for(std::size_t call_sites) {
  return std::min(kMostSlots, std::bit_ceil(std::max(1U, static_cast<std::uint32_t>(call_sites))));
}

// Puts an object on top of the stack once more.
void push_again(CodeBuilder& b, std::uint32_t depth) {
  if (depth == 0) {
    b.op(Opcode::dup);
  } else if (depth == 1) {
    b.op(Opcode::dup2).op(Opcode::pop);
  } else {
    b.op(Opcode::dup2_x1).op(Opcode::pop2).op(Opcode::dup_x2);
  }
}

}  // namespace

std::uint32_t receiver_depth(Opcode opcode, std::string_view descriptor) {
  const auto parsed = MethodDescriptor::parse(descriptor);
  const bool has_receiver = opcode == Opcode::invokevirtual || opcode == Opcode::invokeinterface;
  return parsed && has_receiver ? parsed->parameter_slots() : kDeepest + 1;
}

Result<void> SubgraphPass::apply(CodeEditor& code, const SubgraphMethod& method) {
  method_ = method;
  TRY(plan_.make(code.code(), code.stack_maps(), Precision::kWholeBlocks));
  node_local_ = code.new_local(LocalType::kLong);
  if (is_measured()) {
    entry_local_ = code.new_local(LocalType::kLong);
    caller_local_ = code.new_local(LocalType::kLong);
    if (method_.clock != SubgraphClock::kNone) start_local_ = code.new_local(LocalType::kLong);
    if (method_.bytecodes) count_local_ = code.new_local(LocalType::kLong);
  }
  insert_entry(code);
  if (is_measured() && method_.bytecodes) insert_counts(code);
  if (method_.sites != nullptr) insert_calls(code);
  if (!is_measured()) return {};
  insert_exits(code);
  insert_handlers(code);
  return {};
}

void SubgraphPass::insert_entry(CodeEditor& code) {
  const bool is_root = method_.role == SubgraphRole::kRoot;
  code.at_entry(code.snippet([&](CodeBuilder& b) {
    if (!is_measured()) {
      b.invoke_static(kCurrent).store(LocalType::kLong, node_local_);
      return;
    }
    b.invoke_static(is_root ? kRootEntry : kInside).op(Opcode::dup2).store(LocalType::kLong, entry_local_);
    b.invoke_static(kCaller).store(LocalType::kLong, caller_local_);
    b.load(LocalType::kLong, entry_local_).load(LocalType::kLong, caller_local_);
    b.push(static_cast<std::int32_t>(method_.id));
    b.push(static_cast<std::int32_t>(slots_for(plan_.call_sites().size())));
    b.invoke_static(is_root ? kEnterRoot : kEnter).store(LocalType::kLong, node_local_);
    if (method_.bytecodes) {
      const std::int32_t all = plan_.constant_bytecodes() + plan_.bytecodes_after_constructor_call();
      b.push_long(plan_.is_single_path() ? all : 0).store(LocalType::kLong, count_local_);
    }
    if (method_.clock == SubgraphClock::kNone) return;
    b.load(LocalType::kLong, node_local_);
    b.invoke_static(method_.clock == SubgraphClock::kCpu ? kStartCpu : kStart).store(LocalType::kLong, start_local_);
  }));
}

void SubgraphPass::add_to_count(CodeBuilder& b, std::int32_t by) const {
  b.load(LocalType::kLong, count_local_)
      .push(by)
      .op(Opcode::i2l)
      .op(Opcode::ladd)
      .store(LocalType::kLong, count_local_);
}

void SubgraphPass::insert_counts(CodeEditor& code) {
  for (const Segment& segment : plan_.segments())
    at_segment(code, segment, code.snippet([&](CodeBuilder& b) { add_to_count(b, segment.bytecodes); }));
}

void SubgraphPass::insert_calls(CodeEditor& code) {
  for (const CallSite& call : plan_.call_sites()) {
    const std::vector<CallSites::Probe> probes = method_.sites->probes_at(code.code(), code.code().at(call.pc));
    if (probes.empty()) continue;
    code.before(call.pc, code.snippet([&](CodeBuilder& b) {
      for (const CallSites::Probe& probe : probes) {
        if (probe.kind != CallSites::Kind::kBound) push_again(b, probe.depth);
        b.load(LocalType::kLong, node_local_).push(static_cast<std::int32_t>(probe.number));
        switch (probe.kind) {
          case CallSites::Kind::kBound: b.invoke_static(kCall); break;
          case CallSites::Kind::kReceiver:
          case CallSites::Kind::kPassed: b.invoke_static(kCallObject); break;
          case CallSites::Kind::kHandle: b.invoke_static(kReflected); break;
        }
      }
    }));
  }
}

void SubgraphPass::exit(CodeBuilder& b) const {
  if (method_.bytecodes) {
    b.load(LocalType::kLong, entry_local_).load(LocalType::kLong, node_local_);
    b.load(LocalType::kLong, count_local_).invoke_static(kAdd);
  }
  const bool is_root = method_.role == SubgraphRole::kRoot;
  b.load(LocalType::kLong, entry_local_).load(LocalType::kLong, caller_local_).load(LocalType::kLong, node_local_);
  if (method_.clock != SubgraphClock::kNone) b.load(LocalType::kLong, start_local_);
  switch (method_.clock) {
    case SubgraphClock::kNone: b.invoke_static(is_root ? kExitRoot : kExit); break;
    case SubgraphClock::kWall: b.invoke_static(is_root ? kExitRootTimed : kExitTimed); break;
    case SubgraphClock::kCpu: b.invoke_static(is_root ? kExitRootCpu : kExitCpu); break;
  }
}

void SubgraphPass::insert_exits(CodeEditor& code) {
  before_returns(code, code.snippet([&](CodeBuilder& b) { exit(b); }));
}

void SubgraphPass::insert_handlers(CodeEditor& code) {
  before_handlers(code, code.snippet([&](CodeBuilder& b) {
    b.load(LocalType::kLong, entry_local_).load(LocalType::kLong, node_local_).invoke_static(kResume);
  }));
  cover_what_throws(code, plan_, code.snippet([&](CodeBuilder& b) {
    b.load(LocalType::kLong, entry_local_).load(LocalType::kLong, node_local_).invoke_static(kThrown);
    exit(b);
    b.op(Opcode::athrow);
  }));
}

}  // namespace sonde::instrument
