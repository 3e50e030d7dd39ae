// SPDX-License-Identifier: Apache-2.0
// An agent that does nothing but start and stop time sampling in a running JVM, as fast as it is told:
//   -agentpath:librestarts.so=FOLDER,ROUNDS,MILLISECONDS
// At the end it says how many rounds there were and how much memory the process gained between the tenth part of them
// and the last. The arena of the last round stays in FOLDER, which is a recording then.
#include <jni.h>
#include <jvmti.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "agent/jvmti/time_sampling.h"
#include "agent/session/recording_state.h"

namespace {

using namespace sonde;

JavaVM* g_vm;
std::string g_folder;
int g_rounds;
int g_milliseconds;
std::atomic<bool> g_ended{false};
std::thread g_thread;

long resident_kb() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

bool run_round(JNIEnv* jni, int round) {
  const std::string path = g_folder + "/arena";
  unlink(path.c_str());
  agent::Options options;
  options.is_attached = true;
  options.cpu_interval_ns = 200'000;
  options.wall_interval_ns = round % 2 == 0 ? 1'000'000 : 0;
  options.clock = round % 3 == 0 ? "timer" : "";
  options.walker = round % 10 == 9 ? "agct" : "";
  options.native = round % 4 == 1;
  auto arena = std::make_unique<arena::Writer>();
  if (!arena->create(path.c_str(), {.capacity = 16 << 20, .address_bias = 0, .flags = arena::kTimeOnly}).ok())
    return false;
  agent::TimeSampling sampling(g_vm, *arena, options);
  if (const auto started = sampling.start(jni); !started.ok()) {
    std::fprintf(stderr, "restarts: %s\n", started.error().to_string().c_str());
    return false;
  }
  // Somebody looks at the last one, and on a busy machine a moment is too short for a sample.
  std::this_thread::sleep_for(std::chrono::milliseconds(round + 1 == g_rounds ? 20 * g_milliseconds : g_milliseconds));
  sampling.stop(jni);
  agent::mark_ended(*arena);
  return true;
}

void run_rounds() {
  JNIEnv* jni = nullptr;
  JavaVMAttachArgs arguments{.version = JNI_VERSION_10, .name = const_cast<char*>("restarts"), .group = nullptr};
  g_vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni), &arguments);
  int round = 0;
  long before = 0;
  while (!g_ended.load() && round < g_rounds && run_round(jni, round)) {
    if (++round == g_rounds / 10) before = resident_kb();
  }
  std::fprintf(stderr, "restarts: %d rounds, %ld KB more\n", round, resident_kb() - before);
  g_vm->DetachCurrentThread();
}

void JNICALL on_vm_init(jvmtiEnv*, JNIEnv*, jthread) { g_thread = std::thread(run_rounds); }

void JNICALL on_vm_death(jvmtiEnv*, JNIEnv*) {
  g_ended.store(true);
  g_thread.join();
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  g_vm = vm;
  char folder[4096];
  if (std::sscanf(options, "%4095[^,],%d,%d", folder, &g_rounds, &g_milliseconds) != 3) return JNI_ERR;
  g_folder = folder;
  jvmtiEnv* jvmti = nullptr;
  vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11);
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return JNI_OK;
}
