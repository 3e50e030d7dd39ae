// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/loaded_classes.h"

#include <algorithm>

namespace sonde::agent {
namespace {

constexpr jint kAccStatic = 0x0008;
constexpr jint kNotOverridden = 0x0002 | kAccStatic | 0x0010;  // private, static, final
constexpr jint kAccNative = 0x0100;
constexpr jint kAccAbstract = 0x0400;

// JVMTI's memory as a string.
std::string taken(jvmtiEnv* jvmti, char* text) {
  if (text == nullptr) return "";
  std::string copy(text);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(text));
  return copy;
}

bool has_code(const DeclaredMethod& method) { return (method.access_flags & (kAccNative | kAccAbstract)) == 0; }

}  // namespace

void LoadedClasses::release(JNIEnv* jni) {
  for (const LoadedClass& cls : classes_) {
    if (cls.reference != nullptr) jni->DeleteWeakGlobalRef(cls.reference);
  }
  if (platform_loader_ != nullptr) jni->DeleteGlobalRef(platform_loader_);
  classes_.clear();
}

ClassKey LoadedClasses::key_of(jclass cls) const {
  jlong tag = 0;
  return jvmti_->GetTag(cls, &tag) == JVMTI_ERROR_NONE ? static_cast<ClassKey>(tag) : 0;
}

ClassKey LoadedClasses::add(JNIEnv* jni, jclass cls) {
  if (const ClassKey known = key_of(cls); known != 0) return known;
  char* signature = nullptr;
  if (jvmti_->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return 0;
  const std::string text = taken(jvmti_, signature);
  if (text.size() < 3 || text[0] != 'L') return 0;
  LoadedClass loaded;
  loaded.name = text.substr(1, text.size() - 2);
  jobject loader = nullptr;
  if (jvmti_->GetClassLoader(cls, &loader) != JVMTI_ERROR_NONE) return 0;
  loaded.is_of_jdk = loader == nullptr || jni->IsSameObject(loader, platform_loader_) != JNI_FALSE;
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  jboolean flag = JNI_FALSE;
  loaded.is_modifiable = jvmti_->IsModifiableClass(cls, &flag) == JVMTI_ERROR_NONE && flag != JNI_FALSE;
  loaded.is_interface = jvmti_->IsInterface(cls, &flag) == JVMTI_ERROR_NONE && flag != JNI_FALSE;
  if (const jclass super = jni->GetSuperclass(cls); super != nullptr) {
    loaded.super = add(jni, super);
    jni->DeleteLocalRef(super);
  }
  jint count = 0;
  jclass* interfaces = nullptr;
  if (jvmti_->GetImplementedInterfaces(cls, &count, &interfaces) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) {
      if (const ClassKey key = add(jni, interfaces[i]); key != 0) loaded.interfaces.push_back(key);
      jni->DeleteLocalRef(interfaces[i]);
    }
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(interfaces));
  }
  loaded.reference = jni->NewWeakGlobalRef(cls);
  const auto key = static_cast<ClassKey>(classes_.size());
  by_name_.emplace(loaded.name, key);
  classes_.push_back(std::move(loaded));
  jvmti_->SetTag(cls, key);
  return key;
}

void LoadedClasses::add_all(JNIEnv* jni) {
  jint count = 0;
  jclass* loaded = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &loaded) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    jint status = 0;
    if (jvmti_->GetClassStatus(loaded[i], &status) == JVMTI_ERROR_NONE && (status & JVMTI_CLASS_STATUS_PREPARED) != 0)
      add(jni, loaded[i]);
    jni->DeleteLocalRef(loaded[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(loaded));
}

std::vector<ClassKey> LoadedClasses::named(std::string_view name) const {
  std::vector<ClassKey> keys;
  const auto [begin, end] = by_name_.equal_range(std::string(name));
  for (auto it = begin; it != end; ++it) keys.push_back(it->second);
  return keys;
}

jclass LoadedClasses::reference(JNIEnv* jni, ClassKey key) const {
  return static_cast<jclass>(jni->NewLocalRef(classes_[key].reference));
}

const std::vector<DeclaredMethod>& LoadedClasses::methods_of(JNIEnv* jni, ClassKey key) {
  LoadedClass& cls = classes_[key];
  if (cls.has_methods) return cls.methods;
  const jclass reference = this->reference(jni, key);
  jint count = 0;
  jmethodID* ids = nullptr;
  if (reference == nullptr || jvmti_->GetClassMethods(reference, &count, &ids) != JVMTI_ERROR_NONE) return cls.methods;
  cls.has_methods = true;
  for (jint i = 0; i < count; ++i) {
    char* name = nullptr;
    char* descriptor = nullptr;
    jint flags = 0;
    if (jvmti_->GetMethodName(ids[i], &name, &descriptor, nullptr) != JVMTI_ERROR_NONE) continue;
    jvmti_->GetMethodModifiers(ids[i], &flags);
    cls.methods.push_back(
        {.name = taken(jvmti_, name), .descriptor = taken(jvmti_, descriptor), .access_flags = flags, .id = ids[i]});
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(ids));
  jni->DeleteLocalRef(reference);
  return cls.methods;
}

bool LoadedClasses::is_subtype(ClassKey cls, ClassKey of) const {
  for (; cls != 0; cls = classes_[cls].super) {
    if (cls == of) return true;
    const std::vector<ClassKey>& interfaces = classes_[cls].interfaces;
    if (std::ranges::any_of(interfaces, [&](ClassKey key) { return is_subtype(key, of); })) return true;
  }
  return false;
}

bool LoadedClasses::overrides_jdk(JNIEnv* jni, ClassKey cls, const DeclaredMethod& method) {
  const auto has_it = [&](ClassKey key) {
    return (classes_[key].is_of_jdk && classes_[key].name != "java/lang/Object" &&
            declared(jni, key, method.name, method.descriptor) != nullptr &&
            (!classes_[key].is_interface || is_for_callbacks(jni, key))) ||
           overrides_jdk(jni, key, method);
  };
  const ClassKey super = classes_[cls].super;
  const std::vector<ClassKey> interfaces = classes_[cls].interfaces;
  return (super != 0 && has_it(super)) || std::ranges::any_of(interfaces, has_it);
}

bool LoadedClasses::is_for_callbacks(JNIEnv* jni, ClassKey interface) {
  const auto is_asked_for = [](const DeclaredMethod& method) {
    return (method.access_flags & kAccAbstract) != 0 && method.name != "equals" && method.name != "hashCode";
  };
  return std::ranges::count_if(methods_of(jni, interface), is_asked_for) <= 2;
}

const DeclaredMethod* LoadedClasses::declared(JNIEnv* jni, ClassKey cls, std::string_view name,
                                              std::string_view descriptor) {
  for (const DeclaredMethod& method : methods_of(jni, cls)) {
    if (method.name == name && method.descriptor == descriptor) return &method;
  }
  return nullptr;
}

LoadedClasses::Found LoadedClasses::find(JNIEnv* jni, ClassKey cls, std::string_view name,
                                         std::string_view descriptor) {
  for (ClassKey key = cls; key != 0; key = classes_[key].super) {
    if (const DeclaredMethod* method = declared(jni, key, name, descriptor)) return {.cls = key, .method = method};
  }
  // The most specific one (JVMS 5.4.3.3).
  Found best;
  for (ClassKey key = cls; key != 0; key = classes_[key].super) {
    const Found found = find_default(jni, key, name, descriptor);
    if (found.cls != 0 && (best.cls == 0 || is_subtype(found.cls, best.cls))) best = found;
  }
  return best;
}

LoadedClasses::Found LoadedClasses::find_default(JNIEnv* jni, ClassKey cls, std::string_view name,
                                                 std::string_view descriptor) {
  Found best;
  const std::vector<ClassKey> interfaces = classes_[cls].interfaces;
  for (const ClassKey key : interfaces) {
    const DeclaredMethod* method = declared(jni, key, name, descriptor);
    const Found found = method != nullptr && has_code(*method) ? Found{.cls = key, .method = method}
                                                               : find_default(jni, key, name, descriptor);
    if (found.cls != 0 && (best.cls == 0 || is_subtype(found.cls, best.cls))) best = found;
  }
  return best;
}

std::vector<LoadedClasses::Found> LoadedClasses::implementations(JNIEnv* jni, ClassKey owner, std::string_view name,
                                                                 std::string_view descriptor) {
  std::vector<Found> found;
  if (const Found inherited = find(jni, owner, name, descriptor); inherited.cls != 0) {
    if (has_code(*inherited.method)) found.push_back(inherited);
    if (name.starts_with("<") || (inherited.method->access_flags & kNotOverridden) != 0) return found;
  }
  for (ClassKey key = 1; key <= last(); ++key) {
    if (key == owner || !is_subtype(key, owner)) continue;
    // It may be inherited from a class that is not below the owner.
    const Found own = find(jni, key, name, descriptor);
    if (own.cls == 0 || !has_code(*own.method) || (own.method->access_flags & kAccStatic) != 0) continue;
    if (std::ranges::find(found, own.cls, &Found::cls) == found.end()) found.push_back(own);
  }
  return found;
}

}  // namespace sonde::agent
