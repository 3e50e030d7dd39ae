// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/session.h"

#include <unistd.h>

#include <vector>

#include "agent/jvmti/jvm.h"
#include "agent/jvmti/modes.h"
#include "agent/sampler/own_thread.h"
#include "agent/session/recording_state.h"
#include "base/clock.h"

namespace sonde::agent {
namespace {

// So long a host may be silent. A host that is killed is noticed at once, by its connection.
constexpr std::uint64_t kLeaseNs = 10'000'000'000;
constexpr const char* kProtocol = "1";

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// One per process while somebody may ask for something. Kept when it is over: callbacks may still run.
struct Listening {
  std::mutex mutex;  // guards what follows
  Session* session = nullptr;
  ControlServer* server = nullptr;
  JavaVM* vm = nullptr;
  OwnThread thread;
};
Listening g_listening;

void JNICALL on_vm_death(jvmtiEnv*, JNIEnv* jni) {
  const std::lock_guard lock(g_listening.mutex);
  if (g_listening.session != nullptr) g_listening.session->vm_ended(jni);
}

void run_control_thread() {
  JavaVMAttachArgs arguments{.version = JNI_VERSION_10, .name = const_cast<char*>("sonde-control"), .group = nullptr};
  JNIEnv* jni = nullptr;
  if (g_listening.vm->AttachCurrentThreadAsDaemon(reinterpret_cast<void**>(&jni), &arguments) == JNI_OK) {
    g_listening.session->set_environment(jni);
    g_listening.server->serve(*g_listening.session);
  }
  const std::lock_guard lock(g_listening.mutex);
  delete g_listening.server;
  delete g_listening.session;
  g_listening.server = nullptr;
  g_listening.session = nullptr;
  if (jni != nullptr) g_listening.vm->DetachCurrentThread();
}

// Once per process.
bool watch_end_of(JavaVM* vm) {
  static jvmtiEnv* jvmti = nullptr;
  if (jvmti != nullptr) return true;
  jvmti = new_environment(vm);
  jvmtiEventCallbacks callbacks{};
  callbacks.VMDeath = on_vm_death;
  return jvmti != nullptr && set_callbacks(jvmti, callbacks, nullptr, nullptr) &&
         switch_event(jvmti, JVMTI_EVENT_VM_DEATH, JVMTI_ENABLE);
}

}  // namespace

void prepare_session(JavaVM* vm) {
  jvmtiEnv* jvmti = new_environment(vm);  // for the life of the JVM
  jvmtiCapabilities wanted{};
  wanted.can_retransform_classes = 1;
  if (jvmti != nullptr) jvmti->AddCapabilities(&wanted);  // if not, attaching works all the same
}

Result<void> begin_session(JavaVM* vm) {
  const std::lock_guard lock(g_listening.mutex);
  if (g_listening.session != nullptr) return {};
  Jvm jvm = TRY(describe(vm));
  if (!watch_end_of(vm)) return Error{ErrorCode::kUnsupported, "the JVM does not tell when it ends"};
  auto server = TRY(ControlServer::listen());
  g_listening.vm = vm;
  g_listening.session = new Session(std::move(jvm));
  g_listening.server = new ControlServer(std::move(server));
  g_listening.thread.join();  // the one before
  if (g_listening.thread.start("sonde-control", run_control_thread)) return {};
  delete g_listening.server;
  delete g_listening.session;
  g_listening.session = nullptr;
  return Error{ErrorCode::kIo, "the control thread cannot be started"};
}

// --- what a host asks for --------------------------------------------------------------------------------------------

std::string Session::handle(Client client, const control::ControlLine& line) {
  const std::lock_guard lock(mutex_);
  if (client == owner_) lease_end_ns_ = monotonic_ns() + kLeaseNs;
  auto text = vm_has_ended_ ? Result<std::string>(invalid("the JVM is about to end")) : answer(client, line);
  if (client == owner_) lease_end_ns_ = monotonic_ns() + kLeaseNs;
  if (text.ok()) return *text + "ok\n";
  return control::format_line("error", {text.error().to_string()});
}

Result<std::string> Session::answer(Client client, const control::ControlLine& line) {
  const auto has_words = [&](std::size_t least, std::size_t most) {
    return line.words.size() >= least && line.words.size() <= most;
  };
  if (line.verb == "hello" && has_words(1, 1)) {
    if (line.words[0] != kProtocol) return invalid("host and agent are of different versions");
  } else if (line.verb == "record" && has_words(1, 1)) {
    TRY(record(client, line.words[0]));
  } else if (line.verb == "start" && has_words(1, control::kMostWords)) {
    TRY(start(line.words));
  } else if (line.verb == "stop" && has_words(1, 1)) {
    TRY(stop(line.words[0]));
  } else if (line.verb == "status" && has_words(0, 0)) {
    return status();
  } else if (line.verb == "end" && has_words(0, 0)) {
    TRY(end(jni_));
  } else if (line.verb == "detach" && has_words(0, 0)) {
    if (recording_) TRY(end(jni_));
    is_over_ = true;
  } else if (line.verb != "renew") {
    return invalid("`" + line.verb + "` with " + std::to_string(line.words.size()) + " words is no command");
  }
  return std::string();
}

Result<void> Session::record(Client client, const std::string& folder) {
  if (recording_) return invalid("there is a recording already, in " + folder_name_);
  control::Descriptor opened = TRY(control::open_private_folder(folder, geteuid()));
  // From here on the folder is known by its descriptor: whatever happens to its name, nothing leads elsewhere.
  auto options = TRY(read_options(control::path_in(opened)));
  options.exact = options.flat = false;
  options.cpu_interval_ns = options.wall_interval_ns = 0;
  options.subgraph = {};
  options.sampling = {};
  options.is_attached = true;
  recording_ = TRY(Recording::create(jvm_, std::move(options)));
  mark_running(recording_->arena());
  folder_ = std::move(opened);
  folder_name_ = folder;
  owner_ = client;
  lease_end_ns_ = monotonic_ns() + kLeaseNs;
  return {};
}

Result<void> Session::start(const Words& words) {
  if (!recording_) return invalid("there is no recording; `sonde attach` begins one");
  Options settings = recording_->options();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const bool is_known =
        equals != std::string::npos && set_option(settings, words[i].substr(0, equals), words[i].substr(equals + 1));
    if (!is_known) return invalid("`" + words[i] + "` is no setting");
  }
  return start_mode(*recording_, jvm_.vm, jni_, words[0], settings);
}

Result<void> Session::stop(const std::string& mode) {
  if (!recording_) return invalid("there is no recording");
  return stop_mode(*recording_, jvm_.vm, jni_, mode);
}

Result<void> Session::end(JNIEnv* jni) {
  if (!recording_) return invalid("there is no recording");
  recording_->end(jni);
  recording_.reset();
  folder_ = control::Descriptor();
  owner_ = 0;
  return {};
}

std::string Session::status() const {
  std::string text = control::format_line("jvm", {std::to_string(getpid()), jvm_.version});
  if (!recording_) return text;
  const std::uint64_t began = recording_->arena().header().start_ns;
  text += control::format_line("recording", {folder_name_, std::to_string(realtime_ns() - began)});
  for (const std::string& mode : modes_of(*recording_)) text += control::format_line("mode", {mode});
  if (const BatchSummary all = batches_of(*recording_); all.batches != 0) {
    std::vector<std::string> words;
    for (const std::uint64_t number : {all.batches, all.classes, all.took.total, all.took.p99, all.took.longest,
                                       all.paused.total, all.paused.p99, all.paused.longest})
      words.push_back(std::to_string(number));
    text += control::format_line("batches", words);
  }
  return text;
}

// --- what happens by itself ------------------------------------------------------------------------------------------

void Session::gone(Client client) {
  const std::lock_guard lock(mutex_);
  if (client == owner_ && !vm_has_ended_) static_cast<void>(end(jni_));
}

void Session::tick() {
  const std::lock_guard lock(mutex_);
  if (recording_ && !vm_has_ended_ && monotonic_ns() > lease_end_ns_) static_cast<void>(end(jni_));
}

void Session::vm_ended(JNIEnv* jni) {
  const std::lock_guard lock(mutex_);
  if (recording_) recording_->vm_ends(jni);
  vm_has_ended_ = true;
}

}  // namespace sonde::agent
