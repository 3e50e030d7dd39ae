// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>

#include "gate/baseline.h"
#include "gate/match.h"
#include "profile/metric.h"

namespace sonde::gate {

using profile::Amounts;
using profile::Metric;

namespace {

constexpr std::string_view kFirstLine = "sonde baseline 1";
constexpr std::string_view kHeader =
    "# Written by `sonde baseline`; `sonde check --baseline` compares a recording with it. Make it anew when a change "
    "is\n"
    "# meant, and commit both together.\n";

std::string shortest(double value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  return {digits, end};
}

// A name or program in one line, whatever it holds.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = '?';
  }
  return text;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<Baseline> run() {
    std::string_view line;
    if (!next(line) || line != kFirstLine) {
      if (line.starts_with("sonde baseline ")) return wrong("this Sonde reads format 1, so a newer one is needed");
      return wrong("is not a baseline: it does not start with `" + std::string(kFirstLine) + "`");
    }
    TRY(read_header());
    TRY(read_methods());
    TRY(read_contexts());
    return std::move(baseline_);
  }

 private:
  [[nodiscard]] Error wrong(std::string message) const {
    return {ErrorCode::kMalformed, std::move(message), {.path = "line " + std::to_string(number_), .byte_offset = {}}};
  }

  // The next line that says something, without its indentation.
  bool next(std::string_view& line) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      indent_ = std::min(line.find_first_not_of(' '), line.size());
      line.remove_prefix(indent_);
      if (!line.empty() && line.front() != '#') return true;
    }
    line = {};
    return false;
  }

  static std::string_view word(std::string_view& line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view first = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return first;
  }

  Result<Amounts> amounts(std::string_view& line) {
    Amounts result;
    for (const Metric metric : baseline_.metrics) {
      const std::string_view digits = word(line);
      std::uint64_t value = 0;
      const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (failure != std::errc() || end != digits.data() + digits.size()) {
        return wrong("`" + std::string(digits) + "` stands where a number of " + std::string(profile::name_of(metric)) +
                     " should");
      }
      result.of(metric) = value;
    }
    return result;
  }

  // Up to the line `methods`.
  Result<void> read_header() {
    for (std::string_view line; next(line);) {
      const std::string_view key = word(line);
      if (key == "methods" && line.empty()) {
        if (baseline_.metrics.empty() || !has_sum_) return wrong("`metrics` or `sum` is missing before it");
        return {};
      }
      TRY(read_fact(key, line));
    }
    return wrong("ends before its methods");
  }

  Result<void> read_fact(std::string_view key, std::string_view value) {
    if (key == "program") {
      baseline_.program = value;
    } else if (key == "jdk") {
      baseline_.jdk = value;
    } else if (key == "mode") {
      baseline_.mode = value;
    } else if (key == "allow") {
      return read_allowed(value);
    } else if (key == "min-percent") {
      return read_min_percent(value);
    } else if (key == "metrics") {
      return read_metrics(value);
    } else if (key == "sum") {
      if (baseline_.metrics.empty()) return wrong("`metrics` must stand before `sum`");
      baseline_.sum = TRY(amounts(value));
      has_sum_ = true;
    } else {
      return wrong("`" + std::string(key) + "` is not known here");
    }
    return {};
  }

  Result<void> read_allowed(std::string_view value) {
    const std::string_view kind = word(value);
    if ((kind != "thread" && kind != "method") || value.empty())
      return wrong("write `allow thread NAME` or `allow method NAME`");
    Allowed& allowed = baseline_.allowed.emplace_back();
    (kind == "thread" ? allowed.thread : allowed.method) = value;
    return {};
  }

  Result<void> read_min_percent(std::string_view value) {
    const char* end = value.data() + value.size();
    const auto [parsed, failure] = std::from_chars(value.data(), end, baseline_.min_percent);
    if (failure == std::errc() && parsed == end && baseline_.min_percent >= 0 && baseline_.min_percent <= 100)
      return {};
    return wrong("`min-percent` is a number from 0 to 100");
  }

  Result<void> read_metrics(std::string_view value) {
    if (!baseline_.metrics.empty()) return wrong("`metrics` stands here a second time");
    while (!value.empty()) {
      const std::string_view name = word(value);
      const std::optional<Metric> metric = profile::metric_named(name);
      if (!metric) return wrong("`" + std::string(name) + "` is no metric that this Sonde knows");
      if (std::find(baseline_.metrics.begin(), baseline_.metrics.end(), *metric) != baseline_.metrics.end()) {
        return wrong("`" + std::string(name) + "` stands here a second time");
      }
      baseline_.metrics.push_back(*metric);
    }
    return {};
  }

  // Up to the line `contexts`.
  Result<void> read_methods() {
    for (std::string_view line; next(line);) {
      if (line == "contexts") return {};
      Baseline::Method method;
      method.sum.self = TRY(amounts(line));
      method.sum.total = TRY(amounts(line));
      if (line.empty()) return wrong("a method has no name");
      method.name = line;
      baseline_.methods.push_back(std::move(method));
    }
    return wrong("ends before its contexts");
  }

  Result<void> read_contexts() {
    profile::Profile& contexts = baseline_.contexts;
    contexts.threads.push_back({.name = "all"});
    contexts.tree.push_root();
    NamedMethods names;
    Amounts sum;
    for (std::string_view line; next(line);) {
      const std::size_t depth = indent_ / 2 + 1;
      if (indent_ % 2 != 0 || depth > contexts.tree.depth.back() + 1)
        return wrong("is indented too far: two spaces more than its caller");
      const Amounts self = TRY(amounts(line));
      if (line.empty()) return wrong("a context has no name");
      sum += self;
      contexts.tree.push(static_cast<std::uint32_t>(depth), names.method_of(std::string(line), contexts), 0, self);
    }
    if (sum != baseline_.sum) return wrong("ends, but its contexts do not add up to `sum`: it was cut off or edited");
    TRY(contexts.tree.seal());
    return contexts.assign_threads();
  }

  std::string_view rest_;
  std::size_t number_ = 0;  // of the line
  std::size_t indent_ = 0;
  bool has_sum_ = false;
  Baseline baseline_;
};

}  // namespace

std::string text_of(const Baseline& baseline) {
  std::string text = std::string(kFirstLine) + "\n" + std::string(kHeader);
  const auto fact = [&](std::string_view key, const std::string& value) {
    text += std::string(key) + " " + one_line(value) + "\n";
  };
  const auto numbers = [&](const Amounts& amounts) {
    std::string line;
    for (const Metric metric : baseline.metrics) line += std::to_string(amounts.of(metric)) + " ";
    return line;
  };
  fact("program", baseline.program);
  fact("jdk", baseline.jdk);
  fact("mode", baseline.mode);
  for (const Allowed& allowed : baseline.allowed) {
    fact(allowed.thread.empty() ? "allow method" : "allow thread",
         allowed.thread.empty() ? allowed.method : allowed.thread);
  }
  fact("min-percent", shortest(baseline.min_percent));
  std::string names;
  for (const Metric metric : baseline.metrics)
    names += (names.empty() ? "" : " ") + std::string(profile::name_of(metric));
  fact("metrics", names);
  std::string sum = numbers(baseline.sum);
  if (!sum.empty()) sum.pop_back();
  fact("sum", sum);
  text += "\n# self, total, method\nmethods\n";
  for (const Baseline::Method& method : baseline.methods) {
    text += numbers(method.sum.self) + numbers(method.sum.total) + one_line(method.name) + "\n";
  }
  text += "\n# self, context\ncontexts\n";
  const profile::CallTree& tree = baseline.contexts.tree;
  for (std::uint32_t node = 1; node < tree.size(); ++node) {
    text += std::string(2 * (tree.depth[node] - 1), ' ') + numbers(tree.amounts_of(node)) +
            one_line(baseline.contexts.full_name(tree.method[node])) + "\n";
  }
  return text;
}

Result<Baseline> parse_baseline(std::string_view text) { return Parser(text).run(); }

}  // namespace sonde::gate
