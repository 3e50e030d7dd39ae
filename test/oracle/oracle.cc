// SPDX-License-Identifier: Apache-2.0
// liboracle.so counts calls and executed bytecodes per thread and calling context with the JVM's own debugger events.
// It shares no code and no idea with the profiler it judges: no bytecode is changed. Slow; for tiny programs, -Xint
// only.
//
//   -Xint -agentpath:liboracle.so=out=FILE;include=app/,other/;count=breakpoint|step
//
// A call is a MethodEntry event. A bytecode is
//   count=breakpoint  (default with include=) a Breakpoint event; every instruction of every included method has one
//   count=step        (default without)       a SingleStep event
// SingleStep misses instructions, see README.md; breakpoints do not, but there cannot be one on all of the JDK.
//
// The context is the stack of included methods. At each entry it is read from GetStackTrace, pushed on a shadow stack
// and popped by MethodExit. Each later event checks the shadow stack against GetFrameCount. Both ways must agree: the
// number of times they did not goes to FILE.stats, and a run is valid only if it is zero.
//
// Threads: events arrive on the thread they are about; `mutex_` guards everything. JVMTI calls made under it concern
// the current thread only, so they wait for nobody but a safepoint.
#include <jni.h>
#include <jvmti.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "oracle: %s\n", message.c_str());
  std::_Exit(2);  // inside a JVM: no destructors, no hooks
}

void check(jvmtiError error, const char* what) {
  if (error != JVMTI_ERROR_NONE) fail(std::string(what) + ": JVMTI error " + std::to_string(error));
}

// Length of the instruction at `pc`, JVMS chapter 6.
size_t instruction_length(const unsigned char* code, size_t pc) {
  const auto u4 = [&](size_t at) {
    return uint32_t{code[at]} << 24 | uint32_t{code[at + 1]} << 16 | uint32_t{code[at + 2]} << 8 | code[at + 3];
  };
  const unsigned op = code[pc];
  const size_t padded = (pc + 4) & ~size_t{3};  // first operand of a switch
  const auto in = [&](unsigned first, unsigned last) { return first <= op && op <= last; };
  if (op == 0xaa) return padded + 12 + 4 * size_t{u4(padded + 8) - u4(padded + 4) + 1} - pc;
  if (op == 0xab) return padded + 8 + 8 * size_t{u4(padded + 4)} - pc;
  if (op == 0xc4) return code[pc + 1] == 0x84 ? 6 : 4;
  if (in(0xb9, 0xba) || in(0xc8, 0xc9)) return 5;
  if (op == 0xc5) return 4;
  if (op == 0x11 || in(0x13, 0x14) || op == 0x84 || in(0x99, 0xa8) || in(0xb2, 0xb8) || op == 0xbb || op == 0xbd ||
      in(0xc0, 0xc1) || in(0xc6, 0xc7)) {
    return 3;
  }
  if (op == 0x10 || op == 0x12 || in(0x15, 0x19) || in(0x36, 0x3a) || op == 0xa9 || op == 0xbc) return 2;
  return 1;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + '"';
}

struct Method {
  const std::string* name = nullptr;  // pkg/Class.method(desc)ret, one object per text; null: not included
};

// A calling context. Children are keyed by name, so classes of the same name from two loaders fall together.
struct Node {
  uint64_t calls = 0;
  uint64_t bytecodes = 0;
  std::map<const std::string*, std::unique_ptr<Node>> children;

  Node* child(const std::string* name) {
    auto& slot = children[name];
    if (!slot) slot = std::make_unique<Node>();
    return slot.get();
  }
};

struct Frame {
  Node* node;
  jmethodID method;
  jint depth;  // GetFrameCount while this frame is on top
};

struct ThreadRecord {
  std::string name;  // as of its first included method
  Node root;
  std::vector<Frame> shadow;

  void pop_deeper_than(jint depth) {
    while (!shadow.empty() && shadow.back().depth > depth) shadow.pop_back();
  }
};

struct Options {
  std::string out;
  std::vector<std::string> include;
  bool step = false;
};

Options parse_options(const char* text) {
  Options options;
  std::string count;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    std::string_view value = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    if (key == "out") {
      options.out = value;
    } else if (key == "count") {
      count = value;
    } else if (key == "include") {
      while (!value.empty()) {
        options.include.emplace_back(value.substr(0, value.find(',')));
        value.remove_prefix(std::min(options.include.back().size() + 1, value.size()));
      }
    } else {
      fail("unknown option '" + std::string(item) + "'; known: out=, include=, count=breakpoint|step, joined by ';'");
    }
  }
  if (options.out.empty()) fail("out=FILE is missing");
  if (count.empty()) count = options.include.empty() ? "step" : "breakpoint";
  if (count != "step" && count != "breakpoint") fail("count is 'step' or 'breakpoint', not '" + count + "'");
  if (count == "breakpoint" && options.include.empty()) fail("count=breakpoint needs include=");
  options.step = count == "step";
  return options;
}

class Oracle {
 public:
  Oracle(jvmtiEnv* jvmti, Options options) : jvmti_(jvmti), options_(std::move(options)) {}

  void load();
  void vm_init(JNIEnv* jni);
  void vm_death();
  void class_prepare(jclass type);
  void method_entry(jmethodID id);
  void method_exit(jmethodID id);
  void bytecode(jmethodID id);

 private:
  void set_events(jvmtiEventMode mode);
  void set_breakpoints(jclass type);
  std::string class_name(jclass type);
  bool is_included(std::string_view class_name) const;
  const Method& method(jmethodID id);
  ThreadRecord& current_thread();
  jint frame_count();
  Node* context_from_stack(ThreadRecord& thread);
  void write_node(std::FILE* out, const std::string& thread, std::vector<const std::string*>& stack,
                  const Node& node) const;

  jvmtiEnv* const jvmti_;
  const Options options_;
  std::mutex mutex_;
  bool dead_ = false;
  std::set<std::string> names_;
  std::unordered_map<jmethodID, Method> methods_;
  std::vector<std::unique_ptr<ThreadRecord>> threads_;
  uint64_t bytecodes_ = 0;
  uint64_t entries_ = 0;
  uint64_t repaired_ = 0;  // the shadow stack was not what the JVM's stack says
  uint64_t unpaired_ = 0;  // a MethodExit whose method was not on top of the shadow stack
};

Oracle* g_oracle = nullptr;  // made in Agent_OnLoad, never destroyed: daemon threads may still run at exit

void Oracle::load() {
  jvmtiCapabilities wanted{};
  wanted.can_generate_method_entry_events = 1;
  wanted.can_generate_method_exit_events = 1;
  wanted.can_get_bytecodes = 1;
  if (options_.step) {
    wanted.can_generate_single_step_events = 1;
  } else {
    wanted.can_generate_breakpoint_events = 1;
  }
  // can_support_virtual_threads, bit 44: unknown to the header of JDK 17, needed from 21 on.
  jvmtiCapabilities potential{};
  check(jvmti_->GetPotentialCapabilities(&potential), "GetPotentialCapabilities");
  constexpr int byte = 44 / 8;
  constexpr unsigned char mask = 1U << (44 % 8);
  unsigned char bytes[sizeof potential];
  std::memcpy(bytes, &potential, sizeof potential);
  if ((bytes[byte] & mask) != 0) {
    std::memcpy(bytes, &wanted, sizeof wanted);
    bytes[byte] |= mask;
    std::memcpy(&wanted, bytes, sizeof wanted);
  }
  check(jvmti_->AddCapabilities(&wanted), "AddCapabilities");

  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = [](jvmtiEnv*, JNIEnv* jni, jthread) { g_oracle->vm_init(jni); };
  callbacks.VMDeath = [](jvmtiEnv*, JNIEnv*) { g_oracle->vm_death(); };
  callbacks.ClassPrepare = [](jvmtiEnv*, JNIEnv*, jthread, jclass type) { g_oracle->class_prepare(type); };
  callbacks.MethodEntry = [](jvmtiEnv*, JNIEnv*, jthread, jmethodID id) { g_oracle->method_entry(id); };
  callbacks.MethodExit = [](jvmtiEnv*, JNIEnv*, jthread, jmethodID id, jboolean, jvalue) { g_oracle->method_exit(id); };
  callbacks.SingleStep = [](jvmtiEnv*, JNIEnv*, jthread, jmethodID id, jlocation) { g_oracle->bytecode(id); };
  callbacks.Breakpoint = [](jvmtiEnv*, JNIEnv*, jthread, jmethodID id, jlocation) { g_oracle->bytecode(id); };
  check(jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks), "SetEventCallbacks");
  for (const jvmtiEvent event : {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH}) {
    check(jvmti_->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr), "SetEventNotificationMode");
  }
}

void Oracle::set_events(jvmtiEventMode mode) {
  std::vector<jvmtiEvent> events = {JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_METHOD_EXIT};
  events.push_back(options_.step ? JVMTI_EVENT_SINGLE_STEP : JVMTI_EVENT_BREAKPOINT);
  if (!options_.step) events.push_back(JVMTI_EVENT_CLASS_PREPARE);
  for (const jvmtiEvent event : events) {
    check(jvmti_->SetEventNotificationMode(mode, event, nullptr), "SetEventNotificationMode");
  }
}

void Oracle::vm_init(JNIEnv* jni) {
  char* info = nullptr;
  check(jvmti_->GetSystemProperty("java.vm.info", &info), "GetSystemProperty");
  if (std::strstr(info, "interpreted mode") == nullptr) fail("start the JVM with -Xint");
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(info));

  set_events(JVMTI_ENABLE);
  if (options_.step) return;
  jint count = 0;
  jclass* classes = nullptr;
  check(jvmti_->GetLoadedClasses(&count, &classes), "GetLoadedClasses");
  for (jint i = 0; i < count; ++i) {
    jint status = 0;
    check(jvmti_->GetClassStatus(classes[i], &status), "GetClassStatus");
    if ((status & JVMTI_CLASS_STATUS_PREPARED) != 0) class_prepare(classes[i]);
    jni->DeleteLocalRef(classes[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(classes));
}

std::string Oracle::class_name(jclass type) {
  char* signature = nullptr;
  check(jvmti_->GetClassSignature(type, &signature, nullptr), "GetClassSignature");
  std::string name(signature);
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(signature));
  if (name.size() > 2 && name.front() == 'L') name = name.substr(1, name.size() - 2);
  return name;
}

// A hidden class (Lapp/Main$$Lambda.0x00007f…;) has a dot in its name. No agent can instrument it, so it never counts.
bool Oracle::is_included(std::string_view class_name) const {
  if (class_name.find('.') != std::string_view::npos) return false;
  if (options_.include.empty()) return true;
  return std::any_of(options_.include.begin(), options_.include.end(),
                     [&](const std::string& prefix) { return class_name.starts_with(prefix); });
}

void Oracle::class_prepare(jclass type) {
  const std::string name = class_name(type);
  if (name.front() != '[' && is_included(name)) set_breakpoints(type);
}

void Oracle::set_breakpoints(jclass type) {
  jint count = 0;
  jmethodID* methods = nullptr;
  check(jvmti_->GetClassMethods(type, &count, &methods), "GetClassMethods");
  for (jint i = 0; i < count; ++i) {
    jint size = 0;
    unsigned char* code = nullptr;
    const jvmtiError error = jvmti_->GetBytecodes(methods[i], &size, &code);
    if (error == JVMTI_ERROR_NATIVE_METHOD) continue;
    check(error, "GetBytecodes");  // an abstract method has none: size 0
    for (size_t pc = 0; pc < static_cast<size_t>(size); pc += instruction_length(code, pc)) {
      const jvmtiError set = jvmti_->SetBreakpoint(methods[i], static_cast<jlocation>(pc));
      if (set != JVMTI_ERROR_DUPLICATE) check(set, "SetBreakpoint");
    }
    jvmti_->Deallocate(code);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(methods));
}

const Method& Oracle::method(jmethodID id) {
  const auto [it, is_new] = methods_.try_emplace(id);
  if (!is_new) return it->second;
  jclass type = nullptr;
  check(jvmti_->GetMethodDeclaringClass(id, &type), "GetMethodDeclaringClass");
  const std::string owner = class_name(type);
  if (!is_included(owner)) return it->second;
  char* name = nullptr;
  char* descriptor = nullptr;
  check(jvmti_->GetMethodName(id, &name, &descriptor, nullptr), "GetMethodName");
  it->second.name = &*names_.insert(owner + '.' + name + descriptor).first;
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(name));
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(descriptor));
  return it->second;
}

// JVMTI's thread-local storage and not C++'s: it belongs to the virtual thread, not to its carrier.
ThreadRecord& Oracle::current_thread() {
  void* record = nullptr;
  check(jvmti_->GetThreadLocalStorage(nullptr, &record), "GetThreadLocalStorage");
  if (record == nullptr) {
    threads_.push_back(std::make_unique<ThreadRecord>());
    record = threads_.back().get();
    check(jvmti_->SetThreadLocalStorage(nullptr, record), "SetThreadLocalStorage");
    jvmtiThreadInfo info{};
    check(jvmti_->GetThreadInfo(nullptr, &info), "GetThreadInfo");
    threads_.back()->name = info.name;
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  }
  return *static_cast<ThreadRecord*>(record);
}

jint Oracle::frame_count() {
  jint count = 0;
  check(jvmti_->GetFrameCount(nullptr, &count), "GetFrameCount");
  return count;
}

Node* Oracle::context_from_stack(ThreadRecord& thread) {
  std::vector<jvmtiFrameInfo> frames(static_cast<size_t>(frame_count()));
  jint count = 0;
  check(jvmti_->GetStackTrace(nullptr, 0, static_cast<jint>(frames.size()), frames.data(), &count), "GetStackTrace");
  Node* node = &thread.root;
  for (jint i = count; i-- > 0;) {
    const Method& m = method(frames[static_cast<size_t>(i)].method);
    if (m.name != nullptr) node = node->child(m.name);
  }
  return node;
}

void Oracle::method_entry(jmethodID id) {
  const std::lock_guard lock(mutex_);
  if (dead_) return;
  const Method& m = method(id);
  if (m.name == nullptr) return;
  ThreadRecord& thread = current_thread();
  const jint depth = frame_count();
  if (!thread.shadow.empty() && thread.shadow.back().depth >= depth) {
    ++repaired_;
    thread.pop_deeper_than(depth - 1);
  }
  Node* const node = context_from_stack(thread);
  Node* const parent = thread.shadow.empty() ? &thread.root : thread.shadow.back().node;
  if (parent->child(m.name) != node) ++repaired_;
  thread.shadow.push_back({node, id, depth});
  ++node->calls;
  ++entries_;
}

void Oracle::method_exit(jmethodID id) {
  const std::lock_guard lock(mutex_);
  if (dead_ || method(id).name == nullptr) return;
  ThreadRecord& thread = current_thread();
  if (thread.shadow.empty() || thread.shadow.back().method != id || thread.shadow.back().depth != frame_count()) {
    ++unpaired_;
    thread.pop_deeper_than(frame_count() - 1);
  } else {
    thread.shadow.pop_back();
  }
}

void Oracle::bytecode(jmethodID id) {
  const std::lock_guard lock(mutex_);
  if (dead_ || method(id).name == nullptr) return;
  ThreadRecord& thread = current_thread();
  const jint depth = frame_count();
  if (thread.shadow.empty() || thread.shadow.back().method != id || thread.shadow.back().depth != depth) {
    ++repaired_;
    thread.pop_deeper_than(depth - 1);
    thread.shadow.push_back({context_from_stack(thread), id, depth});
  }
  ++thread.shadow.back().node->bytecodes;
  ++bytecodes_;
}

void Oracle::write_node(std::FILE* out, const std::string& thread, std::vector<const std::string*>& stack,
                        const Node& node) const {
  if (node.calls != 0 || node.bytecodes != 0) {
    std::string frames;
    for (const std::string* name : stack) frames += (frames.empty() ? "" : ",") + json_string(*name);
    std::fprintf(out, "{\"thread\":%s,\"stack\":[%s],\"calls\":%llu,\"bytecodes\":%llu}\n", json_string(thread).c_str(),
                 frames.c_str(), static_cast<unsigned long long>(node.calls),
                 static_cast<unsigned long long>(node.bytecodes));
  }
  std::vector<const std::string*> names;
  for (const auto& [name, child] : node.children) names.push_back(name);
  std::sort(names.begin(), names.end(), [](const auto* a, const auto* b) { return *a < *b; });
  for (const std::string* name : names) {
    stack.push_back(name);
    write_node(out, thread, stack, *node.children.at(name));
    stack.pop_back();
  }
}

void Oracle::vm_death() {
  set_events(JVMTI_DISABLE);
  const std::lock_guard lock(mutex_);
  dead_ = true;
  std::FILE* const out = std::fopen(options_.out.c_str(), "w");
  std::FILE* const stats = std::fopen((options_.out + ".stats").c_str(), "w");
  if (out == nullptr || stats == nullptr) fail("cannot write " + options_.out);
  std::sort(threads_.begin(), threads_.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  for (const auto& thread : threads_) {
    std::vector<const std::string*> stack;
    write_node(out, thread->name, stack, thread->root);
  }
  std::fprintf(stats, "{\"calls\":%llu,\"bytecodes\":%llu,\"threads\":%zu,\"repaired\":%llu,\"unpaired\":%llu}\n",
               static_cast<unsigned long long>(entries_), static_cast<unsigned long long>(bytecodes_), threads_.size(),
               static_cast<unsigned long long>(repaired_), static_cast<unsigned long long>(unpaired_));
  if (std::fclose(out) != 0 || std::fclose(stats) != 0) fail("cannot write " + options_.out);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* /*reserved*/) {
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_11) != JNI_OK) fail("no JVMTI 11 here");
  g_oracle = new Oracle(jvmti, parse_options(options));
  g_oracle->load();
  return JNI_OK;
}
