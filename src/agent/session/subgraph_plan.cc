// SPDX-License-Identifier: Apache-2.0
#include "agent/session/subgraph_plan.h"

#include <utility>

#include "base/clock.h"

namespace sonde::agent {

using namespace classfile;
using instrument::CallSites;
using instrument::SubgraphRole;

namespace {

constexpr std::uint32_t kMostProbes = 3;  // of one call

std::string key_of(std::string_view name, std::string_view descriptor) { return std::string(name).append(descriptor); }

// A body in finalize()V, even an empty one with a probe, makes HotSpot register every instance for finalization.
bool is_empty_finalizer(const Member& method, const Code& code) {
  return method.name == "finalize" && method.descriptor == "()V" && code.length() == 1;
}

// The methods among the arguments of a bootstrap method (JVMS 4.7.23): what lambdas and method references run.
std::vector<NamedMethod> methods_made(const ClassFile& cls, PoolIndex dynamic) {
  std::vector<NamedMethod> made;
  const auto attribute = cls.attributes().find(attribute::kBootstrapMethods);
  if (!attribute) return made;
  ByteReader reader(attribute->content);
  const std::uint16_t count = reader.u2();
  const std::uint16_t wanted = cls.pool().bootstrap_index(dynamic);
  for (std::uint16_t i = 0; i < count && i <= wanted && !reader.overran(); ++i) {
    reader.u2();  // the bootstrap method itself
    const std::uint16_t arguments = reader.u2();
    for (std::uint16_t a = 0; a < arguments; ++a) {
      const PoolIndex argument(reader.u2());
      if (i != wanted || !cls.pool().is(argument, Tag::kMethodHandle)) continue;
      constexpr std::uint8_t kFirstInvoke = 5;  // those before are accesses to fields
      if (cls.pool().reference_kind(argument) < kFirstInvoke) continue;
      const MemberRef method = cls.pool().member(cls.pool().reference_index(argument));
      made.push_back({std::string(method.class_name), std::string(method.name), std::string(method.descriptor)});
    }
  }
  return made;
}

CallSites::Kind kind_of(Opcode opcode, const MemberRef& callee) {
  using Kind = CallSites::Kind;
  if (instrument::receiver_depth(opcode, callee.descriptor) > instrument::kDeepest) return Kind::kBound;
  const bool is_handle = (callee.class_name == "java/lang/reflect/Method" && callee.name == "invoke") ||
                         (callee.class_name == "java/lang/reflect/Constructor" && callee.name == "newInstance") ||
                         (callee.class_name == "java/lang/invoke/MethodHandle" && callee.name.starts_with("invoke"));
  return is_handle ? Kind::kHandle : Kind::kReceiver;
}

}  // namespace

Result<void> SubgraphPlan::begin(std::uint8_t* site_bytes) {
  site_bytes_ = site_bytes;
  may_sites_ask_ = !options_.begins_bare();
  return methods_.is_mapped() ? Result<void>() : methods_.map();
}

bool SubgraphPlan::select(std::uint32_t cls, std::string_view method, std::string_view descriptor, SubgraphRole role) {
  SelectedClass& selected = classes_[cls];
  if (selected.is_refused) return false;
  const auto [it, is_new] = selected.methods.try_emplace(key_of(method, descriptor), SelectedMethod{.role = role});
  return is_new;
}

void SubgraphPlan::refuse(std::uint32_t cls) {
  classes_[cls].is_refused = true;
  arena_.count(Counter::kSubgraphClassesRefused);
}

std::vector<std::uint32_t> SubgraphPlan::clear() {
  std::vector<std::uint32_t> changed;
  for (const auto& [key, cls] : classes_) {
    if (cls.record != 0) changed.push_back(key);
  }
  classes_.clear();
  return changed;
}

void SubgraphPlan::let_sites_ask() {
  if (std::exchange(may_sites_ask_, true)) return;
  for (std::size_t site = 0; site < sites_.size(); ++site) __atomic_store_n(&site_bytes_[site], 1, __ATOMIC_RELEASE);
}

void SubgraphPlan::settle(std::uint32_t site) {
  if (sites_[site].kind == Kind::kBound) __atomic_store_n(&site_bytes_[site], 0, __ATOMIC_RELEASE);
}

std::optional<Bytes> SubgraphPlan::rewrite(std::uint32_t key, Bytes original, bool of_jdk) {
  const auto it = classes_.find(key);
  if (it == classes_.end() || it->second.is_refused) return std::nullopt;
  const std::uint64_t begin = thread_cpu_ns();
  const auto cls = ClassFile::parse(original);
  if (!cls.ok()) {
    count_failure(cls.error());
    return std::nullopt;
  }
  SelectedClass& selected = it->second;
  current_class_ = key;
  if (selected.record == 0) {
    selected.record = registry_.add_class(*cls, of_jdk ? arena::kClassOfJdk : 0);
    if (seen_classes_.emplace(cls->name()).second) ++arena_.header().subgraph.classes;
  } else {
    registry_.return_to(*cls);
  }
  editor_.open(*cls);
  for (const Member& method : cls->methods()) {
    const auto wanted = selected.methods.find(key_of(method.name, method.descriptor));
    if (wanted == selected.methods.end() || !has_code(method)) continue;
    if (const auto done = instrument(method, wanted->second, of_jdk); !done.ok()) count_failure(done.error());
  }
  const auto written = editor_.write();
  arena_.header().own_cpu_ns += thread_cpu_ns() - begin;
  if (!written.ok()) {
    arena_.count(Counter::kPoolsFull);
    return std::nullopt;
  }
  return *written;
}

Result<void> SubgraphPlan::instrument(const Member& method, SelectedMethod& selected, bool of_jdk) {
  CodeEditor* code = TRY(editor_.edit(method));
  if (is_empty_finalizer(method, code->code())) return {};
  if (selected.id == 0) record(method, code->code(), selected, of_jdk);
  current_ = &selected;
  const bool finds_callees = options_.scheme == arena::SubgraphScheme::kLazy;
  TRY(pass_.apply(*code, {.id = selected.id,
                          .role = selected.role,
                          .clock = static_cast<instrument::SubgraphClock>(options_.time),
                          .bytecodes = options_.bytecodes,
                          .sites = finds_callees ? this : nullptr}));
  return editor_.commit();
}

void SubgraphPlan::record(const Member& method, const Code& code, SelectedMethod& selected, bool of_jdk) {
  selected.id = registry_.method_id(method, of_jdk);
  arena::SubgraphInfo& info = arena_.header().subgraph;
  if (seen_methods_.insert(selected.id).second)
    ++(selected.role == SubgraphRole::kFollowed ? info.followed : info.methods);
  const std::uint16_t line = code.line_at(Pc(0)).value_or(0);
  registry_.add_method(
      selected.id, classes_[current_class_].record, method, 0,
      {.is_leaf = false, .constant_bytecodes = 0, .first_line = line, .sites = {{.pc = 0, .line = line}}});
}

std::vector<SubgraphPlan::Probe> SubgraphPlan::probes_at(const Code& code, Instruction insn) {
  std::vector<Probe> probes;
  std::uint32_t key = insn.pc().value() * kMostProbes;
  for (SiteCall& call : calls_at(code, insn)) {
    if (const auto probe = probe_of(key++, std::move(call))) probes.push_back(*probe);
  }
  return probes;
}

std::optional<SubgraphPlan::Probe> SubgraphPlan::probe_of(std::uint32_t key, SiteCall call) {
  const std::uint32_t depth = call.kind == Kind::kPassed ? call.passed.depth
                              : call.kind == Kind::kBound
                                  ? 0
                                  : instrument::receiver_depth(call.opcode, call.callee.descriptor);
  if (const auto known = current_->sites.find(key); known != current_->sites.end()) {
    const bool is_settled = may_sites_ask_ && call.kind == Kind::kBound && site_bytes_[known->second] == 0;
    return is_settled ? std::nullopt : std::optional(Probe{known->second, call.kind, depth});
  }
  if (sites_.size() >= kMaxSites) return std::nullopt;
  const Probe probe{.number = static_cast<std::uint32_t>(sites_.size()), .kind = call.kind, .depth = depth};
  site_bytes_[probe.number] = may_sites_ask_ ? 1 : 0;
  current_->sites.emplace(key, probe.number);
  sites_.push_back(std::move(call));
  return probe;
}

std::vector<SiteCall> SubgraphPlan::calls_at(const Code& code, Instruction insn) const {
  const MemberRef callee = code.owner().pool().member(insn.pool_index());
  SiteCall call{.caller = current_class_,
                .opcode = insn.opcode(),
                .kind = kind_of(insn.opcode(), callee),
                .callee = {std::string(callee.class_name), std::string(callee.name), std::string(callee.descriptor)}};
  if (call.opcode == Opcode::invokedynamic) call.made = methods_made(code.owner(), insn.pool_index());
  std::vector<SiteCall> calls;
  if (is_of_interest(call)) calls.push_back(call);
  if (options_.jdk != JdkMethods::kOpaque) return calls;
  call.kind = Kind::kPassed;
  for (PassedObject& passed : objects_passed_to_jdk(call.callee)) {
    call.passed = std::move(passed);
    calls.push_back(call);
  }
  return calls;
}

bool SubgraphPlan::is_of_interest(const SiteCall& call) const {
  if (call.opcode == Opcode::invokedynamic) return !call.made.empty();
  const std::string& owner = call.callee.class_name;
  if (owner.starts_with("[") || (owner == "java/lang/Object" && call.callee.name == "<init>")) return false;
  if (options_.jdk != JdkMethods::kOpaque || !is_named_like_jdk(owner)) return true;
  const bool is_bound = call.opcode == Opcode::invokestatic || call.opcode == Opcode::invokespecial;
  return !is_bound && !is_final_in_jdk(owner);
}

void SubgraphPlan::count_failure(const Error& error) {
  switch (error.code) {
    case ErrorCode::kTooLarge: return arena_.count(Counter::kMethodsTooLarge);
    case ErrorCode::kUnsupported: return arena_.count(Counter::kClassesUnsupported);
    default: return arena_.count(Counter::kClassesMalformed);
  }
}

}  // namespace sonde::agent
