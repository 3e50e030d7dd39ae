// SPDX-License-Identifier: Apache-2.0
#include "gate/limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "profile/metric.h"

// toml++ asserts what a file may well break (`[[[`) before it says what is wrong with it; with NDEBUG it even takes it
// for granted.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace sonde::gate {
namespace {

constexpr double kDefaultGrowth = 1;        // percent
constexpr double kDefaultSoftGrowth = 0.1;  // percent
constexpr double kDefaultIgnoreBelow = 0.1;

Error error_at(const toml::source_position& place, std::string message) {
  return {
      ErrorCode::kMalformed,
      std::move(message),
      {.path = "line " + std::to_string(place.line) + ", column " + std::to_string(place.column), .byte_offset = {}}};
}
Error error_at(const toml::node& node, std::string message) {
  return error_at(node.source().begin, std::move(message));
}

std::string shortest(double value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  return {digits, end};
}

// "2 %", "+2%", "+500", "500"
std::optional<Bound> parse_bound(std::string_view text) {
  Bound bound{.kind = Bound::Kind::kGrowth, .value = 0};
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('%')) {
    bound.kind = Bound::Kind::kRelative;
    text.remove_suffix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
  }
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;  // no sign, no inf
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), bound.value, std::chars_format::fixed);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return bound;
}

class Parser {
 public:
  Result<Limits> run(const toml::table& root) {
    TRY(check_keys(root, {"limit", "allow"}));
    TRY(each_table(root, "limit", [&](const toml::table& table) { return add_limit(table); }));
    TRY(each_table(root, "allow", [&](const toml::table& table) { return add_allowed(table); }));
    return std::move(limits_);
  }

 private:
  template <typename Add>
  static Result<void> each_table(const toml::table& root, std::string_view name, const Add& add) {
    const toml::node* node = root.get(name);
    if (node == nullptr) return {};
    if (!node->is_array_of_tables())
      return error_at(*node, "write [[" + std::string(name) + "]] in front of each " + std::string(name));
    for (const toml::node& entry : *node->as_array()) TRY(add(*entry.as_table()));
    return {};
  }

  static Result<void> check_keys(const toml::table& table, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string words;
      for (const std::string_view word : known) words += (words.empty() ? "" : ", ") + std::string(word);
      return error_at(key.source().begin, "`" + std::string(key.str()) + "` is none of " + words);
    }
    return {};
  }

  static Result<std::string> text(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::string();
    const auto* value = node->as_string();
    if (value == nullptr || value->get().empty())
      return error_at(*node, "`" + std::string(key) + "` is a text in quotes");
    return value->get();
  }

  static Result<std::vector<std::string>> texts(const toml::table& table, std::string_view key) {
    std::vector<std::string> result;
    const toml::node* node = table.get(key);
    if (node == nullptr) return result;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty())
      return error_at(*node, "`" + std::string(key) + "` is a list of patterns, [\"Main.main\", \"Map.get\"]");
    for (const toml::node& entry : *array) {
      const auto* value = entry.as_string();
      if (value == nullptr || value->get().empty()) return error_at(entry, "a pattern is a text in quotes");
      result.push_back(value->get());
    }
    return result;
  }

  static Result<std::optional<Bound>> bound(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return std::optional<Bound>();
    const std::string help =
        "`" + std::string(key) + "` is a number (at most that much), \"+N\" (growth) or \"N %\" (growth in percent)";
    if (const auto* number = node->as_integer(); number != nullptr) {
      if (number->get() < 0) return error_at(*node, help);
      return std::optional(Bound{.kind = Bound::Kind::kAtMost, .value = static_cast<double>(number->get())});
    }
    const auto* string = node->as_string();
    std::optional<Bound> parsed = string == nullptr ? std::nullopt : parse_bound(string->get());
    if (!parsed) return error_at(*node, help);
    return parsed;
  }

  Result<void> add_limit(const toml::table& table) {
    TRY(check_keys(table, {"name", "metric", "method", "context", "of", "soft", "hard", "ignore_below"}));
    Limit limit;
    limit.name = TRY(text(table, "name"));
    limit.method = TRY(text(table, "method"));
    limit.context = TRY(texts(table, "context"));
    if (!limit.method.empty() && !limit.context.empty())
      return error_at(*table.get("context"), "a limit is on methods or on a context, not on both");
    if (const std::string word = TRY(text(table, "metric")); !word.empty()) {
      limit.metric = profile::metric_named(word);
      if (!limit.metric) return error_at(*table.get("metric"), "`" + word + "` is no metric");
    }
    const std::string of = TRY(text(table, "of"));
    if (!of.empty() && of != "self" && of != "total")
      return error_at(*table.get("of"), "`of` is \"self\" or \"total\"");
    limit.of = of == "self" || (of.empty() && !limit.method.empty()) ? Of::kSelf : Of::kTotal;
    limit.soft = TRY(bound(table, "soft"));
    limit.hard = TRY(bound(table, "hard"));
    if (!limit.soft && !limit.hard) return error_at(table, "a limit needs `soft` or `hard` or both");
    limit.ignore_below = limit.method.empty() ? 0 : kDefaultIgnoreBelow;
    if (const toml::node* node = table.get("ignore_below"); node != nullptr) {
      const auto* string = node->as_string();
      const std::optional<Bound> share = string == nullptr ? std::nullopt : parse_bound(string->get());
      if (!share || share->kind != Bound::Kind::kRelative)
        return error_at(*node, "`ignore_below` is a share of the whole, \"0.1 %\"");
      limit.ignore_below = share->value;
    }
    limits_.limits.push_back(std::move(limit));
    return {};
  }

  Result<void> add_allowed(const toml::table& table) {
    TRY(check_keys(table, {"thread", "method", "reason"}));
    Allowed allowed;
    allowed.thread = TRY(text(table, "thread"));
    allowed.method = TRY(text(table, "method"));
    allowed.reason = TRY(text(table, "reason"));
    if (allowed.thread.empty() == allowed.method.empty())
      return error_at(table, "an [[allow]] needs `thread` or `method`");
    limits_.allowed.push_back(std::move(allowed));
    return {};
  }

  Limits limits_;
};

}  // namespace

double Bound::greatest(std::uint64_t baseline) const {
  const auto base = static_cast<double>(baseline);
  switch (kind) {
    case Kind::kAtMost: return value;
    case Kind::kGrowth: return base + value;
    case Kind::kRelative: return base + base * value / 100;
  }
  return value;
}

std::string Bound::text() const {
  switch (kind) {
    case Kind::kAtMost: return "at most " + shortest(value);
    case Kind::kGrowth: return "+" + shortest(value);
    case Kind::kRelative: return "+" + shortest(value) + " %";
  }
  return "";
}

Limits default_limits() {
  const auto percent = [](double value) { return Bound{.kind = Bound::Kind::kRelative, .value = value}; };
  return {.limits = {{.name = {}, .soft = percent(kDefaultSoftGrowth), .hard = percent(kDefaultGrowth)},
                     {.name = {},
                      .method = "*",
                      .of = Of::kSelf,
                      .soft = percent(kDefaultSoftGrowth),
                      .hard = percent(kDefaultGrowth),
                      .ignore_below = kDefaultIgnoreBelow}},
          .allowed = {}};
}

Result<Limits> parse_limits(std::string_view toml) {
  const toml::parse_result parsed = toml::parse(toml);
  if (!parsed) return error_at(parsed.error().source().begin, std::string(parsed.error().description()));
  return Parser().run(parsed.table());
}

}  // namespace sonde::gate
