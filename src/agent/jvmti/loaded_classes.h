// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. The classes that the JVM has loaded, with their places in the hierarchy and
// their methods: what class hierarchy analysis needs. A class has a key, which is its JVMTI tag; a class that is
// unloaded keeps its key, and its jclass is null from then on.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::agent {

using ClassKey = std::uint32_t;  // 0: none

struct DeclaredMethod {
  std::string name;
  std::string descriptor;
  jint access_flags;
  jmethodID id;
};

struct LoadedClass {
  std::string name;  // internal; of a hidden class with a dot in it
  ClassKey super = 0;
  std::vector<ClassKey> interfaces;
  bool is_of_jdk = false;
  bool is_modifiable = false;
  bool is_interface = false;
  jweak reference = nullptr;
  bool has_methods = false;  // those that follow were asked for
  std::vector<DeclaredMethod> methods;
};

class LoadedClasses {
 public:
  explicit LoadedClasses(jvmtiEnv* jvmti) : jvmti_(jvmti), classes_(1) {}

  void set_platform_loader(jobject loader) { platform_loader_ = loader; }  // a global reference
  // Gives back all references; nothing comes after this.
  void release(JNIEnv* jni);

  // A class that is prepared at least; with its superclasses and interfaces. 0 for arrays and primitives.
  ClassKey add(JNIEnv* jni, jclass cls);
  void add_all(JNIEnv* jni);
  [[nodiscard]] ClassKey key_of(jclass cls) const;

  [[nodiscard]] const LoadedClass& operator[](ClassKey key) const { return classes_[key]; }
  [[nodiscard]] ClassKey last() const { return static_cast<ClassKey>(classes_.size() - 1); }
  [[nodiscard]] std::vector<ClassKey> named(std::string_view name) const;
  // A local reference; null if it was unloaded.
  jclass reference(JNIEnv* jni, ClassKey key) const;

  const std::vector<DeclaredMethod>& methods_of(JNIEnv* jni, ClassKey key);
  [[nodiscard]] bool is_subtype(ClassKey cls, ClassKey of) const;

  // Whether a superclass of the JDK, other than Object, has such a method, or an interface of the JDK that is there to
  // be called back.
  bool overrides_jdk(JNIEnv* jni, ClassKey cls, const DeclaredMethod& method);

  // The method that a call of this name on an object of this class runs, and where it is declared. Null if there is
  // none.
  struct Found {
    ClassKey cls = 0;
    const DeclaredMethod* method = nullptr;
  };
  Found find(JNIEnv* jni, ClassKey cls, std::string_view name, std::string_view descriptor);
  // All methods with code that such a call on an object of `owner` or a class below may run.
  std::vector<Found> implementations(JNIEnv* jni, ClassKey owner, std::string_view name, std::string_view descriptor);

 private:
  const DeclaredMethod* declared(JNIEnv* jni, ClassKey cls, std::string_view name, std::string_view descriptor);
  // With one abstract method or two: Comparator or Iterator, not List.
  bool is_for_callbacks(JNIEnv* jni, ClassKey interface);
  Found find_default(JNIEnv* jni, ClassKey cls, std::string_view name, std::string_view descriptor);

  jvmtiEnv* jvmti_;
  jobject platform_loader_ = nullptr;
  std::vector<LoadedClass> classes_;  // by key
  std::unordered_multimap<std::string, ClassKey> by_name_;
};

}  // namespace sonde::agent
