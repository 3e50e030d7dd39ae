// SPDX-License-Identifier: Apache-2.0
// Fields may come in any order, so the file is gone through twice: first for everything that samples refer to.
#include "format/pprof/reader.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "format/comments.h"
#include "format/pprof/fields.h"
#include "format/pprof/wire.h"
#include "format/profile_builder.h"

namespace sonde::format::pprof {
namespace {

constexpr std::string_view kNoThread = "all";

struct SampleType {
  std::uint64_t name;
  std::uint64_t unit;
};
struct Function {
  std::uint64_t name = 0;
  std::uint64_t system_name = 0;
  std::uint64_t filename = 0;
  std::uint64_t start_line = 0;
};
struct Line {
  std::uint64_t function = 0;
  std::uint64_t line = 0;
};
struct Location {
  std::uint64_t address = 0;
  std::vector<Line> lines;  // innermost first: all but the last were inlined
};

std::uint16_t line_number(std::uint64_t line) { return line <= 0xffff ? static_cast<std::uint16_t>(line) : 0; }

// Calls take(field, reader) for each field of a message; errors get its name and place.
template <typename Take>
Result<void> for_each_field(Bytes bytes, std::uint64_t base, std::string_view name, const Take& take) {
  WireReader reader(bytes, base);
  while (!reader.at_end()) {
    Result<Field> field = reader.next();
    if (!field.ok()) return std::move(field).error().within(name);
    if (Result<void> taken = take(*field, reader); !taken.ok()) return std::move(taken).error().within(name);
  }
  return {};
}

class Reader {
 public:
  Reader(Bytes bytes, const ReadOptions& options) : bytes_(bytes), options_(options) {}

  Result<profile::Profile> run() {
    builder_.profile().recording.mode = "import:pprof";
    TRY(read_tables());
    TRY(choose_metrics());
    TRY(read_header());
    TRY(for_each_field(bytes_, 0, "profile", [&](const Field& field, const WireReader& reader) -> Result<void> {
      if (field.number != ProfileField::kSample) return {};
      return read_sample(field.bytes, reader.offset_of(field.bytes));
    }));
    return std::move(builder_).finish();
  }

 private:
  Result<void> read_tables() {
    return for_each_field(bytes_, 0, "profile", [&](const Field& field, const WireReader& reader) -> Result<void> {
      const bool is_message = field.type == WireType::kBytes;
      const std::uint64_t at = is_message ? reader.offset_of(field.bytes) : 0;
      switch (field.number) {
        case ProfileField::kSampleType: return is_message ? read_sample_type(field.bytes, at) : wrong_type(reader);
        case ProfileField::kLocation: return is_message ? read_location(field.bytes, at) : wrong_type(reader);
        case ProfileField::kFunction: return is_message ? read_function(field.bytes, at) : wrong_type(reader);
        case ProfileField::kStringTable:
          if (!is_message) return wrong_type(reader);
          strings_.push_back(as_text(field.bytes));
          return {};
        case ProfileField::kSample: return is_message ? Result<void>{} : wrong_type(reader);
        case ProfileField::kTimeNanos: start_ = field.value; return {};
        case ProfileField::kDurationNanos: duration_ = field.value; return {};
        case ProfileField::kDefaultSampleType: default_type_ = field.value; return {};
        case ProfileField::kComment: return append_numbers(field, at, comments_);
        default: return {};
      }
    });
  }

  static Error wrong_type(const WireReader& reader) {
    return {ErrorCode::kMalformed, "a field has the wrong wire type", {.path = {}, .byte_offset = reader.offset()}};
  }

  Result<void> read_sample_type(Bytes bytes, std::uint64_t at) {
    SampleType type = {};
    TRY(for_each_field(bytes, at, "sample_type", [&](const Field& field, const WireReader&) -> Result<void> {
      if (field.number == ValueTypeField::kType) type.name = field.value;
      if (field.number == ValueTypeField::kUnit) type.unit = field.value;
      return {};
    }));
    types_.push_back(type);
    return {};
  }

  Result<void> read_function(Bytes bytes, std::uint64_t at) {
    Function function;
    std::uint64_t id = 0;
    TRY(for_each_field(bytes, at, "function", [&](const Field& field, const WireReader&) -> Result<void> {
      switch (field.number) {
        case FunctionField::kId: id = field.value; break;
        case FunctionField::kName: function.name = field.value; break;
        case FunctionField::kSystemName: function.system_name = field.value; break;
        case FunctionField::kFilename: function.filename = field.value; break;
        case FunctionField::kStartLine: function.start_line = field.value; break;
        default: break;
      }
      return {};
    }));
    functions_[id] = function;
    return {};
  }

  Result<void> read_location(Bytes bytes, std::uint64_t at) {
    Location location;
    std::uint64_t id = 0;
    TRY(for_each_field(bytes, at, "location", [&](const Field& field, const WireReader& reader) -> Result<void> {
      if (field.number == LocationField::kId) id = field.value;
      if (field.number == LocationField::kAddress) location.address = field.value;
      if (field.number != LocationField::kLine) return {};
      Line line;
      TRY(for_each_field(field.bytes, reader.offset_of(field.bytes), "line",
                         [&](const Field& part, const WireReader&) -> Result<void> {
                           if (part.number == LineField::kFunctionId) line.function = part.value;
                           if (part.number == LineField::kLine) line.line = part.value;
                           return {};
                         }));
      location.lines.push_back(line);
      return {};
    }));
    locations_[id] = std::move(location);
    return {};
  }

  Result<std::string_view> string_at(std::uint64_t index) const {
    if (index < strings_.size()) return strings_[index];
    return Error{ErrorCode::kMalformed, "string " + std::to_string(index) + " does not exist"};
  }

  // Our own names, and what most profilers call times and allocations.
  static std::optional<profile::Metric> metric_of(std::string_view name, std::string_view unit) {
    if (unit == "nanoseconds" && name == "cpu") return profile::Metric::kCpuNs;
    if (unit == "nanoseconds" && name == "wall") return profile::Metric::kWallNs;
    if (unit == "bytes" && name == "alloc_space") return profile::Metric::kAllocatedBytes;
    if (unit == "count" && name == "alloc_objects") return profile::Metric::kAllocations;
    return profile::metric_named(name);
  }

  // A metric for each sample type, or none.
  Result<void> choose_metrics() {
    if (types_.empty()) return Error{ErrorCode::kMalformed, "has no sample types: it is no profile of pprof"};
    std::optional<std::size_t> wanted;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const std::string_view name = TRY(string_at(types_[i].name));
      metrics_.push_back(metric_of(name, TRY(string_at(types_[i].unit))));
      if (name == options_.sample_type || (options_.sample_type.empty() && types_[i].name == default_type_)) wanted = i;
    }
    if (!options_.sample_type.empty() && !wanted) {
      return Error{ErrorCode::kInvalidArgument, "has no sample type `" + options_.sample_type + "`"};
    }
    const bool knows_one = std::ranges::any_of(metrics_, [](const auto& metric) { return metric.has_value(); });
    if (knows_one && options_.sample_type.empty()) return {};
    metrics_.assign(types_.size(), std::nullopt);
    metrics_[wanted.value_or(types_.size() - 1)] = profile::Metric::kSamples;
    return {};
  }

  Result<void> read_header() {
    profile::Recording& recording = builder_.profile().recording;
    recording.start_ns = start_;
    if (duration_ != 0) recording.end_ns = start_ + duration_;
    for (const std::uint64_t comment : comments_) read_comment(TRY(string_at(comment)), builder_.profile());
    return {};
  }

  Result<void> read_sample(Bytes bytes, std::uint64_t at) {
    ids_.clear();
    amounts_.clear();
    std::string_view thread = kNoThread;
    TRY(for_each_field(bytes, at, "sample", [&](const Field& field, const WireReader& reader) -> Result<void> {
      const std::uint64_t base = field.type == WireType::kBytes ? reader.offset_of(field.bytes) : 0;
      if (field.number == SampleField::kLocationId) return append_numbers(field, base, ids_);
      if (field.number == SampleField::kValue) return append_numbers(field, base, amounts_);
      if (field.number == SampleField::kLabel) return read_label(field.bytes, base, thread);
      return {};
    }));
    Result<void> added = add_sample(thread);
    if (added.ok()) return added;
    Error error = std::move(added).error().within("sample");
    error.where.byte_offset = at;
    return error;
  }

  Result<void> read_label(Bytes bytes, std::uint64_t at, std::string_view& thread) {
    std::uint64_t key = 0;
    std::uint64_t text = 0;
    TRY(for_each_field(bytes, at, "label", [&](const Field& field, const WireReader&) -> Result<void> {
      if (field.number == LabelField::kKey) key = field.value;
      if (field.number == LabelField::kStr) text = field.value;
      return {};
    }));
    const std::string_view name = TRY(string_at(key));
    if (text != 0 && (name == kThreadLabel || name == "thread_name" || name == "thread name")) {
      thread = TRY(string_at(text));
    }
    return {};
  }

  Result<void> add_sample(std::string_view thread) {
    if (amounts_.size() != types_.size()) {
      return Error{ErrorCode::kMalformed,
                   std::to_string(amounts_.size()) + " values instead of " + std::to_string(types_.size())};
    }
    values_.clear();
    for (std::size_t i = 0; i < amounts_.size(); ++i) {
      if (static_cast<std::int64_t>(amounts_[i]) < 0) {
        return Error{ErrorCode::kUnsupported, "a value is negative: differences cannot be imported"};
      }
      if (metrics_[i]) values_.push_back({.metric = *metrics_[i], .amount = amounts_[i]});
    }
    frames_.clear();
    // From the outermost frame on; `line` is where it calls the next one.
    std::uint16_t line = 0;
    for (std::size_t i = ids_.size(); i-- > 0;) {
      const auto it = locations_.find(ids_[i]);
      if (it == locations_.end()) {
        return Error{ErrorCode::kMalformed, "location " + std::to_string(ids_[i]) + " does not exist"};
      }
      const Location& location = it->second;
      if (location.lines.empty()) {
        frames_.push_back({.method = builder_.method(address_text(location.address)), .line = line});
        line = 0;
      }
      for (std::size_t inlined = location.lines.size(); inlined-- > 0;) {
        frames_.push_back({.method = TRY(method_of(location.lines[inlined].function)), .line = line});
        line = line_number(location.lines[inlined].line);
      }
    }
    return builder_.add(builder_.thread(thread), frames_, values_);
  }

  static std::string address_text(std::uint64_t address) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    do {
      text.insert(text.begin(), digits[address & 15]);
      address >>= 4;
    } while (address != 0);
    return "[0x" + text + "]";
  }

  Result<profile::MethodId> method_of(std::uint64_t function_id) {
    if (const auto known = methods_.find(function_id); known != methods_.end()) return known->second;
    const auto it = functions_.find(function_id);
    if (it == functions_.end()) {
      return Error{ErrorCode::kMalformed, "function " + std::to_string(function_id) + " does not exist"};
    }
    const Function& function = it->second;
    std::string_view name = TRY(string_at(function.name));
    const std::string_view system_name = TRY(string_at(function.system_name));
    // Ours has the descriptor; that of others is a mangled name.
    if (name.empty() || system_name.find('(') != std::string_view::npos) name = system_name;
    const profile::MethodId method =
        builder_.method(name, TRY(string_at(function.filename)), line_number(function.start_line));
    methods_.emplace(function_id, method);
    return method;
  }

  Bytes bytes_;
  const ReadOptions& options_;
  ProfileBuilder builder_;
  std::vector<std::string_view> strings_;
  std::vector<SampleType> types_;
  std::vector<std::optional<profile::Metric>> metrics_;  // by sample type
  std::vector<std::uint64_t> comments_;
  std::unordered_map<std::uint64_t, Function> functions_;
  std::unordered_map<std::uint64_t, Location> locations_;
  std::unordered_map<std::uint64_t, profile::MethodId> methods_;
  std::uint64_t start_ = 0;
  std::uint64_t duration_ = 0;
  std::uint64_t default_type_ = 0;
  // Of the current sample.
  std::vector<std::uint64_t> ids_;
  std::vector<std::uint64_t> amounts_;
  std::vector<Frame> frames_;
  std::vector<Value> values_;
};

}  // namespace

Result<profile::Profile> read(Bytes bytes, const ReadOptions& options) { return Reader(bytes, options).run(); }

}  // namespace sonde::format::pprof
