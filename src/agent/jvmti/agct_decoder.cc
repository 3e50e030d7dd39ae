// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/agct_decoder.h"

#include <algorithm>

namespace sonde::agent {
namespace {

// Text that JVMTI allocated.
class JvmtiText {
 public:
  explicit JvmtiText(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  ~JvmtiText() { jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_)); }
  JvmtiText(const JvmtiText&) = delete;
  JvmtiText& operator=(const JvmtiText&) = delete;

  char** out() { return &text_; }
  [[nodiscard]] std::string str() const { return text_ == nullptr ? "" : text_; }

 private:
  jvmtiEnv* jvmti_;
  char* text_ = nullptr;
};

// "java/util/HashMap" of "Ljava/util/HashMap;". Hidden classes are "Lapp/Main$$Lambda.0x17;": the JVM's own name.
std::string class_name_of(const std::string& signature) {
  return signature.size() > 2 && signature.front() == 'L' ? signature.substr(1, signature.size() - 2) : signature;
}

}  // namespace

MethodName AgctDecoder::name_of(jmethodID method) const {
  MethodName result;
  JvmtiText name(jvmti_);
  JvmtiText descriptor(jvmti_);
  jclass cls = nullptr;
  jint flags = 0;
  if (jvmti_->GetMethodName(method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE ||
      jvmti_->GetMethodDeclaringClass(method, &cls) != JVMTI_ERROR_NONE) {
    return result;
  }
  JvmtiText signature(jvmti_);
  JvmtiText source(jvmti_);
  jvmti_->GetClassSignature(cls, signature.out(), nullptr);
  jvmti_->GetSourceFileName(cls, source.out());
  if (jvmti_->GetMethodModifiers(method, &flags) == JVMTI_ERROR_NONE)
    result.access_flags = static_cast<std::uint16_t>(flags);
  // The threads that ask never return to Java, where the JVM would drop the reference: the class could not be unloaded.
  if (JNIEnv* jni = nullptr; vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK)
    jni->DeleteLocalRef(cls);
  result.class_name = class_name_of(signature.str());
  result.source_file = source.str();
  result.name = name.str();
  result.descriptor = descriptor.str();
  return result;
}

void AgctDecoder::prepare(jclass cls, bool may_be_unloaded) {
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti_->GetClassMethods(cls, &count, &methods) != JVMTI_ERROR_NONE) return;
  if (may_be_unloaded) {
    const std::lock_guard lock(mutex_);
    for (jint i = 0; i < count; ++i) resolve(methods[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(methods));
}

const AgctDecoder::Known& AgctDecoder::resolve(jmethodID method) {
  const auto [entry, is_new] = known_.try_emplace(reinterpret_cast<std::uint64_t>(method));
  Known& known = entry->second;
  if (!is_new) return known;
  MethodName name = name_of(method);
  jint count = 0;
  jvmtiLineNumberEntry* table = nullptr;
  if (jvmti_->GetLineNumberTable(method, &count, &table) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) {
      known.lines.push_back({.bci = static_cast<std::uint16_t>(table[i].start_location),
                             .line = static_cast<std::uint16_t>(table[i].line_number)});
    }
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(table));
    std::sort(known.lines.begin(), known.lines.end(), [](Line a, Line b) { return a.bci < b.bci; });
    if (!known.lines.empty()) name.first_line = known.lines.front().line;
  }
  if (name.name.empty()) {
    arena_.count(Counter::kFramesUnloaded);
    known.id = methods_.id_of_pseudo("[unloaded code]");
  } else {
    known.id = methods_.id_of(name);
  }
  return known;
}

void AgctDecoder::decode(const RawSample&, std::span<const RawFrame> entries, std::vector<StackFrame>& frames,
                         std::vector<std::uint16_t>& counts) {
  const std::lock_guard lock(mutex_);
  counts.insert(counts.end(), entries.size(), 1);
  for (const RawFrame& frame : entries) {
    const Known& known = resolve(reinterpret_cast<jmethodID>(frame.what));
    const auto bci = static_cast<std::int32_t>(frame.value() & 0xffffffff);
    std::uint16_t line = 0;
    if (bci >= 0) {
      const auto after = std::upper_bound(known.lines.begin(), known.lines.end(), bci,
                                          [](std::int32_t value, Line entry) { return value < entry.bci; });
      if (after != known.lines.begin()) line = std::prev(after)->line;
    }
    frames.push_back({.method_id = known.id, .line = line, .bci = static_cast<std::uint16_t>(bci < 0 ? 0 : bci)});
  }
}

}  // namespace sonde::agent
