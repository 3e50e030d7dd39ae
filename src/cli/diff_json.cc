// SPDX-License-Identifier: Apache-2.0
// docs/reference/diff-json.md describes it.
#include <nlohmann/json.hpp>

#include "cli/diff.h"
#include "cli/recording_file.h"
#include "profile/metric.h"

namespace sonde::cli {
namespace {

using Json = nlohmann::ordered_json;
using profile::DiffRow;
using profile::DiffTree;
using profile::Grouping;
using profile::Sum;

constexpr int kDiffVersion = 1;

Json json_of(const Sum& sum) { return {{"self", amounts_json(sum.self)}, {"total", amounts_json(sum.total)}}; }

Json json_of(const std::string& path, const profile::Profile& profile, const profile::Amounts& whole) {
  return {{"file", path}, {"sum", amounts_json(whole)}, {"recording", recording_json(profile)}};
}

// Whole numbers to the last digit; shares are not whole.
Json change_json(const profile::Comparison& comparison, const profile::Amounts& a, const profile::Amounts& b) {
  if (comparison.is_normalised) return comparison.change(a, b);
  return static_cast<std::int64_t>(b.of(comparison.metric) - a.of(comparison.metric));
}

void add_values(const DiffView& view, const Sum& a, const Sum& b, Json& json) {
  json["a"] = json_of(a);
  json["b"] = json_of(b);
  json["change_self"] = change_json(view.comparison, a.self, b.self);
  json["change_total"] = change_json(view.comparison, a.total, b.total);
  if (!view.comparison.is_sampled()) return;
  json["p_self"] = view.comparison.p_value(a.self, b.self);
  json["p_total"] = view.comparison.p_value(a.total, b.total);
}

void add_rows(const DiffView& view, Grouping grouping, const char* name, Json& json) {
  const ChangedRows changed = changed_rows(view, grouping);
  Json list = Json::array();
  for (const DiffRow& row : changed.rows) {
    Json entry = {{"name", view.name_of(row, grouping)}};
    if (grouping == Grouping::kMethod) entry["full_name"] = row.name;
    add_values(view, row.a, row.b, entry);
    list.push_back(std::move(entry));
  }
  json[name] = {{"rows", std::move(list)}, {"left_out", changed.left_out}, {"noise", changed.noise}};
}

void add_contexts(const DiffView& view, Json& json) {
  const ChangedContexts changed = changed_contexts(view);
  Json list = Json::array();
  for (const std::uint32_t node : changed.nodes) {
    Json entry = {{"stack", view.stack_of(node)}};
    add_values(view, view.tree.nodes[node].a, view.tree.nodes[node].b, entry);
    list.push_back(std::move(entry));
  }
  json["contexts"] = {{"rows", std::move(list)}, {"left_out", changed.left_out}, {"noise", changed.noise}};
}

}  // namespace

std::string diff_json(const DiffView& view) {
  Json json = {{"diff_version", kDiffVersion},
               {"metric", profile::name_of(view.comparison.metric)},
               {"normalised", view.comparison.is_normalised},
               {"sampled", view.comparison.is_sampled()}};
  json["a"] = json_of(view.options.a, view.a, view.whole_a);
  json["b"] = json_of(view.options.b, view.b, view.whole_b);
  json["path_share"] = view.path.share;
  json["path"] = Json::array();
  for (const std::uint32_t i : view.path.nodes) {
    const DiffTree::Node& node = view.tree.nodes[i];
    Json entry = {{"name", view.labels.text(node.label)}};
    add_values(view, node.a, node.b, entry);
    json["path"].push_back(std::move(entry));
  }
  using enum DiffBy;
  const std::optional<DiffBy> by = view.options.by;
  if (!by || by == kMethod) add_rows(view, Grouping::kMethod, "methods", json);
  if (by == kClass) add_rows(view, Grouping::kClass, "classes", json);
  if (by == kPackage) add_rows(view, Grouping::kPackage, "packages", json);
  if (!by || by == kContext) add_contexts(view, json);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sonde::cli
