// SPDX-License-Identifier: Apache-2.0
#include "format/jfr/writer.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/comments.h"
#include "format/contexts.h"
#include "format/jfr/chunk.h"

namespace sonde::format::jfr {
namespace {

constexpr std::size_t kChunkSize = std::size_t{16} << 20;
constexpr const char* kNoDescriptor = "()V";
constexpr std::uint64_t kUnknownDuration = 1'000'000'000;

class Writer {
 public:
  Writer(const profile::Profile& profile, const Sink& sink)
      : profile_(profile), types_(profile::metrics_of(profile)), sink_(sink) {
    for (const profile::MetricInfo& type : types_) value_names_.push_back(type.name);
    const profile::Recording& recording = profile.recording;
    duration_ = recording.end_ns > recording.start_ns ? recording.end_ns - recording.start_ns : kUnknownDuration;
    choose_samples();
  }

  bool run() {
    for (const std::string& line : comments_of(profile_)) write_note(line);
    const MethodOrder order(profile_);
    std::uint64_t thread = 0;
    for (const profile::ThreadGroup& group : profile::threads_by_name(profile_.all_threads())) {
      ++thread;
      write_contexts(group.name, thread, contexts_of(profile_, order, group.threads, types_, CallSites::kKeep));
      if (!is_fine_) return false;
    }
    flush(duration_, Place::kLast);
    return is_fine_;
  }

 private:
  // An execution sample is one of ours, or a share of the work: as many as kMaxSamples, if there are more.
  void choose_samples() {
    profile::Metric work = profile::metric_of_work(profile_).value_or(types_.front().metric);
    const auto events = profile::events_behind(profile_, work);
    if (events) work = events->metric;
    work_ = static_cast<std::size_t>(std::ranges::find(types_, work, &profile::MetricInfo::metric) - types_.begin());
    total_ = profile::sum_of(profile_, work);
    per_sample_ = std::max(events ? events->size : 1, (total_ + kMaxSamples - 1) / kMaxSamples);
  }

  void write_note(const std::string& line) {
    event_.clear();
    event_.number(static_cast<std::uint64_t>(TypeId::kNote));
    event_.number(now());
    event_.text(line);
    chunk_.event(event_);
  }

  void write_contexts(const std::string& name, std::uint64_t number, const Contexts& contexts) {
    std::vector<std::size_t> path;
    for (std::size_t context = 0; context < contexts.size() && is_fine_; ++context) {
      path.resize(contexts.depth[context]);
      path.push_back(context);
      if (contexts.is_zero(context)) continue;
      // Constants are of a chunk, so all of them are made anew after each flush.
      const std::uint64_t thread = thread_constant(name, number);
      const std::uint64_t stack = stack_constant(contexts, path);
      event_.clear();
      event_.number(static_cast<std::uint64_t>(TypeId::kContext));
      event_.number(now());
      event_.number(thread);
      event_.number(stack);
      for (const auto& column : contexts.values) event_.number(column[context]);
      chunk_.event(event_);
      write_samples(thread, stack, contexts.values[work_][context]);
      if (chunk_.size() >= kChunkSize) flush(now(), Place::kFurtherFollow);
    }
  }

  // As many as `value` fills up of the next multiples of per_sample_.
  void write_samples(std::uint64_t thread, std::uint64_t stack, std::uint64_t value) {
    for (std::uint64_t left = value; left != 0;) {
      const std::uint64_t missing = per_sample_ - passed_ % per_sample_;
      const std::uint64_t step = std::min(left, missing);
      passed_ += step;
      left -= step;
      if (step != missing) continue;
      event_.clear();
      event_.number(static_cast<std::uint64_t>(TypeId::kExecutionSample));
      event_.number(now());
      event_.number(thread);
      event_.number(stack);
      event_.number(chunk_.text_constant(TypeId::kThreadState, "STATE_RUNNABLE"));
      chunk_.event(event_);
    }
  }

  std::uint64_t thread_constant(const std::string& name, std::uint64_t number) {
    constant_.clear();
    constant_.text(name);      // osName
    constant_.number(0);       // osThreadId
    constant_.text(name);      // javaName
    constant_.number(number);  // javaThreadId: readers take 0 for no Java thread
    constant_.number(0);       // group
    return chunk_.pool(TypeId::kThread).add(constant_.bytes());
  }

  std::uint64_t class_constant(const profile::Class& cls) {
    constant_.clear();
    constant_.number(0);  // classLoader
    constant_.number(chunk_.text_constant(TypeId::kSymbol, cls.name));
    constant_.number(0);  // package
    constant_.number(0);  // modifiers
    return chunk_.pool(TypeId::kClass).add(constant_.bytes());
  }

  std::uint64_t method_constant(profile::MethodId id) {
    const auto [it, is_new] = methods_.try_emplace(id.value(), 0);
    if (is_new) it->second = new_method_constant(id);
    return it->second;
  }

  std::uint64_t new_method_constant(profile::MethodId id) {
    const profile::Method& method = profile_.method(id);
    const std::uint64_t cls = class_constant(profile_.class_of(method));
    constant_.clear();
    constant_.number(cls);
    constant_.number(chunk_.text_constant(TypeId::kSymbol, method.name));
    // Readers take everything for a method: `jfr view` stops at one without parameters in parentheses.
    const bool has_descriptor = method.descriptor.starts_with('(');
    constant_.number(chunk_.text_constant(TypeId::kSymbol, has_descriptor ? method.descriptor : kNoDescriptor));
    constant_.number(method.access_flags);
    constant_.u1(0);  // hidden
    return chunk_.pool(TypeId::kMethod).add(constant_.bytes());
  }

  // The innermost frame first; its line is unknown, that of any other is where it calls the next one.
  std::uint64_t stack_constant(const Contexts& contexts, const std::vector<std::size_t>& path) {
    const std::uint64_t compiled = chunk_.text_constant(TypeId::kFrameType, "JIT compiled");
    const std::uint64_t native = chunk_.text_constant(TypeId::kFrameType, "Native");
    Encoder stack;
    stack.u1(0);  // truncated
    stack.number(path.size());
    std::uint16_t line = 0;
    for (std::size_t i = path.size(); i-- > 0;) {
      const profile::MethodId method = contexts.method[path[i]];
      stack.number(method_constant(method));
      stack.number(line);
      stack.number(0);  // bytecodeIndex
      stack.number(profile_.method(method).kind == profile::MethodKind::kNative ? native : compiled);
      line = contexts.line[path[i]];
    }
    return chunk_.pool(TypeId::kStackTrace).append(stack.bytes());
  }

  // The time at which this much of the work is done.
  [[nodiscard]] std::uint64_t now() const {
    if (total_ == 0) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(duration_) *
                                      (static_cast<double>(passed_) / static_cast<double>(total_)));
  }

  void flush(std::uint64_t end, Place place) {
    if (chunk_.is_empty()) return;
    is_fine_ = is_fine_ && sink_(chunk_.finish(profile_.recording.start_ns, chunk_start_, end, value_names_, place));
    chunk_ = {};
    methods_.clear();
    chunk_start_ = end;
  }

  const profile::Profile& profile_;
  const std::vector<profile::MetricInfo> types_;
  std::size_t work_ = 0;  // of types_: what execution samples are made from
  std::vector<std::string_view> value_names_;
  const Sink& sink_;
  std::uint64_t duration_;
  std::uint64_t total_;  // of the metric that samples stand for
  std::uint64_t per_sample_;
  std::uint64_t passed_ = 0;  // of total_
  std::uint64_t chunk_start_ = 0;
  Chunk chunk_;
  std::unordered_map<std::uint32_t, std::uint64_t> methods_;  // constants of the chunk
  Encoder event_;
  Encoder constant_;
  bool is_fine_ = true;
};

}  // namespace

bool write(const profile::Profile& profile, const Sink& sink) { return Writer(profile, sink).run(); }

}  // namespace sonde::format::jfr
