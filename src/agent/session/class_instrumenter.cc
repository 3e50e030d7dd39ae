// SPDX-License-Identifier: Apache-2.0
#include "agent/session/class_instrumenter.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "agent/session/build_id.h"
#include "agent/session/hash_bytes.h"
#include "agent/session/untouched_classes.h"
#include "base/clock.h"
#include "base/glob.h"
#include "instrument/places.h"
#include "instrument/reporting_pass.h"
#include "instrument/runtime_layout.h"

namespace sonde::agent {

using namespace classfile;
using instrument::Precision;

static_assert(instrument::kNodeHeaderSize == sizeof(arena::Node) &&
              instrument::kCallSiteSize == sizeof(arena::CallSite));

namespace {

constexpr std::string_view kThread = "java/lang/Thread";
constexpr MemberRef kBornSampled{"java/lang/SondeSampling", "born", "(Ljava/lang/Thread;)V"};
constexpr MemberRef kBorn{"java/lang/SondeRT", "born", "(Ljava/lang/Thread;)V"};

// As in java/runtime/stubs/java/lang/Thread.java.
constexpr std::array<std::string_view, 11> kThreadFields = {
    "$sondeSite",   "$sondeTree", "$sondeRoot",     "$sondeHidden", "$sondeLeft",   "$sondeQuota",
    "$sondeRandom", "$sondePath", "$sondeChildren", "$sondeRegion", "$sondeCallers"};
constexpr std::array<std::string_view, 3> kAgentFields = {"$sondeOwn", "$sondeUser", "$sondeAsked"};

// A body in finalize()V, even an empty one with a probe, makes HotSpot register every instance for finalization.
bool is_empty_finalizer(const Member& method, const Code& code) {
  return method.name == "finalize" && method.descriptor == "()V" && code.length() == 1;
}

// At the end of a constructor of Thread: who made it is known only now.
void insert_birth(CodeEditor& code, const MemberRef& born_method) {
  instrument::before_returns(code,
                             code.snippet([&](CodeBuilder& b) { b.op(Opcode::aload_0).invoke_static(born_method); }));
}

}  // namespace

instrument::KnownMethods read_known_methods(const std::string& folder) {
  std::ifstream file(folder + "/known", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  auto known = instrument::KnownMethods::parse(as_bytes(bytes));
  return known.ok() ? std::move(known).value() : instrument::KnownMethods();
}

std::unique_ptr<instrument::CountingPass> ClassInstrumenter::make_pass() {
  if (!options_.sampling.is_on() && options_.has_agent())
    return std::make_unique<instrument::ReportingPass>(known_, registry_);
  if (!options_.sampling.is_on()) {
    const auto contexts = options_.flat ? instrument::Contexts::kNone : instrument::Contexts::kTree;
    return std::make_unique<instrument::CountingPass>(known_, registry_, contexts);
  }
  // Patterns may choose classes of the JDK.
  const bool jdk_counts = options_.jdk || !options_.include.empty();
  return std::make_unique<instrument::SamplingPass>(known_, registry_, sites_, options_.sampling.context, jdk_counts,
                                                    options_.sampling.weights ? &*options_.sampling.weights : nullptr);
}

bool ClassInstrumenter::is_selected(std::string_view class_name, bool of_jdk) const {
  if (is_never_touched(class_name)) return false;
  const auto matches = [&](const std::string& pattern) { return class_name_matches(pattern, class_name); };
  if (std::ranges::any_of(options_.exclude, matches)) return false;
  if (!options_.include.empty()) return std::ranges::any_of(options_.include, matches);
  return options_.jdk || !of_jdk;
}

std::optional<Bytes> ClassInstrumenter::rewrite_locked(Bytes original, bool of_jdk) {
  const std::uint64_t begin = thread_cpu_ns();
  if (cache_ && of_jdk) {
    if (const auto cached = from_cache(original)) {
      arena_.header().own_cpu_ns += thread_cpu_ns() - begin;
      return cached;
    }
  }
  if (const auto parsed = ClassFile::parse_into(original, class_); !parsed.ok()) {
    count_failure(parsed.error());
    return std::nullopt;
  }
  const auto result = rewrite_parsed(of_jdk);
  if (result && cache_ && of_jdk && is_complete_) {
    cache_->add(original, {.name = class_.name(), .bytes = *result, .records = records_.view()});
  }
  if (result) arena_.header().own_cpu_ns += thread_cpu_ns() - begin;
  return result;
}

std::optional<Bytes> ClassInstrumenter::rewrite_parsed(bool of_jdk) {
  // After attach threads have an object of ours each: a class that is loaded cannot get fields.
  const bool is_thread = class_.name() == kThread && of_jdk && !options_.is_attached;
  const bool selected = is_selected(class_.name(), of_jdk);
  if (!selected && !is_thread) return std::nullopt;
  is_complete_ = selected;
  records_.clear();
  registry_.note_records(cache_ && of_jdk ? &records_ : nullptr);
  editor_.open(class_);
  if (is_thread) {
    for (const std::string_view field : kThreadFields) {
      editor_.add_field(kAccPublic | kAccTransient | kAccSynthetic, field, "J");
    }
  }
  if (is_thread && options_.has_agent()) {
    for (const std::string_view field : kAgentFields)
      editor_.add_field(kAccPublic | kAccTransient | kAccSynthetic, field, "J");
  }
  if (is_thread && options_.heap_tree) {
    editor_.add_field(kAccPublic | kAccTransient | kAccSynthetic, "$sondeNode", "Ljava/lang/SondeNode;");
  }
  tells_births_ = is_thread && (options_.sampling.is_on() || options_.has_agent());
  if (selected) {
    count_methods(class_, of_jdk);
  } else if (tells_births_) {
    tell_births(class_);
  }
  const auto written = editor_.write();
  if (!written.ok()) {
    arena_.count(Counter::kPoolsFull);  // the one thing that a whole class is refused for
    return std::nullopt;
  }
  return *written;
}

std::optional<Bytes> ClassInstrumenter::from_cache(Bytes original) {
  const auto cached = cache_->take(original);
  if (!cached || !is_selected(cached->name, true)) return std::nullopt;
  registry_.replay(cached->records);
  return cached->bytes;
}

void ClassInstrumenter::use_cache(const std::string& path) {
  const bool is_common = options_.exact && options_.jdk && options_.precise && !options_.flat && !options_.heap_tree &&
                         !options_.count_intrinsics && !options_.sampling.is_on() && !options_.has_agent() &&
                         !options_.is_attached;
  const Bytes build = own_build_id();
  if (path.empty() || !is_common || build.empty()) return;
  const std::vector<std::uint8_t> known = known_.serialize();
  cache_.emplace(hash_bytes(known, hash_bytes(build)));
  cache_->open(path);
  registry_.fix_numbers(known_, cache_->index().next_method(), cache_->index().next_class());
}

void ClassInstrumenter::save_cache(const std::string& path) {
  const std::lock_guard lock(mutex_);
  // A recording that runs out of disk has other worries than the next one's start.
  if (cache_ && cache_->has_news()) (void)cache_->write(path, registry_.next_method(), registry_.next_class());
}

void ClassInstrumenter::count_methods(const ClassFile& cls, bool of_jdk) {
  const std::uint32_t class_id = registry_.add_class(cls, of_jdk ? arena::kClassOfJdk : 0);
  for (const Member& method : cls.methods()) {
    if (has_code(method)) count_method(cls, method, class_id, of_jdk);
  }
}

void ClassInstrumenter::count_method(const ClassFile& cls, const Member& method, std::uint32_t class_id, bool of_jdk) {
  const bool intrinsic = options_.count_intrinsics ? instrument::is_unavoidable_intrinsic(cls, method)
                                                   : instrument::is_intrinsic(cls, method);
  if (of_jdk && intrinsic) {
    if (auto sunk = sink(method); !sunk.ok()) count_failure(sunk.error());
    return;
  }
  instrument::MethodToCount which = {.id = 0, .of_jdk = of_jdk, .precision = Precision::kPads};
  const auto try_with = [&](Precision precision) {
    which.precision = precision;
    return try_to_count(method, which);
  };
  auto counted = try_with(options_.precise ? Precision::kPads : Precision::kWholeBlocks);
  if (!counted.ok() && counted.error().code == ErrorCode::kTooLarge && options_.precise) {
    counted = try_with(Precision::kWholeBlocks);
    is_complete_ = false;
    if (counted.ok()) arena_.count(Counter::kMethodsByBlocks);
  }
  if (!counted.ok()) return count_failure(counted.error());
  if (counted_.sites.empty()) return;  // an empty finalizer, or no room for counters
  std::uint16_t flags = 0;
  if (counted_.is_leaf) flags |= arena::kLeaf;
  if (counted_.constant_bytecodes != 0) flags |= arena::kSinglePath;
  if (options_.sampling.is_on()) counted_.constant_bytecodes = 0;  // what calls cost is in the countdown
  registry_.add_method(which.id, class_id, method, flags, counted_);
  if (options_.sampling.asks_jvm() && !counted_.is_leaf) name_sites(cls, method);
}

// So that a stack of the JVM, with methods and pcs, can be told in terms of call sites.
void ClassInstrumenter::name_sites(const ClassFile& cls, const Member& method) {
  std::vector<std::uint32_t> pcs;
  for (std::size_t i = 1; i < counted_.sites.size(); ++i)
    pcs.push_back(editor_.map().position(Pc(counted_.sites[i].pc)));
  sites_.name_last(std::string(cls.name()).append(".").append(method.name).append(method.descriptor),
                   editor_.map().new_length(), std::move(pcs));
}

Result<void> ClassInstrumenter::try_to_count(const Member& method, instrument::MethodToCount& which) {
  CodeEditor* code = nullptr;
  for (unsigned attempt = 0; attempt == 0 || !registry_.claim(which.id, which.of_jdk, counted_); ++attempt) {
    code = TRY(editor_.edit(method));
    counted_.sites.clear();
    if (is_empty_finalizer(method, code->code())) return {};
    which.id = registry_.method_id(method, which.of_jdk, attempt);
    if (which.id == 0) return {};
    if (options_.heap_tree) {
      TRY(heap_tree_pass_.apply(*code, which.id, counted_));
    } else {
      TRY(pass_->apply(*code, which, counted_));
    }
  }
  if (tells_births_ && method.name == "<init>") insert_birth(*code, born_method());
  return editor_.commit();
}

const MemberRef& ClassInstrumenter::born_method() const { return options_.sampling.is_on() ? kBornSampled : kBorn; }

// A Thread that is not counted itself.
void ClassInstrumenter::tell_births(const ClassFile& threads) {
  for (const Member& method : threads.methods()) {
    if (method.name != "<init>") continue;
    const auto code = editor_.edit(method);
    if (!code.ok()) return count_failure(code.error());
    insert_birth(**code, born_method());
    if (const auto committed = editor_.commit(); !committed.ok()) return count_failure(committed.error());
  }
}

Result<void> ClassInstrumenter::sink(const Member& method) {
  if (options_.heap_tree) return {};  // knows no sink: such methods are not counted
  CodeEditor* code = TRY(editor_.edit(method));
  TRY(pass_->apply_sink(*code));
  return editor_.commit();
}

void ClassInstrumenter::count_failure(const Error& error) {
  is_complete_ = false;
  switch (error.code) {
    case ErrorCode::kTooLarge: return arena_.count(Counter::kMethodsTooLarge);
    case ErrorCode::kUnsupported: return arena_.count(Counter::kClassesUnsupported);
    default: return arena_.count(Counter::kClassesMalformed);
  }
}

}  // namespace sonde::agent
