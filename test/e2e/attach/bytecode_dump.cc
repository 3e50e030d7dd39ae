// SPDX-License-Identifier: Apache-2.0
// An agent that writes a line for each method of each loaded class, its name and its bytecode as the JVM has it, and
// for each class one with "pool", its name and the size of its constant pool, into the file that is its argument:
//   jcmd PID JVMTI.agent_load /path/libbytecode_dump.so /path/out
// With "pools:/path/out" it leaves methods alone. Whoever asks for one has the JVM keep a table of the class's
// jmethodIDs, which JDK 25 enlarges with each change of the class and never makes smaller.
#include <jni.h>
#include <jvmti.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

void dump_method(jvmtiEnv* jvmti, const std::string& class_name, jmethodID method, std::FILE* out) {
  char* name = nullptr;
  char* descriptor = nullptr;
  jint size = 0;
  unsigned char* bytes = nullptr;
  if (jvmti->GetMethodName(method, &name, &descriptor, nullptr) != JVMTI_ERROR_NONE) return;
  if (jvmti->GetBytecodes(method, &size, &bytes) == JVMTI_ERROR_NONE) {
    std::fprintf(out, "%s.%s%s ", class_name.c_str(), name, descriptor);
    for (jint i = 0; i < size; ++i) std::fprintf(out, "%02x", bytes[i]);
    std::fputc('\n', out);
    jvmti->Deallocate(bytes);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(name));
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(descriptor));
}

void dump_methods(jvmtiEnv* jvmti, jclass cls, const std::string& class_name, std::FILE* out) {
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti->GetClassMethods(cls, &count, &methods) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) dump_method(jvmti, class_name, methods[i], out);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(methods));
}

void dump_class(jvmtiEnv* jvmti, jclass cls, bool with_methods, std::FILE* out) {
  char* signature = nullptr;
  if (jvmti->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  jint entries = 0;
  jint pool_size = 0;
  unsigned char* pool = nullptr;
  if (jvmti->GetConstantPool(cls, &entries, &pool_size, &pool) == JVMTI_ERROR_NONE) {
    std::fprintf(out, "pool %s %d\n", signature, entries);
    jvmti->Deallocate(pool);
  }
  if (with_methods) dump_methods(jvmti, cls, signature, out);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  jvmtiEnv* jvmti = nullptr;
  jvmtiCapabilities wanted{};
  wanted.can_get_bytecodes = 1;
  wanted.can_get_constant_pool = 1;
  constexpr std::string_view kPools = "pools:";
  const bool with_methods = !std::string_view(options).starts_with(kPools);
  std::FILE* out = std::fopen(with_methods ? options : options + kPools.size(), "w");
  if (out == nullptr || vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK ||
      jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return JNI_ERR;
  }
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return JNI_ERR;
  for (jint i = 0; i < count; ++i) dump_class(jvmti, classes[i], with_methods, out);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  jvmti->DisposeEnvironment();
  std::fclose(out);
  return JNI_OK;
}
