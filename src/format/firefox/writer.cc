// SPDX-License-Identifier: Apache-2.0
#include "format/firefox/writer.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "format/comments.h"
#include "format/contexts.h"
#include "format/json_text.h"

namespace sonde::format::firefox {
namespace {

constexpr int kVersion = 47;  // of processed profiles
constexpr int kGeckoVersion = 27;

enum Category : std::uint8_t { kProgram, kJdk, kNative };
constexpr const char* kCategories = R"([{"name":"Program","color":"blue","subcategories":["Other"]},)"
                                    R"({"name":"JDK","color":"lightblue","subcategories":["Other"]},)"
                                    R"({"name":"Native","color":"orange","subcategories":["Other"]}])";

// To the last nanosecond: "12.003400".
std::string milliseconds(std::uint64_t ns) {
  const std::string rest = std::to_string(ns % 1'000'000);
  return std::to_string(ns / 1'000'000) + "." + std::string(6 - rest.size(), '0') + rest;
}

class Writer {
 public:
  Writer(const profile::Profile& profile, profile::Metric metric, const Sink& sink)
      : profile_(profile), type_(profile::info_of(metric)), order_(profile), sink_(sink) {}

  bool run() {
    write_meta();
    put(",\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[");
    int number = 0;
    for (const profile::ThreadGroup& group : profile::threads_by_name(profile_.all_threads())) {
      if (number != 0) put(",");
      write_thread(group, number++);
      if (!is_fine_) return false;
    }
    put("]}\n");
    return is_fine_;
  }

 private:
  void write_meta() {
    const profile::Recording& recording = profile_.recording;
    std::string comments;
    for (const std::string& line : comments_of(profile_)) comments += (comments.empty() ? "" : "\n") + line;
    put("{\"meta\":{\"interval\":1,\"startTime\":" + std::to_string(recording.start_ns / 1'000'000) +
        ",\"processType\":0,\"product\":" + json_string(recording.command.empty() ? "sonde" : recording.command) +
        ",\"importedFrom\":\"sonde\",\"stackwalk\":1,\"version\":" + std::to_string(kGeckoVersion) +
        ",\"preprocessedProfileVersion\":" + std::to_string(kVersion) +
        ",\"symbolicated\":true,\"symbolicationNotSupported\":true,\"comment\":" + json_string(comments) +
        ",\"categories\":" + kCategories +
        ",\"markerSchema\":[],\"extensions\":"
        "{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0}}");
  }

  void write_thread(const profile::ThreadGroup& group, int number) {
    const Contexts contexts = contexts_of(profile_, order_, group.threads, std::span(&type_, 1), CallSites::kMerge);
    put("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,"
        "\"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":false,\"name\":" +
        json_string(group.name) + ",\"isMainThread\":" + (number == 0 ? "true" : "false") + ",\"pid\":\"" +
        std::to_string(profile_.recording.pid) + "\",\"tid\":" + std::to_string(number + 1));
    number_functions(contexts);
    write_samples(contexts);
    write_stacks(contexts);
    write_functions();
    put(",\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}"
        ",\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]}"
        ",\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
        "\"category\":[]}}");
  }

  void number_functions(const Contexts& contexts) {
    functions_.clear();
    function_of_.clear();
    for (const profile::MethodId method : contexts.method) {
      const auto next = static_cast<std::uint32_t>(functions_.size());
      if (function_of_.try_emplace(method.value(), next).second) functions_.push_back(method);
    }
  }

  void write_samples(const Contexts& contexts) {
    std::vector<std::size_t> samples;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      if (!contexts.is_zero(i)) samples.push_back(i);
    }
    const bool is_time = profile::is_time(type_.metric);
    put(",\"samples\":{\"length\":" + std::to_string(samples.size()) + ",\"weightType\":\"" +
        (is_time ? "tracing-ms" : "samples") + "\"");
    column("stack", samples.size(), [&](std::size_t i) { return std::to_string(samples[i]); });
    column("time", samples.size(), [](std::size_t i) { return std::to_string(i); });
    column("weight", samples.size(), [&](std::size_t i) {
      const std::uint64_t value = contexts.values[0][samples[i]];
      return is_time ? milliseconds(value) : std::to_string(value);
    });
    put("}");
  }

  // A stack per context: its caller is the prefix.
  void write_stacks(const Contexts& contexts) {
    std::vector<std::size_t> path;
    put(",\"stackTable\":{\"length\":" + std::to_string(contexts.size()));
    column("prefix", contexts.size(), [&](std::size_t i) {
      path.resize(contexts.depth[i]);
      std::string prefix = path.empty() ? "null" : std::to_string(path.back());
      path.push_back(i);
      return prefix;
    });
    column("frame", contexts.size(),
           [&](std::size_t i) { return std::to_string(function_of_.at(contexts.method[i].value())); });
    column("category", contexts.size(), [&](std::size_t i) { return category(contexts.method[i]); });
    column("subcategory", contexts.size(), [](std::size_t) { return "0"; });
    put("}");
  }

  // A frame is a function: its lines are not known.
  void write_functions() {
    const std::size_t count = functions_.size();
    const auto index = [](std::size_t i) { return std::to_string(i); };
    const auto method = [&](std::size_t i) -> const profile::Method& { return profile_.method(functions_[i]); };
    put(",\"frameTable\":{\"length\":" + std::to_string(count));
    column("func", count, index);
    column("category", count, [&](std::size_t i) { return category(functions_[i]); });
    for (const char* zero : {"subcategory", "inlineDepth", "innerWindowID"}) {
      column(zero, count, [](std::size_t) { return "0"; });
    }
    column("address", count, [](std::size_t) { return "-1"; });
    for (const char* none : {"nativeSymbol", "implementation", "line", "column"}) {
      column(none, count, [](std::size_t) { return "null"; });
    }
    // Strings: the names of all functions, then their files.
    put("},\"funcTable\":{\"length\":" + std::to_string(count));
    column("name", count, index);
    column("isJS", count, [](std::size_t) { return "false"; });
    column("relevantForJS", count, [](std::size_t) { return "false"; });
    column("resource", count, [](std::size_t) { return "-1"; });
    column("fileName", count, [&](std::size_t i) {
      return profile_.class_of(method(i)).source_file.empty() ? std::string("null") : std::to_string(count + i);
    });
    column("lineNumber", count, [&](std::size_t i) {
      return method(i).first_line == 0 ? std::string("null") : std::to_string(method(i).first_line);
    });
    column("columnNumber", count, [](std::size_t) { return "null"; });
    put("}");
    column("stringArray", 2 * count, [&](std::size_t i) {
      if (i >= count) return json_string(profile_.class_of(method(i - count)).source_file);
      return json_string(profile_.display_name(functions_[i]) + profile::parameter_list(method(i).descriptor));
    });
  }

  [[nodiscard]] std::string category(profile::MethodId id) const {
    const profile::MethodKind kind = profile_.method(id).kind;
    if (kind == profile::MethodKind::kNative || kind == profile::MethodKind::kIntrinsic) return std::to_string(kNative);
    return std::to_string(profile_.class_of(id).is_jdk ? kJdk : kProgram);
  }

  template <typename TextOf>
  void column(std::string_view name, std::size_t count, const TextOf& text_of) {
    put(",\"" + std::string(name) + "\":[");
    std::string piece;
    for (std::size_t i = 0; i < count && is_fine_; ++i) {
      if (i != 0) piece += ',';
      piece += text_of(i);
      if (piece.size() < kPiece) continue;
      put(piece);
      piece.clear();
    }
    put(piece + "]");
  }

  void put(std::string_view text) { is_fine_ = is_fine_ && sink_(text); }

  static constexpr std::size_t kPiece = 4096;

  const profile::Profile& profile_;
  const profile::MetricInfo type_;
  const MethodOrder order_;
  const Sink& sink_;
  bool is_fine_ = true;
  std::vector<profile::MethodId> functions_;  // of the current thread
  std::unordered_map<std::uint32_t, std::uint32_t> function_of_;
};

}  // namespace

bool write(const profile::Profile& profile, profile::Metric metric, const Sink& sink) {
  return Writer(profile, metric, sink).run();
}

}  // namespace sonde::format::firefox
