// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/subgraph_reveal.h"

#include <algorithm>

#include "agent/jvmti/class_batches.h"
#include "agent/session/untouched_classes.h"
#include "base/glob.h"
#include "base/method_filter.h"
#include "classfile/constant_pool.h"
#include "classfile/instruction.h"

namespace sonde::agent {

using classfile::Opcode;
using instrument::SubgraphRole;

namespace {

constexpr jint kWithoutCode = 0x0100 | 0x0400;  // native, abstract
constexpr jint kNotVirtual = 0x0002 | 0x0008;   // private, static

// How far Ahead::kNear goes: so many calls deep, by calls that are made this part as often as the most frequent one.
constexpr std::uint32_t kNear = 2;
constexpr std::uint64_t kFrequent = 2;

std::string_view without_package(std::string_view class_name) { return class_name.substr(class_name.rfind('/') + 1); }

bool is_bound(Opcode opcode) { return opcode == Opcode::invokestatic || opcode == Opcode::invokespecial; }

// The constant pool of a class as the JVM gives it, in class file form. Takes the local reference.
struct PoolOfClass {
  PoolOfClass(JNIEnv* jni, jvmtiEnv* jvmti, jclass cls) {
    jint count = 0;
    jint size = 0;
    unsigned char* given = nullptr;
    if (cls == nullptr) return;
    const jvmtiError error = jvmti->GetConstantPool(cls, &count, &size, &given);
    jni->DeleteLocalRef(cls);
    if (error != JVMTI_ERROR_NONE) return;
    bytes.resize(2 + static_cast<std::size_t>(size));
    store_u2(bytes.data(), static_cast<std::uint16_t>(count));
    std::copy(given, given + size, bytes.begin() + 2);
    jvmti->Deallocate(given);
    ByteReader reader(bytes);
    is_readable = pool.parse(bytes, reader).ok();
  }

  std::vector<std::uint8_t> bytes;
  classfile::ConstantPool pool;
  bool is_readable = false;
};

// use(Instruction, NamedMethod) for each call in the code of a method of this class.
template <typename Use>
void for_each_call(const PoolOfClass& of, Bytes code, Use&& use) {
  for (std::uint32_t pc = 0; of.is_readable && pc < code.size();) {
    const classfile::Instruction insn(code.data(), pc);
    pc = insn.next_pc().value();
    if (!classfile::is_invoke(insn.opcode())) continue;
    const classfile::MemberRef callee = of.pool.member(insn.pool_index());
    if (callee.name == "<init>" && callee.class_name == "java/lang/Object") continue;
    use(insn, NamedMethod{std::string(callee.class_name), std::string(callee.name), std::string(callee.descriptor)});
  }
}

std::vector<std::uint8_t> bytecodes_of(jvmtiEnv* jvmti, jmethodID method) {
  jint size = 0;
  unsigned char* bytes = nullptr;
  if (jvmti->GetBytecodes(method, &size, &bytes) != JVMTI_ERROR_NONE) return {};
  std::vector<std::uint8_t> code(bytes, bytes + size);
  jvmti->Deallocate(bytes);
  return code;
}

}  // namespace

std::optional<hotspot::CallProfiles> SubgraphReveal::find_profiles(const SubgraphOptions& options) {
  if (options.ahead == Ahead::kOff || options.scheme != arena::SubgraphScheme::kLazy) return std::nullopt;
  auto found = hotspot::CallProfiles::find(hotspot::VmStructs::load());
  return found.ok() ? std::optional(*found) : std::nullopt;
}

bool SubgraphReveal::may_have_roots(std::string_view class_name) const {
  const std::string_view simple = without_package(class_name);
  return std::ranges::any_of(options_.subgraph.roots, [&](const std::string& pattern) {
    const std::string_view cls = std::string_view(pattern).substr(0, pattern.find_last_of("./"));
    return class_name_matches(pattern, class_name) || class_name_matches(pattern, simple) ||
           class_name_matches(cls, class_name) || class_name_matches(cls, simple);
  });
}

void SubgraphReveal::find_roots(JNIEnv* jni) {
  classes_.add_all(jni);
  for (ClassKey key = 1; key <= classes_.last(); ++key) find_roots_in(jni, key);
  expand(jni);
  if (has_changed()) renew_code_with_handles();
}

void SubgraphReveal::go_beyond_roots(JNIEnv* jni) {
  goes_beyond_roots_ = true;
  // They have run since they were changed.
  for (const ClassKey key : remembered_) remember_calls_of(jni, key);
  expand(jni);
  // Where it takes handles to, the eager scheme does not see.
  if (is_eager() && has_changed()) renew_code_with_handles();
}

void SubgraphReveal::find_roots_in(JNIEnv* jni, ClassKey key) {
  const std::string name = classes_[key].name;
  if (!classes_[key].is_modifiable || is_never_touched(name) || !may_have_roots(name)) return;
  for (const DeclaredMethod& method : classes_.methods_of(jni, key)) {
    if ((method.access_flags & kWithoutCode) != 0) continue;
    for (const std::string& pattern : options_.subgraph.roots) {
      if (!method_matches(pattern, name, method.name)) continue;
      found_roots_.insert(pattern);
      if (plan_.select(key, method.name, method.descriptor, SubgraphRole::kRoot)) {
        mark(jni, key);
        to_expand_.push_back({key, method.id, 0});
      }
    }
  }
}

void SubgraphReveal::add_class(JNIEnv* jni, jclass cls) {
  urgency_ = Urgency::kNone;
  const ClassKey key = classes_.add(jni, cls);
  if (key == 0) return;
  find_roots_in(jni, key);
  wait_for(key);
  if (const auto it = awaited_.find(classes_[key].name); it != awaited_.end()) {
    const std::vector<Awaited> awaited = std::move(it->second);
    awaited_.erase(it);
    for (const auto& [method, is_bound] : awaited) {
      if (is_bound) {
        call_on(jni, key, method);
      } else {
        call_any(jni, key, method.name, method.descriptor);
      }
    }
  }
  override_with(jni, key);
  expand(jni);
}

// What it inherits may become what a call runs, too: from a class that does not know the interface.
void SubgraphReveal::override_with(JNIEnv* jni, ClassKey cls) {
  if (overridable_.empty()) return;
  for (ClassKey owner = cls; owner != 0; owner = classes_[owner].super) {
    for (const DeclaredMethod& method : classes_.methods_of(jni, owner)) {
      const auto it = overridable_.find(method.name + method.descriptor);
      if (it == overridable_.end()) continue;
      const bool overrides =
          std::ranges::any_of(it->second, [&](const Overridable& o) { return classes_.is_subtype(cls, o.owner); });
      if (overrides) select(jni, {.cls = owner, .method = &method});
    }
  }
}

void SubgraphReveal::meet(JNIEnv* jni, std::uint32_t site, jclass receiver) {
  urgency_ = Urgency::kNone;
  const SiteCall call = plan_.call_at(site);
  const ClassKey key = receiver == nullptr ? 0 : classes_.add(jni, receiver);
  if (call.kind == instrument::CallSites::Kind::kPassed) {
    if (key != 0) pass(jni, key, call);
  } else if (call.opcode == Opcode::invokedynamic) {
    for (const NamedMethod& method : call.made) call_any(jni, method);
  } else if (key != 0) {
    call_on(jni, key, call.callee);
  } else if (is_bound(call.opcode)) {
    call_bound(jni, call.callee);
  } else if (call.kind == instrument::CallSites::Kind::kBound) {
    call_any(jni, call.callee);
  }
  expand(jni);
}

void SubgraphReveal::meet(JNIEnv* jni, jmethodID method, jclass receiver, By by) {
  urgency_ = Urgency::kNone;
  jclass declaring = nullptr;
  char* name = nullptr;
  char* descriptor = nullptr;
  if (jvmti_->GetMethodDeclaringClass(method, &declaring) != JVMTI_ERROR_NONE) return;
  const ClassKey key = classes_.add(jni, declaring);
  jni->DeleteLocalRef(declaring);
  if (key == 0 || jvmti_->GetMethodName(method, &name, &descriptor, nullptr) != JVMTI_ERROR_NONE) return;
  if (const ClassKey of = receiver == nullptr ? 0 : classes_.add(jni, receiver); of != 0) {
    call_on(jni, of, {"", name, descriptor});
  } else {
    call_any(jni, key, name, descriptor);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(name));
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(descriptor));
  expand(jni);
  const bool is_left_alone = classes_[key].is_of_jdk && options_.subgraph.jdk == JdkMethods::kOpaque;
  if (by == By::kHandle && !is_left_alone) {
    // It may have been instrumented before, by what else was met.
    if (met_by_handle_.insert(method).second) renew_code_with_handles();
    for (const ClassKey with : classes_.named(kInlinedWithHandles)) await(with);
  }
}

void SubgraphReveal::renew_code_with_handles() {
  for (const ClassKey key : classes_.named(kInlinedWithHandles)) changed_.insert(key);
}

std::vector<ClassKey> SubgraphReveal::take_changed() {
  std::vector<ClassKey> changed(changed_.begin(), changed_.end());
  std::ranges::partition(changed, [&](ClassKey key) { return classes_[key].name != kInlinedWithHandles; });
  in_change_ = std::move(changed_);
  changed_.clear();
  return changed;
}

void SubgraphReveal::wait_for(ClassKey key) {
  if (!classes_[key].is_of_jdk) await(key);
}

void SubgraphReveal::await(ClassKey key) {
  if (changed_.contains(key)) {
    urgency_ = Urgency::kNext;
  } else if (in_change_.contains(key) && urgency_ == Urgency::kNone) {
    urgency_ = Urgency::kInChange;
  }
}

void SubgraphReveal::select(JNIEnv* jni, const LoadedClasses::Found& found) {
  const LoadedClass& cls = classes_[found.cls];
  if ((found.method->access_flags & kWithoutCode) != 0) return;
  if (!cls.is_modifiable) {
    // A hidden class, as of a lambda: what it calls is what matters.
    if (!in_scan_.insert(found.cls).second) return;
    call_callees_of(jni, found.cls, found.method->id);
    in_scan_.erase(found.cls);
    return;
  }
  if (is_never_touched(cls.name)) return;
  const MethodFilter filter(options_.include, options_.exclude);
  if (!filter.accepts(cls.name, found.method->name)) return;
  if (cls.is_of_jdk && options_.subgraph.jdk == JdkMethods::kOpaque) return;
  const bool is_measured = !cls.is_of_jdk || options_.subgraph.jdk == JdkMethods::kMeasured;
  const bool is_new = plan_.select(found.cls, found.method->name, found.method->descriptor,
                                   is_measured ? SubgraphRole::kInner : SubgraphRole::kFollowed);
  if (is_new) mark(jni, found.cls);
  if (levels_ahead_ == 0) {
    // It may be known ahead, but what it calls is so only to some depth.
    if (met_.insert(found.method->id).second) to_expand_.push_back({found.cls, found.method->id, 0});
    wait_for(found.cls);
  } else if (is_new && (levels_ahead_ < kNear || options_.subgraph.ahead == Ahead::kFar)) {
    to_expand_.push_back({found.cls, found.method->id, levels_ahead_});
  }
}

void SubgraphReveal::call_bound(JNIEnv* jni, const NamedMethod& method) {
  const std::vector<ClassKey> keys = classes_.named(method.class_name);
  if (keys.empty()) awaited_[method.class_name].push_back({method, true});
  for (const ClassKey key : keys) call_on(jni, key, method);
}

void SubgraphReveal::call_on(JNIEnv* jni, ClassKey receiver, const NamedMethod& method) {
  const LoadedClasses::Found found = classes_.find(jni, receiver, method.name, method.descriptor);
  if (found.cls == 0) return;
  select(jni, found);
  const bool is_opaque = options_.subgraph.jdk == JdkMethods::kOpaque && !is_eager();
  if (is_opaque && method.name == "<init>" && !classes_[found.cls].is_of_jdk) await_callbacks(jni, found.cls);
}

void SubgraphReveal::await_callbacks(JNIEnv* jni, ClassKey cls) {
  if (!made_.insert(cls).second) return;
  for (const DeclaredMethod& method : classes_.methods_of(jni, cls)) {
    if ((method.access_flags & (kWithoutCode | kNotVirtual)) != 0 || method.name == "<init>") continue;
    if (classes_.overrides_jdk(jni, cls, method)) select(jni, {.cls = cls, .method = &method});
  }
}

void SubgraphReveal::pass(JNIEnv* jni, ClassKey cls, const SiteCall& call) {
  if (classes_[cls].is_of_jdk) return;
  if (call.passed.as == "java/lang/Object") {
    for (const NamedMethod& method : called_of_object(call.callee, call.passed.depth)) call_on(jni, cls, method);
    return;
  }
  for (const ClassKey type : classes_.named(call.passed.as)) call_all_of(jni, type, cls);
}

void SubgraphReveal::call_all_of(JNIEnv* jni, ClassKey type, ClassKey receiver) {
  if (type == 0 || classes_[type].name == "java/lang/Object") return;
  const std::vector<DeclaredMethod> methods = classes_.methods_of(jni, type);
  for (const DeclaredMethod& method : methods) {
    if ((method.access_flags & kNotVirtual) == 0 && !method.name.starts_with("<"))
      call_on(jni, receiver, {"", method.name, method.descriptor});
  }
  call_all_of(jni, classes_[type].super, receiver);
  const std::vector<ClassKey> interfaces = classes_[type].interfaces;
  for (const ClassKey interface : interfaces) call_all_of(jni, interface, receiver);
}

void SubgraphReveal::call_any(JNIEnv* jni, const NamedMethod& method) {
  const std::vector<ClassKey> keys = classes_.named(method.class_name);
  if (keys.empty()) awaited_[method.class_name].push_back({method, false});
  for (const ClassKey key : keys) call_any(jni, key, method.name, method.descriptor);
}

void SubgraphReveal::call_any(JNIEnv* jni, ClassKey owner, std::string_view name, std::string_view descriptor) {
  const std::string signature = std::string(name).append(descriptor);
  const std::string key = std::to_string(owner) + signature;
  if (const auto known = any_called_.find(key); known != any_called_.end()) {
    for (const ClassKey cls : known->second) wait_for(cls);
    return;
  }
  any_called_.emplace(key, std::vector<ClassKey>());
  std::vector<ClassKey> targets;
  for (const LoadedClasses::Found& found : classes_.implementations(jni, owner, name, descriptor)) {
    targets.push_back(found.cls);
    select(jni, found);
  }
  any_called_[key] = std::move(targets);
  overridable_[signature].push_back({owner, std::string(name), std::string(descriptor)});
}

void SubgraphReveal::call_callees_of(JNIEnv* jni, ClassKey cls, jmethodID method) {
  const PoolOfClass pool(jni, jvmti_, classes_.reference(jni, cls));
  for_each_call(pool, bytecodes_of(jvmti_, method), [&](classfile::Instruction call, const NamedMethod& callee) {
    if (call.opcode() == Opcode::invokedynamic) {
      call_lambdas_of(jni, cls, method);
    } else if (is_bound(call.opcode())) {
      call_bound(jni, callee);
    } else {
      call_any(jni, callee);
    }
  });
}

void SubgraphReveal::mark(JNIEnv* jni, ClassKey key) {
  changed_.insert(key);
  if (profiles_ && remembered_.insert(key).second) remember_calls_of(jni, key);
}

void SubgraphReveal::remember_calls_of(JNIEnv* jni, ClassKey cls) {
  const PoolOfClass pool(jni, jvmti_, classes_.reference(jni, cls));
  if (!pool.is_readable) return;  // unloaded
  for (const DeclaredMethod& method : classes_.methods_of(jni, cls)) {
    if ((method.access_flags & kWithoutCode) != 0) continue;
    const std::vector<std::uint8_t> code = bytecodes_of(jvmti_, method.id);
    const auto calls = profiles_->calls_of(reinterpret_cast<std::uint64_t>(method.id), code);
    if (calls.empty()) continue;
    const std::uint64_t most = std::ranges::max(calls, {}, &hotspot::ProfiledCall::count).count;
    const std::uint64_t least = options_.subgraph.ahead == Ahead::kFar ? 1 : most / kFrequent;
    std::vector<KnownCall> known;
    for_each_call(pool, code, [&](classfile::Instruction call, NamedMethod callee) {
      const auto profiled = std::ranges::find(calls, call.pc(), &hotspot::ProfiledCall::pc);
      if (profiled == calls.end() || profiled->count < least || call.opcode() == Opcode::invokedynamic) return;
      std::vector<std::string> receivers;
      for (const auto& [receiver, count] : profiled->receivers) {
        if (count >= least) receivers.push_back(profiles_->class_name(receiver));
      }
      known.push_back({std::move(callee), is_bound(call.opcode()), std::move(receivers)});
    });
    known_calls_[method.id] = std::move(known);
  }
}

void SubgraphReveal::call_known_of(JNIEnv* jni, const Selected& caller) {
  const auto known = known_calls_.find(caller.method);
  if (known == known_calls_.end()) return;
  const std::vector<KnownCall> calls = std::move(known->second);
  known_calls_.erase(known);
  levels_ahead_ = caller.levels_ahead + 1;
  for (const KnownCall& call : calls) {
    if (call.is_bound) call_bound(jni, call.callee);
    for (const std::string& receiver : call.receivers) {
      for (const ClassKey key : classes_.named(receiver)) call_on(jni, key, call.callee);
    }
  }
  levels_ahead_ = 0;
}

void SubgraphReveal::call_lambdas_of(JNIEnv* jni, ClassKey cls, jmethodID method) {
  const std::vector<DeclaredMethod>& methods = classes_.methods_of(jni, cls);
  const auto own = std::ranges::find(methods, method, &DeclaredMethod::id);
  if (own == methods.end()) return;
  const std::string prefix = "lambda$" + (own->name == "<clinit>" ? "static" : own->name) + "$";
  for (const DeclaredMethod& candidate : methods) {
    if (candidate.name.starts_with(prefix)) select(jni, {.cls = cls, .method = &candidate});
  }
}

// Goes on from what was selected until there is nothing new.
void SubgraphReveal::expand(JNIEnv* jni) {
  while (goes_beyond_roots_ && !to_expand_.empty()) {
    const Selected next = to_expand_.back();
    to_expand_.pop_back();
    if (is_eager()) {
      call_callees_of(jni, next.cls, next.method);
    } else {
      call_known_of(jni, next);
    }
  }
}

}  // namespace sonde::agent
