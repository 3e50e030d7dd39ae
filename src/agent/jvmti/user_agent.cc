// SPDX-License-Identifier: Apache-2.0
#include "agent/jvmti/user_agent.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "agent/jvmti/jvm.h"
#include "agent/session/nowhere.h"

namespace sonde::agent {
namespace {

constexpr jlong kForever = INT64_MAX / 2;  // SondeRT.FOREVER
constexpr jlong kOwn = kSink + sizeof(arena::Node);
constexpr jlong kUsualReport = 10'000'000;  // if the agent did not say
constexpr std::uint32_t kMostFailures = 10;

// Runs a piece of code whose local references nobody needs afterwards.
template <typename Use>
auto in_frame(JNIEnv* jni, Use&& use) {
  jni->PushLocalFrame(64);
  const auto result = use();
  jni->PopLocalFrame(nullptr);
  return result;
}

bool clear_exception(JNIEnv* jni) {
  const bool thrown = jni->ExceptionCheck() != JNI_FALSE;
  if (thrown) jni->ExceptionClear();
  return thrown;
}

}  // namespace

UserAgent::UserAgent(arena::Writer& arena, const Options& options, jvmtiEnv* jvmti, const MethodNames& names,
                     const SiteTable& sites)
    : arena_(arena),
      options_(options),
      jvmti_(jvmti),
      names_(names),
      sites_(sites),
      trees_(arena, names),
      mailbox_(std::chrono::milliseconds(options.agent_limit_ms)) {}

// --- beginning and end ---

jthread UserAgent::make_thread(JNIEnv* jni) {
  jint groups = 0;
  jthreadGroup* top = nullptr;
  if (jvmti_->GetTopThreadGroups(&groups, &top) != JVMTI_ERROR_NONE || groups == 0) return nullptr;
  const jclass threads = jni->FindClass("java/lang/Thread");
  const jmethodID make = jni->GetMethodID(threads, "<init>", "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V");
  const jthread thread = jni->NewObject(threads, make, top[0], jni->NewStringUTF("sonde agent"));
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(top));
  return clear_exception(jni) ? nullptr : thread;
}

bool UserAgent::find_fields(JNIEnv* jni) {
  const jclass threads = jni->FindClass("java/lang/Thread");
  const std::pair<const char*, jfieldID*> fields[] = {{"$sondeSite", &site_field_},
                                                      {"$sondeHidden", &hidden_field_},
                                                      {"$sondeLeft", &left_field_},
                                                      {"$sondeUser", &user_field_},
                                                      {"$sondeAsked", &asked_field_}};
  for (const auto& [name, field] : fields) {
    *field = jni->GetFieldID(threads, name, "J");
    if (clear_exception(jni)) return false;
  }
  return true;
}

// As SondeRT.born does with threads that the agent makes.
void UserAgent::mark(JNIEnv* jni, jthread thread) const {
  jni->SetLongField(thread, site_field_, kOwn);
  jni->SetLongField(thread, hidden_field_, kOwn);
  jni->SetLongField(thread, left_field_, kForever);
}

void UserAgent::start(JNIEnv* jni) {
  const bool is_running = in_frame(jni, [&] {
    const jthread thread = find_fields(jni) ? make_thread(jni) : nullptr;
    if (thread == nullptr) return false;
    mark(jni, thread);
    return jvmti_->RunAgentThread(thread, run, this, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
  });
  if (!is_running) return switch_off("cannot be started: the JVM gives it no thread");
  ask(jni, {.kind = Kind::kStart});
}

void JNICALL UserAgent::run(jvmtiEnv*, JNIEnv* jni, void* self) {
  auto& agent = *static_cast<UserAgent*>(self);
  while (agent.mailbox_.wait()) {
    const jlong value = in_frame(jni, [&] { return agent.answer(jni, agent.question_); });
    clear_exception(jni);  // none is expected; AgentThread has caught the agent's
    agent.mailbox_.answer(value);
  }
}

void UserAgent::close() {
  has_ended_ = true;
  mailbox_.close();
  forget_tree();
}

void UserAgent::finish() {
  const auto answered = mailbox_.ask([&] { question_ = {.kind = Kind::kShutdown}; });
  if (!answered && !has_ended_) switch_off("did not return from shutdown() in time");
  close();
}

// Says so, once.
void UserAgent::switch_off(const std::string& why) {
  forget_tree();
  if (has_ended_.exchange(true)) return;
  mailbox_.close();
  arena_.count(Counter::kAgentSwitchedOff);
  say("the profiling agent " + options_.agent_class + " " + why + "; the program goes on without it");
}

void UserAgent::failed(std::string_view what) {
  arena_.count(Counter::kAgentFailures);
  const std::uint32_t count = ++failures_;
  if (count == 1) say("the profiling agent " + options_.agent_class + " failed: " + std::string(what));
  if (count == kMostFailures) switch_off("failed " + std::to_string(count) + " times and is switched off");
}

// --- questions: on the threads of the program ---

jlong UserAgent::ask(JNIEnv* jni, Question question) {
  if (mailbox_.is_closed()) return kForever;
  if (question.thread != nullptr) question.thread = jni->NewGlobalRef(question.thread);
  const jobject thread = question.thread;
  const auto answer = mailbox_.ask([&] { question_ = std::move(question); });
  if (!answer) {  // the agent may still have the thread, so its reference stays
    switch_off("did not return within " + std::to_string(options_.agent_limit_ms) + " ms and is switched off");
    return kForever;
  }
  if (thread != nullptr) jni->DeleteGlobalRef(thread);
  const auto scale = static_cast<jlong>(options_.sampling.scale());
  if (*answer > 0) return std::min(*answer, kForever / scale) * scale;
  return options_.sampling.is_on() ? static_cast<jlong>(options_.sampling.granularity) * scale : kUsualReport;
}

jlong UserAgent::register_sampled(JNIEnv* jni, jobject thread) {
  return ask(jni, {.kind = Kind::kRegister, .thread = thread});
}

jlong UserAgent::sample(JNIEnv* jni, jobject thread, std::span<const std::uint32_t> sites, jlong bytecodes) {
  Question question = {.kind = Kind::kSample, .thread = thread, .tree = 0, .bytecodes = in_bytecodes(bytecodes)};
  for (const std::uint32_t site : sites) question.methods.push_back(static_cast<jint>(sites_.method_of(site)));
  return ask(jni, std::move(question));
}

jlong UserAgent::report(JNIEnv* jni, jobject thread, jlong tree, jlong site, bool is_new) {
  Question question = {.kind = is_new ? Kind::kRegister : Kind::kReport, .thread = thread, .tree = tree};
  if (!is_new) {
    for (const std::uint64_t record :
         trees_.path_to(static_cast<std::uint64_t>(tree), static_cast<std::uint64_t>(site)))
      question.path.push_back(static_cast<jlong>(record));
  }
  return ask(jni, std::move(question));
}

void UserAgent::thread_ended(JNIEnv* jni, jthread thread, jlong tree) {
  const bool is_registered = asked_field_ != nullptr && jni->GetLongField(thread, asked_field_) != 0;
  if (!is_registered) return;
  ask(jni, {.kind = Kind::kEnd, .thread = thread, .tree = tree, .bytecodes = unreported(jni, thread)});
  const std::lock_guard lock(reading_);
  if (open_tree_ == tree) open_tree_ = 0;
}

jlong UserAgent::unreported(JNIEnv* jni, jthread thread) const {
  const auto value = [&](jfieldID field) { return jni->GetLongField(thread, field); };
  if (!options_.sampling.is_on()) return 0;
  return in_bytecodes(value(asked_field_) - value(left_field_) - value(user_field_));
}

// --- answers: on the agent's thread ---

jlong UserAgent::answer(JNIEnv* jni, const Question& question) {
  const bool samples = options_.sampling.is_on();
  const auto call = [&](jmethodID method, auto... arguments) {
    return jni->CallStaticLongMethod(java_, method, arguments...);
  };
  if (question.tree != 0) open(question.tree);
  jlong value = 0;
  switch (question.kind) {
    case Kind::kStart: value = load(jni) ? 1 : 0; break;
    case Kind::kRegister:
      value = samples ? call(methods_.register_sampled, question.thread)
                      : call(methods_.register_counted, question.thread, question.tree);
      break;
    case Kind::kSample: {
      const jint depth = std::min(static_cast<jint>(question.methods.size()), kMostFrames);
      jni->SetIntArrayRegion(stack_, 0, depth, question.methods.data());
      value = call(methods_.sample, question.thread, stack_, depth, question.bytecodes);
      break;
    }
    case Kind::kReport: {
      const auto length = static_cast<jsize>(question.path.size());
      const jlongArray path = jni->NewLongArray(length);
      if (path == nullptr) break;
      jni->SetLongArrayRegion(path, 0, length, question.path.data());
      value = call(methods_.report, question.thread, path);
      break;
    }
    case Kind::kEnd:
      value = samples ? call(methods_.end_sampled, question.thread, question.bytecodes)
                      : call(methods_.end_counted, question.thread);
      break;
    case Kind::kShutdown: jni->CallStaticVoidMethod(java_, methods_.shutdown); break;
  }
  forget_tree();
  return value;
}

bool UserAgent::open(jlong tree) {
  const std::lock_guard lock(reading_);
  if (has_ended_) return false;
  open_tree_ = tree;
  return true;
}

void UserAgent::forget_tree() {
  const std::lock_guard lock(reading_);
  open_tree_ = 0;
}

std::vector<TreeView::Callee> UserAgent::callees(jlong tree, jlong node) {
  const std::lock_guard lock(reading_);
  if (open_tree_ != tree) return {};
  return trees_.callees(static_cast<std::uint64_t>(tree), static_cast<std::uint64_t>(node));
}

}  // namespace sonde::agent
