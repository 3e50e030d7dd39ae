// SPDX-License-Identifier: Apache-2.0
// How a user-written agent gets into the JVM, and the native methods of org.sonde.api.AgentThread.
#include <algorithm>
#include <iterator>

#include "agent/jvmti/runtime_classes.h"
#include "agent/jvmti/user_agent.h"

namespace sonde::agent {
namespace {

UserAgent* g_user_agent = nullptr;  // for the natives, which the JVM calls without saying for whom

std::string text_of(JNIEnv* jni, jstring string) {
  const char* chars = string == nullptr ? nullptr : jni->GetStringUTFChars(string, nullptr);
  if (chars == nullptr) return "";
  std::string text(chars);
  jni->ReleaseStringUTFChars(string, chars);
  return text;
}

// What Throwable.toString() says of the exception that is pending, which is cleared.
std::string take_exception(JNIEnv* jni) {
  const jthrowable thrown = jni->ExceptionOccurred();
  jni->ExceptionClear();
  if (thrown == nullptr) return "";
  const jmethodID to_string = jni->GetMethodID(jni->GetObjectClass(thrown), "toString", "()Ljava/lang/String;");
  const auto text = static_cast<jstring>(jni->CallObjectMethod(thrown, to_string));
  jni->ExceptionClear();
  return text_of(jni, text);
}

jobjectArray strings(JNIEnv* jni, const std::vector<std::string>& texts) {
  const jobjectArray array =
      jni->NewObjectArray(static_cast<jsize>(texts.size()), jni->FindClass("java/lang/String"), nullptr);
  if (array == nullptr) return nullptr;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const jstring text = jni->NewStringUTF(texts[i].c_str());
    jni->SetObjectArrayElement(array, static_cast<jsize>(i), text);
    jni->DeleteLocalRef(text);
  }
  return array;
}

jlongArray JNICALL callees_of(JNIEnv* jni, jclass, jlong tree, jlong node) {
  const std::vector<TreeView::Callee> callees = g_user_agent->callees(tree, node);
  std::vector<jlong> numbers;
  for (const TreeView::Callee& callee : callees) {
    for (const std::uint64_t number : {callee.record, callee.node, std::uint64_t{callee.method_id},
                                       std::uint64_t{callee.line}, callee.calls, callee.bytecodes})
      numbers.push_back(static_cast<jlong>(number));
  }
  const jlongArray array = jni->NewLongArray(static_cast<jsize>(numbers.size()));
  if (array != nullptr) jni->SetLongArrayRegion(array, 0, static_cast<jsize>(numbers.size()), numbers.data());
  return array;
}

jobjectArray JNICALL describe(JNIEnv* jni, jclass, jint id) {
  const MethodNames::Method* method = g_user_agent->names().find(static_cast<std::uint32_t>(id));
  if (method == nullptr) return strings(jni, {"(unknown)", "(unknown)", "()V"});
  std::string class_name = method->class_name;
  std::ranges::replace(class_name, '/', '.');
  return strings(jni, {class_name, method->name, method->descriptor});
}

jboolean JNICALL open_tree(JNIEnv*, jclass, jlong tree) { return g_user_agent->open(tree) ? JNI_TRUE : JNI_FALSE; }

jlong JNICALL rest_of(JNIEnv* jni, jclass, jobject thread) { return g_user_agent->unreported(jni, thread); }

void JNICALL agent_failed(JNIEnv* jni, jclass, jstring what) { g_user_agent->failed(text_of(jni, what)); }

void JNICALL finish_agent(JNIEnv*, jclass) { g_user_agent->finish(); }

template <typename Function>
JNINativeMethod native(const char* name, const char* descriptor, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(descriptor), reinterpret_cast<void*>(function)};
}

}  // namespace

bool UserAgent::bind_natives(JNIEnv* jni) {
  g_user_agent = this;
  const JNINativeMethod natives[] = {native("callees", "(JJ)[J", callees_of),
                                     native("describe", "(I)[Ljava/lang/String;", describe),
                                     native("open", "(J)Z", open_tree),
                                     native("rest", "(Ljava/lang/Thread;)J", rest_of),
                                     native("failed", "(Ljava/lang/String;)V", agent_failed),
                                     native("finish", "()V", finish_agent)};
  return jni->RegisterNatives(java_, natives, static_cast<jint>(std::size(natives))) == JNI_OK;
}

bool UserAgent::find_methods(JNIEnv* jni) {
  bool has_all = true;
  const auto find = [&](const char* name, const char* descriptor) {
    const jmethodID found = has_all ? jni->GetStaticMethodID(java_, name, descriptor) : nullptr;
    has_all = found != nullptr;
    return found;
  };
  methods_ = {.start = find("start", "(Ljava/lang/String;Z)Ljava/lang/String;"),
              .register_sampled = find("registerSampled", "(Ljava/lang/Thread;)J"),
              .sample = find("sample", "(Ljava/lang/Thread;[IIJ)J"),
              .end_sampled = find("endSampled", "(Ljava/lang/Thread;J)J"),
              .register_counted = find("registerCounted", "(Ljava/lang/Thread;J)J"),
              .report = find("report", "(Ljava/lang/Thread;[J)J"),
              .end_counted = find("endCounted", "(Ljava/lang/Thread;)J"),
              .shutdown = find("shutdown", "()V")};
  return has_all;
}

// sonde-api.jar first, then what the user gave, separated by colons.
jobject UserAgent::make_loader(JNIEnv* jni, jclass agents) const {
  std::vector<std::string> paths = {options_.agent_api};
  for (std::size_t begin = 0; begin <= options_.agent_path.size();) {
    const std::size_t end = std::min(options_.agent_path.find(':', begin), options_.agent_path.size());
    if (end > begin) paths.push_back(options_.agent_path.substr(begin, end - begin));
    begin = end + 1;
  }
  const jmethodID loader = jni->GetStaticMethodID(agents, "loader", "([Ljava/lang/String;)Ljava/lang/ClassLoader;");
  return loader == nullptr ? nullptr : jni->CallStaticObjectMethod(agents, loader, strings(jni, paths));
}

bool UserAgent::load_api(JNIEnv* jni) {
  const jclass agents =
      jni->DefineClass("java/lang/SondeAgents", nullptr, reinterpret_cast<const jbyte*>(kSondeAgentsClass),
                       static_cast<jsize>(sizeof kSondeAgentsClass));
  if (agents == nullptr) return false;
  const jobject loader = make_loader(jni, agents);
  if (loader == nullptr) return false;
  loader_ = jni->NewGlobalRef(loader);
  const jmethodID load = jni->GetStaticMethodID(agents, "load", "(Ljava/lang/ClassLoader;)Ljava/lang/Class;");
  const jobject java = load == nullptr ? nullptr : jni->CallStaticObjectMethod(agents, load, loader);
  const jintArray stack = java == nullptr ? nullptr : jni->NewIntArray(kMostFrames);
  if (stack == nullptr) return false;
  java_ = static_cast<jclass>(jni->NewGlobalRef(java));
  stack_ = static_cast<jintArray>(jni->NewGlobalRef(stack));
  return find_methods(jni) && bind_natives(jni);
}

bool UserAgent::load(JNIEnv* jni) {
  if (!load_api(jni)) {
    switch_off("cannot be loaded: " + take_exception(jni));
    return false;
  }
  const auto problem = static_cast<jstring>(
      jni->CallStaticObjectMethod(java_, methods_.start, jni->NewStringUTF(options_.agent_class.c_str()),
                                  static_cast<jint>(options_.sampling.is_on() ? JNI_TRUE : JNI_FALSE)));
  if (problem != nullptr) switch_off(text_of(jni, problem));
  return problem == nullptr;
}

bool UserAgent::is_loader(JNIEnv* jni, jobject loader) const {
  return loader_ != nullptr && loader != nullptr && jni->IsSameObject(loader, loader_) != JNI_FALSE;
}

}  // namespace sonde::agent
