// SPDX-License-Identifier: Apache-2.0
// Where the JVM enters the agent: Agent_OnLoad and the JVMTI callbacks. The order of things in a JVM that starts:
//
//   Agent_OnLoad         capabilities, arena; from here on every class passes ClassFileLoadHook, the first one included
//   VMStart (early)      java.lang.SondeRT and SondeFlat are defined, before any bytecode runs
//   VMInit               natives are bound, a user-written agent is loaded, the gate SondeRT.on opens: counting begins
//   ThreadStart          exact:flat: the thread gets its block of counters
//   ThreadEnd            the thread's call tree or block goes back to the pool
//   VMDeath              the recording is marked complete
//
// If anything is missing, the agent says so once on stderr and lets the program run as if it were not there.
#include <jni.h>
#include <jvmti.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "agent/jvmti/bytecode_sampling.h"
#include "agent/jvmti/frames_alive.h"
#include "agent/jvmti/runtime_classes.h"
#include "agent/jvmti/subgraph.h"
#include "agent/jvmti/time_sampling.h"
#include "agent/jvmti/user_agent.h"
#include "agent/session/class_instrumenter.h"
#include "agent/session/flat_blocks.h"
#include "agent/session/nowhere.h"
#include "agent/session/options.h"
#include "agent/session/recording_state.h"
#include "agent/session/store_weights.h"
#include "agent/session/tree_pool.h"
#include "arena/writer.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

// One per process, made at load and never destroyed: callbacks may still run while the process exits.
struct Agent {
  explicit Agent(Options opts) : options(std::move(opts)), trees(arena, methods, options), flat_blocks(arena) {}

  Options options;
  arena::Writer arena;
  MethodTable methods;
  TreePool trees;
  FlatBlocks flat_blocks;
  std::unique_ptr<ClassInstrumenter> instrumenter;
  std::unique_ptr<BytecodeSampling> sampling;  // null: everything is counted
  std::unique_ptr<UserAgent> user_agent;       // null: there is none
  jvmtiEnv* jvmti = nullptr;
  jclass runtime = nullptr;           // global reference to java.lang.SondeRT
  jclass flat_runtime = nullptr;      // global reference to java.lang.SondeFlat
  jclass heap_node = nullptr;         // global reference to java.lang.SondeNode; only with --scheme paper
  jclass virtual_thread = nullptr;    // global reference to java.lang.BaseVirtualThread; null before JDK 21
  jobject platform_loader = nullptr;  // global reference; null until VMInit
  bool natives_bound = false;
  jfieldID site_field = nullptr;
  jfieldID tree_field = nullptr;
  jfieldID root_field = nullptr;
};
Agent* g_agent = nullptr;

// JDK 21 added these to JVMTI; the headers of older JDKs do not have them.
constexpr int kVirtualThreadStartEvent = 87;
constexpr int kVirtualThreadEndEvent = 88;
constexpr unsigned kSupportVirtualThreadsBit = 44;
constexpr jint kVersion21 = 0x30150000;
struct CallbacksOf21 {
  jvmtiEventCallbacks known;
  void* virtual_thread_start;
  void* virtual_thread_end;
};
constexpr std::size_t kVirtualThreadStartSlot = kVirtualThreadStartEvent - JVMTI_MIN_EVENT_TYPE_VAL;
constexpr std::size_t kVirtualThreadEndSlot = kVirtualThreadEndEvent - JVMTI_MIN_EVENT_TYPE_VAL;

void say(const std::string& message) { std::fprintf(stderr, "sonde: %s\n", message.c_str()); }

std::string system_property(jvmtiEnv* jvmti, const char* name) {
  char* value = nullptr;
  if (jvmti->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE) return "";
  std::string text(value);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(value));
  return text;
}

bool is_jdk_loader(JNIEnv* jni, jobject loader) {
  // Before VMInit only the JDK itself loads classes.
  return loader == nullptr || g_agent->platform_loader == nullptr ||
         jni->IsSameObject(loader, g_agent->platform_loader) != JNI_FALSE;
}

jlong JNICALL new_tree(JNIEnv* jni, jclass, jobject thread);
jboolean JNICALL grow(JNIEnv*, jclass, jlong tree, jint size);
jlong JNICALL ask(JNIEnv* jni, jclass, jobject thread, jlong tree, jlong site, jboolean is_new);

bool bind_natives(JNIEnv* jni) {
  const JNINativeMethod natives[] = {
      {const_cast<char*>("newTree"), const_cast<char*>("(Ljava/lang/Thread;)J"), reinterpret_cast<void*>(new_tree)},
      {const_cast<char*>("grow"), const_cast<char*>("(JI)Z"), reinterpret_cast<void*>(grow)},
      {const_cast<char*>("ask"), const_cast<char*>("(Ljava/lang/Thread;JJZ)J"), reinterpret_cast<void*>(ask)},
  };
  const bool bound = g_agent->natives_bound || (jni->RegisterNatives(g_agent->runtime, natives, 3) == JNI_OK &&
                                                (!g_agent->sampling || g_agent->sampling->bind_natives(jni)));
  g_agent->natives_bound = bound;
  return g_agent->natives_bound;
}

// HotSpot prints a warning if natives of a java.* class are registered by somebody else, which it tells by the Java
// frame that calls. This class is loaded while the module system starts, by Java code of the JDK.
bool is_called_from_jdk(const char* class_name) {
  return class_name != nullptr && std::strcmp(class_name, "jdk/internal/module/SystemModulesMap") == 0;
}

void JNICALL on_class_file_load(jvmtiEnv* jvmti, JNIEnv* jni, jclass, jobject loader, const char* name, jobject,
                                jint size, const unsigned char* bytes, jint* new_size, unsigned char** new_bytes) {
  if (!g_agent->natives_bound && g_agent->runtime != nullptr && is_called_from_jdk(name)) bind_natives(jni);
  if (g_agent->user_agent && g_agent->user_agent->is_loader(jni, loader)) return;
  const bool of_jdk = is_jdk_loader(jni, loader);
  g_agent->instrumenter->rewrite({bytes, static_cast<std::size_t>(size)}, of_jdk, [&](Bytes result) {
    unsigned char* copy = nullptr;
    if (jvmti->Allocate(static_cast<jlong>(result.size()), &copy) != JVMTI_ERROR_NONE) return;
    std::memcpy(copy, result.data(), result.size());
    *new_bytes = copy;
    *new_size = static_cast<jint>(result.size());
  });
}

jclass define(JNIEnv* jni, const char* name, Bytes bytes) {
  const jclass defined =
      jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data()), static_cast<jsize>(bytes.size()));
  return defined == nullptr ? nullptr : static_cast<jclass>(jni->NewGlobalRef(defined));
}

void JNICALL on_vm_start(jvmtiEnv*, JNIEnv* jni) {
  g_agent->runtime = define(jni, "java/lang/SondeRT", kSondeRTClass);
  const jclass memory = define(jni, "java/lang/SondeRT$Memory", kSondeRTMemoryClass);
  g_agent->flat_runtime = define(jni, "java/lang/SondeFlat", kSondeFlatClass);
  if (g_agent->runtime == nullptr || memory == nullptr || g_agent->flat_runtime == nullptr) {
    jni->FatalError("sonde: java.lang.SondeRT could not be defined");
  }
  if (g_agent->sampling && !g_agent->sampling->define(jni))
    jni->FatalError("sonde: java.lang.SondeSampling could not be defined");
  if (!g_agent->options.heap_tree) return;
  g_agent->heap_node = define(jni, "java/lang/SondeNode", kSondeNodeClass);
  if (g_agent->heap_node == nullptr) jni->FatalError("sonde: java.lang.SondeNode could not be defined");
}

struct ThreadFacts {
  std::string name;
  bool is_virtual = false;
};

ThreadFacts facts_of(JNIEnv* jni, jthread thread) {
  jvmtiThreadInfo info{};
  std::string name;
  if (g_agent->jvmti->GetThreadInfo(thread, &info) == JVMTI_ERROR_NONE) {
    if (info.name != nullptr) name = info.name;
    g_agent->jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
    jni->DeleteLocalRef(info.thread_group);
    jni->DeleteLocalRef(info.context_class_loader);
  }
  const bool is_virtual =
      g_agent->virtual_thread != nullptr && jni->IsInstanceOf(thread, g_agent->virtual_thread) != JNI_FALSE;
  return {.name = std::move(name), .is_virtual = is_virtual};
}

jlong JNICALL new_tree(JNIEnv* jni, jclass, jobject thread) {
  const ThreadFacts facts = facts_of(jni, thread);
  return static_cast<jlong>(g_agent->trees.lease(facts.name, facts.is_virtual));
}

jboolean JNICALL grow(JNIEnv*, jclass, jlong tree, jint size) {
  return g_agent->trees.grow(static_cast<std::uint64_t>(tree), static_cast<std::uint32_t>(size)) ? JNI_TRUE : JNI_FALSE;
}

jlong JNICALL ask(JNIEnv* jni, jclass, jobject thread, jlong tree, jlong site, jboolean is_new) {
  return g_agent->user_agent->report(jni, thread, tree, site, is_new != JNI_FALSE);
}

// A class of the JDK, as a global reference; null and no pending exception if it does not exist.
jclass find_class(JNIEnv* jni, const char* name) {
  const jclass local = jni->FindClass(name);
  if (local == nullptr) {
    jni->ExceptionClear();
    return nullptr;
  }
  const auto global = static_cast<jclass>(jni->NewGlobalRef(local));
  jni->DeleteLocalRef(local);
  return global;
}

void find_platform_loader(JNIEnv* jni) {
  const jclass loaders = jni->FindClass("java/lang/ClassLoader");
  const jmethodID get = jni->GetStaticMethodID(loaders, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
  const jobject loader = jni->CallStaticObjectMethod(loaders, get);
  if (jni->ExceptionCheck() != JNI_FALSE) jni->ExceptionClear();
  if (loader != nullptr) g_agent->platform_loader = jni->NewGlobalRef(loader);
}

// Modes exact:flat and bytecode. Threads have their counters or stacks before they run anything.
void JNICALL on_thread_start(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  if (g_agent->sampling) return g_agent->sampling->thread_started(jni, thread);
  const Agent& agent = *g_agent;
  if (agent.root_field == nullptr || jni->GetLongField(thread, agent.root_field) != 0) return;
  const ThreadFacts facts = facts_of(jni, thread);
  const auto block = static_cast<jlong>(g_agent->flat_blocks.lease(facts.name, facts.is_virtual));
  jni->SetLongField(thread, agent.root_field, block);
  jni->SetLongField(thread, agent.site_field, block);
}

// Opens the gate of SondeFlat, for threads that exist already and all that come.
bool start_flat(jvmtiEnv* jvmti, JNIEnv* jni) {
  Agent& agent = *g_agent;
  const jfieldID region = jni->GetStaticFieldID(agent.flat_runtime, "region", "J");
  const jfieldID on = jni->GetStaticFieldID(agent.flat_runtime, "on", "Z");
  jint count = 0;
  jthread* threads = nullptr;
  if (region == nullptr || on == nullptr || jvmti->GetAllThreads(&count, &threads) != JVMTI_ERROR_NONE) return false;
  for (jint i = 0; i < count; ++i) {
    on_thread_start(jvmti, jni, threads[i]);
    jni->DeleteLocalRef(threads[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
  jni->SetStaticLongField(agent.flat_runtime, region, reinterpret_cast<jlong>(agent.arena.flat_region()));
  jni->SetStaticBooleanField(agent.flat_runtime, on, JNI_TRUE);
  return true;
}

void JNICALL on_vm_init(jvmtiEnv* jvmti, JNIEnv* jni, jthread) {
  Agent& agent = *g_agent;
  const jclass threads = jni->FindClass("java/lang/Thread");
  agent.site_field = jni->GetFieldID(threads, "$sondeSite", "J");
  agent.tree_field = jni->GetFieldID(threads, "$sondeTree", "J");
  agent.root_field = jni->GetFieldID(threads, "$sondeRoot", "J");
  agent.virtual_thread = find_class(jni, "java/lang/BaseVirtualThread");
  find_platform_loader(jni);
  const jfieldID on = jni->GetStaticFieldID(agent.runtime, "on", "Z");
  const jfieldID methods = jni->GetStaticFieldID(agent.runtime, "methods", "J");
  const bool has_fields = agent.root_field != nullptr && (!agent.sampling || agent.sampling->begin(jni));
  if (!has_fields || on == nullptr || methods == nullptr || !bind_natives(jni)) {
    jni->ExceptionClear();
    say("the fields of java.lang.Thread are missing, perhaps because of another agent; nothing is recorded");
    return;
  }
  mark_running(agent.arena);
  if (agent.options.flat) {
    if (!start_flat(jvmti, jni)) say("the counters of exact:flat cannot be set up; nothing is recorded");
    return;
  }
  if (agent.user_agent) agent.user_agent->start(jni);
  jni->SetStaticLongField(agent.runtime, methods, reinterpret_cast<jlong>(agent.methods.memory()));
  jni->SetStaticBooleanField(agent.runtime, on, JNI_TRUE);
}

// Context: the thread that ends. No instrumented code runs on it any more.
void JNICALL on_thread_end(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  const Agent& agent = *g_agent;
  if (agent.root_field == nullptr) return;
  if (agent.options.flat) {
    const jlong block = jni->GetLongField(thread, agent.root_field);
    jni->SetLongField(thread, agent.root_field, 0);
    jni->SetLongField(thread, agent.site_field, 0);
    return g_agent->flat_blocks.release(static_cast<std::uint64_t>(block));
  }
  const jlong tree = jni->GetLongField(thread, agent.tree_field);
  if (agent.user_agent) agent.user_agent->thread_ended(jni, thread, tree);
  if (agent.sampling) agent.sampling->thread_ended(jni, thread, static_cast<std::uint64_t>(tree));
  if (tree == 0) return;
  // Whatever still runs goes to the sink: the tree may have its next user by then.
  jni->SetLongField(thread, agent.site_field, static_cast<jlong>(kSink + sizeof(arena::Node)));
  jni->SetLongField(thread, agent.tree_field, 0);
  g_agent->trees.release(static_cast<std::uint64_t>(tree));
}

// Scheme `paper`: what the Java heap holds goes to the arena at the end.
void store_heap_trees(JNIEnv* jni) {
  const jmethodID store = jni->GetStaticMethodID(g_agent->heap_node, "store", "()V");
  if (store != nullptr) jni->CallStaticVoidMethod(g_agent->heap_node, store);
  if (jni->ExceptionCheck() == JNI_FALSE) return;
  jni->ExceptionClear();
  say("the call trees in the Java heap could not be stored completely");
}

// Service threads of the JDK never end, so its methods are left out: they would be in every recording.
bool is_counted_application(JNIEnv* jni, std::string_view class_name, jobject loader) {
  if (g_agent->user_agent && g_agent->user_agent->is_loader(jni, loader)) return false;
  return !is_jdk_loader(jni, loader) && g_agent->instrumenter->is_selected(class_name, false);
}

void JNICALL on_vm_death(jvmtiEnv* jvmti, JNIEnv* jni) {
  Agent& agent = *g_agent;
  if (agent.user_agent) agent.user_agent->close();
  if (agent.heap_node != nullptr) store_heap_trees(jni);
  const std::uint64_t alive = frames_alive(jvmti, jni, [&](std::string_view class_name, jobject loader) {
    return is_counted_application(jni, class_name, loader);
  });
  if (alive != 0) agent.arena.count(Counter::kFramesAlive, alive);
  if (agent.sampling) agent.sampling->settle_living(jni);
  mark_ended(agent.arena);
}

bool add_capabilities(jvmtiEnv* jvmti, bool virtual_threads) {
  jvmtiCapabilities wanted{};
  wanted.can_generate_all_class_hook_events = 1;
  wanted.can_generate_early_class_hook_events = 1;
  wanted.can_generate_early_vmstart = 1;
  if (virtual_threads)
    reinterpret_cast<unsigned char*>(&wanted)[kSupportVirtualThreadsBit / 8] |= 1U << (kSupportVirtualThreadsBit % 8);
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE;
}

bool enable_events(jvmtiEnv* jvmti, bool virtual_threads, bool thread_starts) {
  CallbacksOf21 callbacks{};
  static_assert(sizeof(CallbacksOf21) >= (kVirtualThreadEndSlot + 1) * sizeof(void*));
  callbacks.known.VMStart = on_vm_start;
  callbacks.known.VMInit = on_vm_init;
  callbacks.known.VMDeath = on_vm_death;
  callbacks.known.ThreadStart = on_thread_start;
  callbacks.known.ThreadEnd = on_thread_end;
  callbacks.known.ClassFileLoadHook = on_class_file_load;
  if (virtual_threads) {
    auto* slots = reinterpret_cast<void**>(&callbacks);
    slots[kVirtualThreadStartSlot] = reinterpret_cast<void*>(on_thread_start);
    slots[kVirtualThreadEndSlot] = reinterpret_cast<void*>(on_thread_end);
  }
  if (jvmti->SetEventCallbacks(&callbacks.known, sizeof callbacks) != JVMTI_ERROR_NONE) return false;
  const auto enable = [&](int event) {
    return jvmti->SetEventNotificationMode(JVMTI_ENABLE, static_cast<jvmtiEvent>(event), nullptr) == JVMTI_ERROR_NONE;
  };
  return enable(JVMTI_EVENT_VM_START) && enable(JVMTI_EVENT_VM_INIT) && enable(JVMTI_EVENT_VM_DEATH) &&
         enable(JVMTI_EVENT_THREAD_END) && enable(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK) &&
         (!virtual_threads || enable(kVirtualThreadEndEvent)) && (!thread_starts || enable(JVMTI_EVENT_THREAD_START)) &&
         (!thread_starts || !virtual_threads || enable(kVirtualThreadStartEvent));
}

instrument::KnownMethods read_known_methods(const std::string& folder) {
  std::ifstream file(folder + "/known", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  auto known = instrument::KnownMethods::parse(as_bytes(bytes));
  return known.ok() ? std::move(known).value() : instrument::KnownMethods();
}

// Child processes inherit it; this JVM has read its own long ago.
void follow_children(const std::string& options) {
  const char* present = std::getenv("JAVA_TOOL_OPTIONS");
  const std::string value = present == nullptr || *present == 0 ? options : present + (" " + options);
  setenv("JAVA_TOOL_OPTIONS", value.c_str(), 1);
}

// Counting of calls and bytecodes, or samples by bytecodes: from here on every class passes ClassFileLoadHook.
Result<void> start_instrumenting(jvmtiEnv* jvmti) {
  Agent& agent = *g_agent;
  TRY(map_nowhere());
  TRY(agent.methods.map());
  agent.trees.start();
  agent.instrumenter = std::make_unique<ClassInstrumenter>(agent.arena, agent.methods, agent.options,
                                                           read_known_methods(agent.options.list_folder),
                                                           agent.options.flat ? &agent.flat_blocks : nullptr);
  if (agent.options.sampling.is_on()) {
    TRY(agent.instrumenter->sites().create());
    agent.sampling = std::make_unique<BytecodeSampling>(agent.arena, agent.trees, agent.options.sampling, jvmti,
                                                        agent.instrumenter->sites());
  }
  if (agent.options.has_agent()) {
    agent.user_agent = std::make_unique<UserAgent>(agent.arena, agent.options, jvmti, agent.instrumenter->names(),
                                                   agent.instrumenter->sites());
    if (agent.sampling) agent.sampling->set_user_agent(*agent.user_agent);
  }
  jint jvmti_version = 0;
  jvmti->GetVersionNumber(&jvmti_version);
  const bool virtual_threads = (jvmti_version & 0x7fffffff) >= kVersion21;
  const bool thread_starts = agent.options.flat || agent.sampling;
  if (!add_capabilities(jvmti, virtual_threads) || !enable_events(jvmti, virtual_threads, thread_starts)) {
    return Error{ErrorCode::kUnsupported, "the JVM does not grant class hooks"};
  }
  return {};
}

Result<void> start_modes(JavaVM* vm, jvmtiEnv* jvmti) {
  const Options& options = g_agent->options;
  // First, so that its VMDeath comes first: whoever marks the recording as ended comes last.
  if (options.cpu_interval_ns != 0 || options.wall_interval_ns != 0)
    TRY(start_time_sampling(vm, g_agent->arena, options));
  if (options.subgraph.is_on()) TRY(prepare_subgraph(vm, g_agent->arena, options));
  if (options.exact) TRY(start_instrumenting(jvmti));
  return {};
}

Result<void> start(JavaVM* vm, const char* argument) {
  if (g_agent != nullptr) return {};  // `sonde run` inside what `sonde run --follow` started: the first one has it
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) {
    return Error{ErrorCode::kUnsupported, "this JVM has no JVMTI of version 11; HotSpot of JDK 17 or later is needed"};
  }
  const std::string version = system_property(jvmti, "java.vm.version");
  const std::string name = system_property(jvmti, "java.vm.name");
  if (std::atoi(system_property(jvmti, "java.vm.specification.version").c_str()) < 17 ||
      name.find("OpenJ9") != std::string::npos) {
    return Error{ErrorCode::kUnsupported, "this is " + name + " " + version + "; HotSpot of JDK 17 or later is needed"};
  }
  if (argument == nullptr || *argument == 0)
    return Error{ErrorCode::kInvalidArgument, "the agent needs the folder of a recording; use `sonde run`"};
  auto options = TRY(read_options(argument));
  if (options.is_followed) {
    options.command = "java " + system_property(jvmti, "sun.java.command");
    TRY(make_own_folder(options, system_property(jvmti, "java.home")));
  } else if (!options.follow.empty()) {
    follow_children(options.follow);
  }
  auto agent = std::make_unique<Agent>(std::move(options));
  const SamplingOptions& sampling = agent->options.sampling;
  const std::uint32_t flags =
      (agent->options.exact ? 0U : arena::kTimeOnly) | (agent->options.precise ? arena::kPrecise : 0U) |
      (agent->options.jdk ? arena::kJdkIncluded : 0U) | (agent->options.flat ? arena::kFlat : 0U) |
      (sampling.is_on() ? arena::kSampled : 0U) | (agent->options.subgraph.is_on() ? arena::kSubgraph : 0U);
  TRY(agent->arena.create((agent->options.folder + "/arena").c_str(),
                          {.capacity = agent->options.memory, .address_bias = kBias, .flags = flags}));
  std::snprintf(agent->arena.header().jdk, sizeof agent->arena.header().jdk, "%s", version.c_str());
  std::snprintf(agent->arena.header().command, sizeof agent->arena.header().command, "%s",
                agent->options.command.c_str());
  agent->arena.header().granularity = sampling.granularity;
  agent->arena.header().jitter = sampling.jitter;
  agent->arena.header().seed = sampling.seed;
  agent->arena.header().max_path = sampling.max_path;
  if (sampling.weights) store_weights(agent->arena, sampling);
  agent->jvmti = jvmti;
  g_agent = agent.release();
  auto started = start_modes(vm, jvmti);
  if (!started.ok()) unlink((g_agent->options.folder + "/arena").c_str());
  return started;
}

}  // namespace
}  // namespace sonde::agent

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  if (const auto started = sonde::agent::start(vm, options); !started.ok()) {
    sonde::agent::say(started.error().to_string() + "; the program runs without being recorded");
  }
  return JNI_OK;
}
