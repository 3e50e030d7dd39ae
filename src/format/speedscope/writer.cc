// SPDX-License-Identifier: Apache-2.0
#include "format/speedscope/writer.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "format/comments.h"
#include "format/contexts.h"
#include "format/json_text.h"

namespace sonde::format::speedscope {
namespace {

class Writer {
 public:
  Writer(const profile::Profile& profile, const Sink& sink)
      : profile_(profile), types_(profile::metrics_of(profile)), order_(profile), sink_(sink) {
    // What says most comes first.
    const auto work = profile::metric_of_work(profile);
    std::stable_partition(types_.begin(), types_.end(),
                          [&](const profile::MetricInfo& type) { return type.metric == work; });
  }

  bool run() {
    put("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"sonde\",\"name\":" +
        json_string(profile_.recording.command) + ",\"shared\":{\"frames\":[");
    write_frames();
    put("]},\"profiles\":[");
    for (const profile::ThreadGroup& group : profile::threads_by_name(profile_.all_threads())) {
      write_thread(group.name, contexts_of(profile_, order_, group.threads, types_, CallSites::kMerge));
    }
    // The schema has no place for remarks; readers ignore what they do not know.
    put("],\"activeProfileIndex\":" + std::to_string(active_) + ",\"losses\":[");
    const std::vector<std::string> losses = losses_of(profile_);
    for (std::size_t i = 0; i < losses.size(); ++i) put((i == 0 ? "" : ",") + json_string(losses[i]));
    put("]}\n");
    return is_fine_;
  }

 private:
  // A profile per metric of which there is anything; the viewer opens the thread that did most.
  void write_thread(const std::string& name, const Contexts& contexts) {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const std::vector<std::uint64_t>& values = contexts.values[i];
      const std::uint64_t total = std::accumulate(values.begin(), values.end(), std::uint64_t{0});
      if (total == 0) continue;
      if (profiles_ != 0) put(",");
      if (i == 0 && total > most_) {
        most_ = total;
        active_ = profiles_;
      }
      ++profiles_;
      write_events(name, types_[i], contexts, values, total);
    }
  }

  // A frame per method, at the place of its name.
  void write_frames() {
    for (std::uint32_t place = 0; place < order_.size(); ++place) {
      const profile::MethodId id = order_.method(place);
      const profile::Method& method = profile_.method(id);
      std::string text = place == 0 ? "" : ",";
      text += "{\"name\":" + json_string(profile_.display_name(id) + profile::parameter_list(method.descriptor));
      const std::string& file = profile_.class_of(method).source_file;
      if (!file.empty()) text += ",\"file\":" + json_string(file);
      if (method.first_line != 0) text += ",\"line\":" + std::to_string(method.first_line);
      put(text + "}");
    }
  }

  void write_events(const std::string& thread, const profile::MetricInfo& type, const Contexts& contexts,
                    const std::vector<std::uint64_t>& values, std::uint64_t total) {
    put("{\"type\":\"evented\",\"name\":" + json_string(thread + ": " + std::string(type.name)) + ",\"unit\":\"" +
        std::string(type.unit == "count" ? "none" : type.unit) +
        "\",\"startValue\":0,\"endValue\":" + std::to_string(total) + ",\"events\":[");
    std::vector<std::uint32_t> open;  // places of the frames
    std::uint64_t at = 0;
    bool is_first = true;
    const auto event = [&](char kind, std::uint32_t frame) {
      std::string text = is_first ? "" : ",";
      is_first = false;
      text += "{\"type\":\"";
      text += kind;
      put(text + "\",\"frame\":" + std::to_string(frame) + ",\"at\":" + std::to_string(at) + "}");
    };
    for (std::size_t context = 0; context < contexts.size() && is_fine_; ++context) {
      for (; open.size() > contexts.depth[context]; open.pop_back()) event('C', open.back());
      open.push_back(order_.place_of(contexts.method[context]));
      event('O', open.back());
      at += values[context];
    }
    for (; !open.empty(); open.pop_back()) event('C', open.back());
    put("]}");
  }

  void put(std::string_view text) { is_fine_ = is_fine_ && sink_(text); }

  const profile::Profile& profile_;
  std::vector<profile::MetricInfo> types_;
  const MethodOrder order_;
  const Sink& sink_;
  bool is_fine_ = true;
  std::size_t profiles_ = 0;
  std::size_t active_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace

bool write(const profile::Profile& profile, const Sink& sink) { return Writer(profile, sink).run(); }

}  // namespace sonde::format::speedscope
