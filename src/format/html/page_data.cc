// SPDX-License-Identifier: Apache-2.0
#include "format/html/page_data.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "format/comments.h"
#include "format/context_trie.h"
#include "format/json_text.h"
#include "profile/metric.h"

namespace sonde::format::html {
namespace {

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

template <typename Items, typename TextOf>
std::string json_array(const Items& items, const TextOf& text_of) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += text_of(item);
  }
  return text + "]";
}

std::string losses_json(const profile::Profile& profile) {
  return json_array(losses_of(profile), [](const std::string& line) { return json_string(line); });
}

std::string recording_json(const profile::Profile& profile) {
  const profile::Recording& r = profile.recording;
  const std::uint64_t duration = r.end_ns > r.start_ns ? r.end_ns - r.start_ns : 0;
  // Nanoseconds since 1970 do not fit a double: milliseconds.
  return "{\"command\":" + json_string(r.command) + ",\"jdk\":" + json_string(r.jdk) +
         ",\"mode\":" + json_string(r.mode) + ",\"startMs\":" + std::to_string(r.start_ns / 1'000'000) +
         ",\"durationNs\":" + std::to_string(duration) + ",\"ownCpuNs\":" + std::to_string(r.own_cpu_ns) +
         ",\"complete\":" + (r.state == profile::State::kEnded ? "true" : "false") +
         ",\"losses\":" + losses_json(profile) + "}";
}

// Recordings put into one tree: methods and threads are the same if their names are.
class Tree {
 public:
  explicit Tree(std::span<const profile::MetricInfo> types) : types_(types.begin(), types.end()) {}

  void add(const profile::Profile& profile) {
    values_.emplace_back(types_.size());
    for (auto& column : values_.back()) column.resize(trie_.size());
    std::vector<std::uint32_t> method_of(profile.methods.size());
    for (std::uint32_t i = 0; i < method_of.size(); ++i) method_of[i] = method_number(profile, profile::MethodId(i));
    for (const profile::Thread& thread : profile.threads) add_thread(profile, thread, method_of);
  }

  // Methods by how often they occur: frequent ones get small numbers, which take fewer bytes.
  std::string columns(std::string& sizes) {
    renumber_methods();
    std::string all;
    const auto column = [&](const auto& number_of) {
      const std::size_t before = all.size();
      trie_.for_each([&](ContextTrie::Node node, std::uint32_t depth) { put_varint(all, number_of(node, depth)); });
      sizes += (sizes.empty() ? "" : ",") + std::to_string(all.size() - before);
    };
    std::int64_t previous = 0;
    column([&](ContextTrie::Node, std::uint32_t depth) {
      const std::int64_t change = std::int64_t{depth} - previous;
      previous = depth;
      return static_cast<std::uint64_t>(change) << 1 ^ static_cast<std::uint64_t>(change >> 63);
    });
    column([&](ContextTrie::Node node, std::uint32_t depth) {
      return depth == 0 ? trie_.step_to(node) : std::uint64_t{new_number_[trie_.step_to(node)]};
    });
    for (const auto& of_recording : values_) {
      for (const auto& values : of_recording) {
        column([&](ContextTrie::Node node, std::uint32_t) { return node < values.size() ? values[node] : 0; });
      }
    }
    return all;
  }

  [[nodiscard]] std::string threads_json() const {
    return json_array(threads_, [](const std::string& name) { return json_string(name); });
  }
  [[nodiscard]] std::string classes_json() const {
    return json_array(classes_, [](const std::string& name) { return json_string(name); });
  }
  [[nodiscard]] std::string files_json() const {
    return json_array(files_, [](const std::string& name) { return json_string(name); });
  }
  [[nodiscard]] std::string methods_json() const {
    return json_array(by_frequency_, [&](std::uint32_t i) {
      const Method& m = methods_[i];
      return "[" + std::to_string(m.cls) + "," + json_string(m.name) + "," + json_string(m.parameters) + "," +
             std::to_string(m.line) + "," + std::to_string(m.flags) + "]";
    });
  }
  [[nodiscard]] std::size_t nodes() const { return trie_.size() - 1; }

 private:
  enum Flag : std::uint32_t { kJdk = 1, kNative = 2, kIntrinsic = 4, kPseudo = 8 };
  struct Method {
    std::uint32_t cls;
    std::string name;
    std::string parameters;
    std::uint32_t line;
    std::uint32_t flags;
  };

  static std::uint32_t flags_of(const profile::Profile& profile, profile::MethodId id) {
    const std::uint32_t jdk = profile.class_of(id).is_jdk ? std::uint32_t{kJdk} : 0;
    switch (profile.method(id).kind) {
      case profile::MethodKind::kNative: return jdk | kNative;
      case profile::MethodKind::kIntrinsic: return jdk | kIntrinsic;
      case profile::MethodKind::kPseudo: return kPseudo;
      case profile::MethodKind::kJava: break;
    }
    return jdk;
  }

  std::uint32_t method_number(const profile::Profile& profile, profile::MethodId id) {
    const auto [it, is_new] =
        method_numbers_.try_emplace(profile.full_name(id), static_cast<std::uint32_t>(methods_.size()));
    if (!is_new) return it->second;
    const profile::Method& method = profile.method(id);
    const profile::Class& cls = profile.class_of(method);
    const auto [of_class, is_new_class] =
        class_numbers_.try_emplace(cls.name, static_cast<std::uint32_t>(classes_.size()));
    if (is_new_class) {
      classes_.push_back(profile::with_dots(cls.name));
      files_.push_back(cls.source_file);
    }
    methods_.push_back({.cls = of_class->second,
                        .name = method.name,
                        .parameters = profile::parameter_list(method.descriptor),
                        .line = method.first_line,
                        .flags = flags_of(profile, id)});
    return it->second;
  }

  void add_thread(const profile::Profile& profile, const profile::Thread& thread,
                  const std::vector<std::uint32_t>& method_of) {
    const std::string name = thread.display_name();
    const auto [it, is_new] = thread_numbers_.try_emplace(name, static_cast<std::uint32_t>(threads_.size()));
    if (is_new) threads_.push_back(name);
    std::vector<ContextTrie::Node> path = {trie_.child(ContextTrie::kRoot, it->second)};
    for (std::uint32_t node = thread.first_node + 1; node < thread.end_node; ++node) {
      path.resize(profile.tree.depth[node]);
      const ContextTrie::Node context = trie_.child(path.back(), method_of[profile.tree.method[node].value()]);
      path.push_back(context);
      for (std::size_t i = 0; i < types_.size(); ++i) {
        auto& column = values_.back()[i];
        if (column.size() <= context) column.resize(std::max<std::size_t>(trie_.size(), context + 1));
        column[context] += profile.tree.value(types_[i].metric, node);
      }
    }
  }

  void renumber_methods() {
    std::vector<std::uint64_t> uses(methods_.size());
    trie_.for_each([&](ContextTrie::Node node, std::uint32_t depth) {
      if (depth != 0) ++uses[trie_.step_to(node)];
    });
    by_frequency_.clear();
    for (std::uint32_t i = 0; i < uses.size(); ++i) {
      if (uses[i] != 0) by_frequency_.push_back(i);
    }
    std::ranges::stable_sort(by_frequency_, [&](std::uint32_t a, std::uint32_t b) { return uses[a] > uses[b]; });
    new_number_.assign(methods_.size(), 0);
    for (std::uint32_t i = 0; i < by_frequency_.size(); ++i) new_number_[by_frequency_[i]] = i;
  }

  const std::vector<profile::MetricInfo> types_;
  ContextTrie trie_;                                             // below the root: threads, then methods
  std::vector<std::vector<std::vector<std::uint64_t>>> values_;  // by recording, value type, node
  std::vector<std::string> threads_;
  std::vector<std::string> classes_;
  std::vector<std::string> files_;  // by class
  std::vector<Method> methods_;
  std::vector<std::uint32_t> by_frequency_;
  std::vector<std::uint32_t> new_number_;
  std::unordered_map<std::string, std::uint32_t> thread_numbers_;
  std::unordered_map<std::string, std::uint32_t> class_numbers_;
  std::unordered_map<std::string, std::uint32_t> method_numbers_;
};

// Those that one of them has. What says most stands last: that is what the page shows first.
std::vector<profile::MetricInfo> metrics_of_both(const profile::Profile& profile, const profile::Profile* other) {
  std::vector<profile::MetricInfo> metrics = profile::metrics_of(profile);
  if (other != nullptr) {
    for (const profile::MetricInfo& info : profile::metrics_of(*other)) {
      const auto is_same = [&](const profile::MetricInfo& m) { return m.metric == info.metric; };
      if (std::ranges::none_of(metrics, is_same)) metrics.push_back(info);
    }
  }
  const auto work = profile::common_metric_of_work(profile, other != nullptr ? *other : profile);
  std::stable_partition(metrics.begin(), metrics.end(), [&](const profile::MetricInfo& m) { return m.metric != work; });
  return metrics;
}

}  // namespace

std::string page_data(const profile::Profile& profile, const profile::Profile* other) {
  const std::vector<profile::MetricInfo> types = metrics_of_both(profile, other);
  Tree tree(types);
  tree.add(profile);
  if (other != nullptr) tree.add(*other);
  std::string sizes;
  const std::string columns = tree.columns(sizes);
  std::string json = "{\"version\":1,\"recordings\":[" + recording_json(profile);
  if (other != nullptr) json += "," + recording_json(*other);
  json += "],\"metrics\":" + json_array(types, [](const profile::MetricInfo& type) {
            return "{\"name\":\"" + std::string(type.name) + "\",\"label\":\"" + std::string(type.label) +
                   "\",\"unit\":\"" + std::string(type.unit) + "\"}";
          });
  json += ",\"threads\":" + tree.threads_json() + ",\"classes\":" + tree.classes_json() +
          ",\"files\":" + tree.files_json() + ",\"methods\":" + tree.methods_json() +
          ",\"nodes\":" + std::to_string(tree.nodes()) + ",\"columns\":[" + sizes + "]}";
  std::string data;
  for (int shift = 0; shift < 32; shift += 8) data += static_cast<char>(json.size() >> shift);
  return data + json + columns;
}

}  // namespace sonde::format::html
