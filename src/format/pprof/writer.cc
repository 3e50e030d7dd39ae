// SPDX-License-Identifier: Apache-2.0
// Samples are written as they come, functions and locations when they are first met, strings at the end: protobuf
// leaves the order of fields open, and so nothing but the string table is held in memory.
#include "format/pprof/writer.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "format/comments.h"
#include "format/contexts.h"
#include "format/gzip_sink.h"
#include "format/pprof/fields.h"
#include "format/pprof/protobuf.h"

namespace sonde::format::pprof {
namespace {

class Writer {
 public:
  Writer(const profile::Profile& profile, const Sink& sink)
      : profile_(profile), types_(profile::metrics_of(profile)), gzip_(sink) {
    string_index("");
  }

  bool run() {
    write_header();
    const MethodOrder order(profile_);
    for (const profile::ThreadGroup& group : profile::threads_by_name(profile_.all_threads())) {
      write_samples(group.name, contexts_of(profile_, order, group.threads, types_, CallSites::kKeep));
      if (!is_fine_) return false;
    }
    write_strings();
    return is_fine_ && gzip_.finish();
  }

 private:
  void write_header() {
    for (const profile::MetricInfo& type : types_) {
      part_.clear();
      part_.number(ValueTypeField::kType, string_index(type.name));
      part_.number(ValueTypeField::kUnit, string_index(type.unit));
      emit(ProfileField::kSampleType);
    }
    Message header;
    header.number(ProfileField::kTimeNanos, profile_.recording.start_ns);
    if (profile_.recording.end_ns > profile_.recording.start_ns) {
      header.number(ProfileField::kDurationNanos, profile_.recording.end_ns - profile_.recording.start_ns);
    }
    for (const std::string& comment : comments_of(profile_)) {
      header.number(ProfileField::kComment, string_index(comment));
    }
    const profile::Metric work = profile::metric_of_work(profile_).value_or(types_.front().metric);
    header.number(ProfileField::kDefaultSampleType, string_index(profile::name_of(work)));
    is_fine_ = is_fine_ && gzip_.write(header.bytes());
  }

  void write_samples(const std::string& thread, const Contexts& contexts) {
    Message label;
    label.number(LabelField::kKey, string_index(kThreadLabel));
    label.number(LabelField::kStr, string_index(thread));
    std::vector<std::size_t> path;  // contexts from the outermost to the current one
    std::vector<std::uint64_t> locations;
    std::vector<std::uint64_t> values(types_.size());
    for (std::size_t context = 0; context < contexts.size() && is_fine_; ++context) {
      path.resize(contexts.depth[context]);
      path.push_back(context);
      if (contexts.is_zero(context)) continue;
      locations.clear();
      std::uint16_t line = 0;
      for (std::size_t i = path.size(); i-- > 0;) {
        locations.push_back(location_id(contexts.method[path[i]], line));
        line = contexts.line[path[i]];
      }
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = contexts.values[i][context];
      part_.clear();
      part_.packed(SampleField::kLocationId, locations);
      part_.packed(SampleField::kValue, values);
      part_.message(SampleField::kLabel, label);
      emit(ProfileField::kSample);
    }
  }

  std::uint64_t location_id(profile::MethodId method, std::uint16_t line) {
    const std::uint64_t key = std::uint64_t{method.value()} << 16 | line;
    const auto [it, is_new] = locations_.try_emplace(key, locations_.size() + 1);
    if (!is_new) return it->second;
    Message place;
    place.number(LineField::kFunctionId, function_id(method));
    place.number(LineField::kLine, line);
    part_.clear();
    part_.number(LocationField::kId, it->second);
    part_.message(LocationField::kLine, place);
    emit(ProfileField::kLocation);
    return it->second;
  }

  std::uint64_t function_id(profile::MethodId id) {
    const auto [it, is_new] = functions_.try_emplace(id.value(), functions_.size() + 1);
    if (!is_new) return it->second;
    part_.clear();
    part_.number(FunctionField::kId, it->second);
    part_.number(FunctionField::kName, string_index(profile_.display_name(id)));
    part_.number(FunctionField::kSystemName, string_index(profile_.full_name(id)));
    part_.number(FunctionField::kFilename, string_index(profile_.class_of(id).source_file));
    part_.number(FunctionField::kStartLine, profile_.method(id).first_line);
    emit(ProfileField::kFunction);
    return it->second;
  }

  void write_strings() {
    Message all;
    for (const std::string* text : strings_) all.text(ProfileField::kStringTable, *text);
    is_fine_ = is_fine_ && gzip_.write(all.bytes());
  }

  std::uint64_t string_index(std::string_view text) {
    const auto [it, is_new] = string_indexes_.try_emplace(std::string(text), strings_.size());
    if (is_new) strings_.push_back(&it->first);
    return it->second;
  }

  // `part_` as a field of the profile.
  void emit(std::uint32_t field) {
    whole_.clear();
    whole_.message(field, part_);
    is_fine_ = is_fine_ && gzip_.write(whole_.bytes());
  }

  const profile::Profile& profile_;
  const std::vector<profile::MetricInfo> types_;
  GzipSink gzip_;
  bool is_fine_ = true;
  Message part_;
  Message whole_;
  std::unordered_map<std::uint64_t, std::uint64_t> locations_;
  std::unordered_map<std::uint32_t, std::uint64_t> functions_;
  std::unordered_map<std::string, std::uint64_t> string_indexes_;
  std::vector<const std::string*> strings_;
};

}  // namespace

bool write(const profile::Profile& profile, const Sink& sink) { return Writer(profile, sink).run(); }

}  // namespace sonde::format::pprof
