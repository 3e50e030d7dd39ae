// SPDX-License-Identifier: Apache-2.0
// An agent that writes a line for each method of each loaded class, its name and its bytecode as the JVM has it, and
// for each class one with "pool", its name and the size of its constant pool, into the file that is its argument:
//   jcmd PID JVMTI.agent_load /path/libbytecode_dump.so /path/out
#include <jni.h>
#include <jvmti.h>

#include <cstdio>
#include <string>

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

void dump_class(jvmtiEnv* jvmti, jclass cls, std::FILE* out) {
  char* signature = nullptr;
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti->GetClassSignature(cls, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  jint entries = 0;
  jint pool_size = 0;
  unsigned char* pool = nullptr;
  if (jvmti->GetConstantPool(cls, &entries, &pool_size, &pool) == JVMTI_ERROR_NONE) {
    std::fprintf(out, "pool %s %d\n", signature, entries);
    jvmti->Deallocate(pool);
  }
  if (jvmti->GetClassMethods(cls, &count, &methods) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) dump_method(jvmti, signature, methods[i], out);
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(methods));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  jvmtiEnv* jvmti = nullptr;
  jvmtiCapabilities wanted{};
  wanted.can_get_bytecodes = 1;
  wanted.can_get_constant_pool = 1;
  std::FILE* out = std::fopen(options, "w");
  if (out == nullptr || vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK ||
      jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) {
    return JNI_ERR;
  }
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return JNI_ERR;
  for (jint i = 0; i < count; ++i) dump_class(jvmti, classes[i], out);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  jvmti->DisposeEnvironment();
  std::fclose(out);
  return JNI_OK;
}
