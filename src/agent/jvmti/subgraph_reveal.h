// SPDX-License-Identifier: Apache-2.0
// Context: [agent], under the lock of its owner. Reveals a call subgraph (papers/003, section 6): which methods are to
// be instrumented next, by two schemes.
//
//   lazy (B)   the callee of a call site, when the site is met inside the subgraph for the first time; where the callee
//              depends on the receiver, that of each receiver's class as it comes
//   eager (A)  whatever may be reached from the roots, by class hierarchy analysis of the classes that are loaded
//
// The paper's scheme B takes all callees that a method may have when it is first entered; asking at the call leaves out
// what is never called. Each change of classes stops the program, so what the JVM has seen a method call before goes
// with it (SubgraphOptions::ahead). Classes that are not loaded yet are waited for; with those that come later,
// overridden methods are looked at again.
#pragma once

#include <jvmti.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent/jvmti/loaded_classes.h"
#include "agent/session/options.h"
#include "agent/session/subgraph_plan.h"
#include "agent/vm/hotspot/call_profile.h"

namespace sonde::agent {

class SubgraphReveal {
 public:
  SubgraphReveal(jvmtiEnv* jvmti, SubgraphPlan& plan, const Options& options)
      : jvmti_(jvmti),
        plan_(plan),
        options_(options),
        classes_(jvmti),
        profiles_(find_profiles(options.subgraph)),
        goes_beyond_roots_(!options.subgraph.begins_bare()) {}

  [[nodiscard]] LoadedClasses& classes() { return classes_; }

  // All loaded classes: roots among their methods.
  void find_roots(JNIEnv* jni);
  // What roots call, if it was left alone so far (SubgraphOptions::begins_bare).
  void go_beyond_roots(JNIEnv* jni);
  // A class that has been prepared; nothing of it has run yet.
  void add_class(JNIEnv* jni, jclass cls);
  // A call site is met; `receiver` may be null.
  void meet(JNIEnv* jni, std::uint32_t site, jclass receiver);
  // A method is about to be called by reflection or through a handle, or by native code; `receiver` may be unknown.
  enum class By : std::uint8_t { kHandle, kNative };
  void meet(JNIEnv* jni, jmethodID method, jclass receiver, By by);

  // Classes that have something new to be instrumented, since the last time, in the order in which they are to be
  // changed; until they are changed.
  std::vector<ClassKey> take_changed();
  void changed() { in_change_.clear(); }
  [[nodiscard]] bool has_changed() const { return !changed_.empty(); }
  // Whether what was met last is worth waiting for: methods that are not instrumented yet, but not of the JDK, whose
  // code may run while classes are loaded, which changing classes may have to wait for.
  enum class Urgency : std::uint8_t { kNone, kInChange, kNext };
  [[nodiscard]] Urgency urgency() const { return urgency_; }
  [[nodiscard]] bool has_roots() const { return !found_roots_.empty(); }
  // Patterns of roots without a method so far.
  [[nodiscard]] std::size_t missing_roots() const { return options_.subgraph.roots.size() - found_roots_.size(); }

 private:
  struct Overridable {
    ClassKey owner;
    std::string name;
    std::string descriptor;
  };
  struct Awaited {
    NamedMethod method;
    bool is_bound;
  };
  struct KnownCall {
    NamedMethod callee;
    bool is_bound;
    std::vector<std::string> receivers;  // names of their classes
  };
  struct Selected {
    ClassKey cls;
    jmethodID method;
    std::uint32_t levels_ahead;  // of what was met
  };

  void find_roots_in(JNIEnv* jni, ClassKey key);
  [[nodiscard]] bool may_have_roots(std::string_view class_name) const;
  // A class that comes: its methods may be what calls run that were met before.
  void override_with(JNIEnv* jni, ClassKey cls);
  [[nodiscard]] bool is_eager() const { return options_.subgraph.scheme == arena::SubgraphScheme::kEager; }
  void select(JNIEnv* jni, const LoadedClasses::Found& found);
  // To be changed, which makes the JVM forget what it knew of the calls of all its methods.
  void mark(JNIEnv* jni, ClassKey key);
  void wait_for(ClassKey key);  // unless it is of the JDK
  void await(ClassKey key);
  // Code that has inlined methods through handles goes when the next classes are changed (kInlinedWithHandles).
  void renew_code_with_handles();
  // Statically bound: the class by its name.
  void call_bound(JNIEnv* jni, const NamedMethod& method);
  void call_on(JNIEnv* jni, ClassKey receiver, const NamedMethod& method);
  // The JDK may call methods of an object where it is not followed: of one that is made, those of classes of the JDK
  // and of interfaces that are for nothing else; of one that it is given, those of the parameter.
  void await_callbacks(JNIEnv* jni, ClassKey cls);
  void pass(JNIEnv* jni, ClassKey cls, const SiteCall& call);
  // Methods of a class of the JDK and all that it inherits, as an object of this class has them.
  void call_all_of(JNIEnv* jni, ClassKey type, ClassKey receiver);
  // Whatever a virtual call may run.
  void call_any(JNIEnv* jni, const NamedMethod& method);
  void call_any(JNIEnv* jni, ClassKey owner, std::string_view name, std::string_view descriptor);
  // What a method calls, by its bytecode as the JVM has it: of classes that cannot be changed, and for the eager
  // scheme.
  void call_callees_of(JNIEnv* jni, ClassKey cls, jmethodID method);
  // What it called before anybody looked, as far as the JVM knew.
  void call_known_of(JNIEnv* jni, const Selected& caller);
  void remember_calls_of(JNIEnv* jni, ClassKey cls);
  // The bodies of lambdas in a method, by javac's names for them: the JVM does not show what invokedynamic refers to.
  void call_lambdas_of(JNIEnv* jni, ClassKey cls, jmethodID method);
  void expand(JNIEnv* jni);

  static std::optional<hotspot::CallProfiles> find_profiles(const SubgraphOptions& options);

  jvmtiEnv* jvmti_;
  SubgraphPlan& plan_;
  const Options& options_;
  LoadedClasses classes_;
  std::optional<hotspot::CallProfiles> profiles_;
  std::unordered_map<jmethodID, std::vector<KnownCall>> known_calls_;  // of methods that nobody has asked for
  std::unordered_set<ClassKey> remembered_;                            // classes whose methods' calls were noted
  std::unordered_set<jmethodID> met_;                                  // selected, and not only ahead
  std::unordered_set<jmethodID> met_by_handle_;
  bool goes_beyond_roots_;
  std::uint32_t levels_ahead_ = 0;  // of what is being selected
  std::unordered_set<ClassKey> changed_;
  std::unordered_set<ClassKey> in_change_;
  Urgency urgency_ = Urgency::kNone;
  std::unordered_set<std::string> found_roots_;
  std::unordered_map<std::string, std::vector<Awaited>> awaited_;          // by the name of a class that is not loaded
  std::unordered_map<std::string, std::vector<Overridable>> overridable_;  // by name and descriptor
  // What call_any has seen, by owner, name and descriptor: the classes of what it may run.
  std::unordered_map<std::string, std::vector<ClassKey>> any_called_;
  std::unordered_set<ClassKey> in_scan_;  // hidden classes whose callees are being looked at
  std::unordered_set<ClassKey> made_;     // those that await_callbacks has seen
  std::vector<Selected> to_expand_;
};

}  // namespace sonde::agent
