// SPDX-License-Identifier: Apache-2.0
// What `sonde check` says to programs: JSON, and the XML that continuous integration reads as test results (JUnit's, as
// Ant wrote it first; a limit is a test case).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/gate_command.h"
#include "cli/gate_words.h"
#include "cli/recording_file.h"

namespace sonde::cli {

using gate::Finding;
using gate::Verdict;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kCheckVersion = 1;

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kKept: return "passed";
    case Verdict::kSoft: return "warning";
    case Verdict::kHard: return "regression";
  }
  return "";
}

Json json_of(const Finding& finding) {
  Json json = {{"limit", finding.limit},
               {"verdict", name_of(finding.verdict)},
               {"subject", finding.subject},
               {"metric", profile::name_of(finding.metric)},
               {"of", finding.of == gate::Of::kSelf ? "self" : "total"},
               {"baseline", finding.is_new ? Json(nullptr) : Json(finding.baseline)},
               {"value", finding.value},
               {"bound", finding.bound.text()}};
  json["path"] = Json::array();
  for (const gate::Frame& frame : finding.path)
    json["path"].push_back({{"name", frame.name}, {"growth", frame.growth}});
  return json;
}

}  // namespace

std::string check_json(const CheckReport& report) {
  const gate::CheckResult& result = report.result;
  Json json = {{"check_version", kCheckVersion},   {"verdict", name_of(result.verdict)},
               {"file", report.options.file},      {"baseline", report.options.baseline},
               {"other_jdk", result.is_other_jdk}, {"baseline_sum", amounts_json(result.baseline_sum)},
               {"sum", amounts_json(result.sum)}};
  json["limits"] = Json::array();
  for (std::size_t i = 0; i < report.limits.limits.size(); ++i) {
    json["limits"].push_back({{"name", limit_name(report.limits.limits[i])}, {"values", result.values[i]}});
  }
  json["findings"] = Json::array();
  for (const Finding& finding : result.findings) json["findings"].push_back(json_of(finding));
  json["recording"] = recording_json(report.profile);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string escaped_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

std::string check_junit(const CheckReport& report) {
  const auto is_broken = [&](std::size_t limit, Verdict verdict) {
    return std::any_of(report.result.findings.begin(), report.result.findings.end(),
                       [&](const Finding& f) { return f.limit == limit && f.verdict == verdict; });
  };
  const std::size_t count = report.limits.limits.size();
  std::size_t failures = 0;
  std::string cases;
  for (std::size_t i = 0; i < count; ++i) {
    cases += fmt::format("    <testcase classname=\"sonde.check\" name=\"{}\" time=\"0\">\n",
                         escaped_xml(limit_name(report.limits.limits[i])));
    std::string lines;
    for (const Finding& finding : report.result.findings) {
      if (finding.limit != i) continue;
      lines += sentence_of(finding) + "\n";
      for (const std::string& line : path_lines(finding)) lines += line + "\n";
    }
    if (is_broken(i, Verdict::kHard)) {
      ++failures;
      cases += fmt::format("      <failure message=\"{}\">{}</failure>\n",
                           escaped_xml(lines.substr(0, lines.find('\n'))), escaped_xml(lines));
    } else if (!lines.empty()) {
      cases += fmt::format("      <system-out>{}</system-out>\n", escaped_xml(lines));
    }
    cases += "    </testcase>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"sonde check\" tests=\"{}\" "
      "failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"0\">\n{}  </testsuite>\n</testsuites>\n",
      count, failures, cases);
}

}  // namespace sonde::cli
