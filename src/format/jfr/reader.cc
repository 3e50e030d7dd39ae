// SPDX-License-Identifier: Apache-2.0
#include "format/jfr/reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/comments.h"
#include "format/jfr/chunk_reader.h"
#include "format/jfr/types.h"
#include "format/profile_builder.h"

namespace sonde::format::jfr {
namespace {

constexpr std::string_view kCpuTimeSample = "jdk.CPUTimeSample";
constexpr std::string_view kAllocationSample = "jdk.ObjectAllocationSample";
constexpr std::string_view kUnnamed = "(unnamed)";

// "java/lang/String" and "[[B" as people write them: "java.lang.String", "byte[][]".
std::string class_text(std::string_view name) {
  const std::size_t dimensions = std::min(name.find_first_not_of('['), name.size());
  name.remove_prefix(dimensions);
  std::string text(name);
  if (dimensions != 0 && name.size() == 1) {
    constexpr std::pair<char, std::string_view> kPrimitives[] = {{'B', "byte"},  {'C', "char"},   {'D', "double"},
                                                                 {'F', "float"}, {'I', "int"},    {'J', "long"},
                                                                 {'S', "short"}, {'Z', "boolean"}};
    for (const auto& [letter, primitive] : kPrimitives) {
      if (name[0] == letter) text = primitive;
    }
  } else if (dimensions != 0 && name.size() > 2) {
    text = name.substr(1, name.size() - 2);  // L…;
  }
  std::ranges::replace(text, '/', '.');
  for (std::size_t i = 0; i < dimensions; ++i) text += "[]";
  return text;
}

// The samples of one chunk into the profile.
class ChunkImport {
 public:
  ChunkImport(const ChunkReader& chunk, ProfileBuilder& builder) : chunk_(chunk), builder_(builder) {}

  Result<void> run() {
    const auto context = chunk_.type_named(kContextEvent);
    const auto note = chunk_.type_named(kNoteEvent);
    const auto execution = chunk_.type_named(kExecutionSample);
    const auto cpu_time = chunk_.type_named(kCpuTimeSample);
    const auto allocation = chunk_.type_named(kAllocationSample);
    return chunk_.for_each_event([&](Place event) -> Result<void> {
      if (note && event.type == *note) {
        read_comment(chunk_.text(event, "text"), builder_.profile());
        return {};
      }
      if (context) return event.type == *context ? add(event, "eventThread", context_values(event)) : Result<void>{};
      const std::vector<Value> one = {{.metric = profile::Metric::kSamples, .amount = 1}};
      if (execution && event.type == *execution) return add(event, "sampledThread", one);
      if (cpu_time && event.type == *cpu_time) return add(event, "eventThread", one);
      if (allocation && event.type == *allocation) return add_allocation(event);
      return {};
    });
  }

 private:
  [[nodiscard]] std::vector<Value> context_values(Place event) const {
    std::vector<Value> values;
    for (const FieldInfo& field : chunk_.type(event.type).fields) {
      const auto metric = profile::metric_named(field.name);
      const auto amount = metric ? chunk_.number(event, field.name) : std::nullopt;
      if (amount) values.push_back({.metric = *metric, .amount = *amount});
    }
    return values;
  }

  // The class of the object is the innermost frame, as profilers of allocations have it.
  Result<void> add_allocation(Place event) {
    const auto cls = chunk_.field(event, "objectClass");
    const std::string name = cls ? class_text(chunk_.text(*cls, "name")) : std::string();
    return add(event, "eventThread",
               {{.metric = profile::Metric::kAllocatedBytes, .amount = chunk_.number(event, "weight").value_or(0)},
                {.metric = profile::Metric::kAllocations, .amount = 1}},
               name);
  }

  Result<void> add(Place event, std::string_view thread_field, const std::vector<Value>& values,
                   std::string_view allocated = {}) {
    frames_.clear();
    lines_.clear();
    if (const auto stack = chunk_.field(event, "stackTrace")) {
      TRY(chunk_.for_each_element(*stack, "frames", [&](Place frame) -> Result<void> {
        frames_.push_back({.method = method_of(frame)});
        lines_.push_back(chunk_.number(frame, "lineNumber").value_or(0));
        return {};
      }));
    }
    // Frames come from the innermost on, and each has the line where it calls the one before.
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) frames_[i].line = line_at(i + 1);
    std::ranges::reverse(frames_);
    if (!allocated.empty()) {
      frames_.push_back({.method = builder_.method({.class_name = {}, .name = allocated}), .line = line_at(0)});
    }
    return builder_.add(thread_of(event, thread_field), frames_, values);
  }

  [[nodiscard]] std::uint16_t line_at(std::size_t frame) const {
    if (frame >= lines_.size() || lines_[frame] > 0xffff) return 0;
    return static_cast<std::uint16_t>(lines_[frame]);
  }

  std::uint32_t thread_of(Place event, std::string_view field) {
    const std::uint64_t key = chunk_.key(event, field).value_or(0);
    if (const auto it = threads_.find(key); it != threads_.end()) return it->second;
    std::string name;
    if (const auto thread = chunk_.field(event, field)) {
      name = chunk_.text(*thread, "javaName");
      if (name.empty()) name = chunk_.text(*thread, "osName");
    }
    const std::uint32_t thread = builder_.thread(name.empty() ? kUnnamed : std::string_view(name));
    threads_.emplace(key, thread);
    return thread;
  }

  profile::MethodId method_of(Place frame) {
    const std::uint64_t key = chunk_.key(frame, "method").value_or(0);
    if (const auto it = methods_.find(key); it != methods_.end()) return it->second;
    profile::MethodId id = builder_.method({.class_name = {}, .name = "[unknown]"});
    if (const auto method = chunk_.field(frame, "method")) {
      const auto cls = chunk_.field(*method, "type");
      const std::string class_name = cls ? chunk_.text(*cls, "name") : std::string();
      const std::string name = chunk_.text(*method, "name");
      const std::string descriptor = chunk_.text(*method, "descriptor");
      // What is of no class is no method: our own writer gives it a descriptor all the same.
      id = builder_.method({.class_name = class_name,
                            .name = name,
                            .descriptor = class_name.empty() ? std::string_view() : std::string_view(descriptor),
                            .access_flags = static_cast<std::uint16_t>(chunk_.number(*method, "modifiers").value_or(0)),
                            .is_native = chunk_.text(frame, "type") == "Native"});
    }
    methods_.emplace(key, id);
    return id;
  }

  const ChunkReader& chunk_;
  ProfileBuilder& builder_;
  std::unordered_map<std::uint64_t, std::uint32_t> threads_;
  std::unordered_map<std::uint64_t, profile::MethodId> methods_;
  std::vector<Frame> frames_;
  std::vector<std::uint64_t> lines_;
};

}  // namespace

Result<profile::Profile> read(Bytes bytes) {
  ProfileBuilder builder;
  profile::Recording& recording = builder.profile().recording;
  recording.mode = "import:jfr";
  std::size_t at = 0;
  for (int number = 1; at < bytes.size() || number == 1; ++number) {
    const auto fail = [&](Error error) {
      return std::move(error).within("chunk " + std::to_string(number)).shifted(at);
    };
    Result<ChunkReader> chunk = ChunkReader::open(bytes.subspan(at));
    if (!chunk.ok()) return fail(std::move(chunk).error());
    if (Result<void> imported = ChunkImport(*chunk, builder).run(); !imported.ok()) {
      return fail(std::move(imported).error());
    }
    if (number == 1) recording.start_ns = chunk->start_ns();
    recording.end_ns = std::max(recording.end_ns, chunk->start_ns() + chunk->duration_ns());
    at += chunk->size();
  }
  return std::move(builder).finish();
}

}  // namespace sonde::format::jfr
