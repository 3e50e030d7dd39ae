// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/frozen_fields.h"

namespace sonde::agent {
namespace {

// Offsets of fields in objects; the JDK's own Unsafe knows them.
class FieldOffsets {
 public:
  explicit FieldOffsets(JNIEnv* jni) : jni_(jni), unsafe_class_(jni->FindClass("jdk/internal/misc/Unsafe")) {
    const jmethodID get = jni->GetStaticMethodID(unsafe_class_, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
    unsafe_ = jni->CallStaticObjectMethod(unsafe_class_, get);
    offset_of_ = jni->GetMethodID(unsafe_class_, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
  }

  std::uint32_t operator()(const char* class_name, const char* field) {
    const jclass cls = jni_->FindClass(class_name);
    const jstring name = cls == nullptr ? nullptr : jni_->NewStringUTF(field);
    const jlong offset = name == nullptr ? 0 : jni_->CallLongMethod(unsafe_, offset_of_, cls, name);
    if (jni_->ExceptionCheck() != JNI_FALSE) jni_->ExceptionClear();
    if (offset <= 0) is_complete_ = false;
    return static_cast<std::uint32_t>(offset);
  }
  [[nodiscard]] bool is_complete() const { return is_complete_; }

 private:
  JNIEnv* jni_;
  jclass unsafe_class_;
  jobject unsafe_;
  jmethodID offset_of_;
  bool is_complete_ = true;
};

}  // namespace

hotspot::FrozenLayout find_frozen_fields(JNIEnv* jni, const hotspot::VmStructs& structs) {
  hotspot::FrozenLayout layout = hotspot::find_frozen_layout(structs);
  layout.is_known = layout.is_known && jni->PushLocalFrame(32) == JNI_OK;
  if (!layout.is_known) return layout;
  FieldOffsets offset_of(jni);
  layout.thread_continuation = offset_of("java/lang/Thread", "cont");
  layout.continuation_parent = offset_of("jdk/internal/vm/Continuation", "parent");
  layout.continuation_tail = offset_of("jdk/internal/vm/Continuation", "tail");
  layout.chunk_parent = offset_of("jdk/internal/vm/StackChunk", "parent");
  layout.chunk_size = offset_of("jdk/internal/vm/StackChunk", "size");
  layout.chunk_sp = offset_of("jdk/internal/vm/StackChunk", "sp");
  layout.chunk_bottom = offset_of("jdk/internal/vm/StackChunk", "bottom");
  jni->PopLocalFrame(nullptr);
  layout.is_known = offset_of.is_complete();
  return layout;
}

hotspot::ParkLayout find_park_fields(JNIEnv* jni, const hotspot::VmStructs& structs, const hotspot::Layout& known) {
  hotspot::ParkLayout layout = hotspot::find_park_layout(structs, known);
  if (!layout.is_known || jni->PushLocalFrame(16) != JNI_OK) return {};
  FieldOffsets offset_of(jni);
  layout.park_blocker = offset_of("java/lang/Thread", "parkBlocker");
  jni->PopLocalFrame(nullptr);
  layout.is_known = offset_of.is_complete();
  return layout;
}

}  // namespace sonde::agent
