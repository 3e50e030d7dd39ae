// SPDX-License-Identifier: Apache-2.0
// What `sonde check` says to people and to pull requests.
#include <fmt/format.h>

#include <algorithm>

#include "cli/gate_command.h"
#include "cli/gate_words.h"
#include "cli/recording_file.h"

namespace sonde::cli {

using gate::Finding;
using gate::Verdict;

std::string limit_name(const gate::Limit& limit) {
  if (!limit.name.empty()) return limit.name;
  const std::string metric = limit.metric ? std::string(profile::name_of(*limit.metric)) : "cost";
  const std::string of = limit.of == gate::Of::kSelf ? "own " : "";
  if (!limit.method.empty()) return of + metric + " of methods " + limit.method;
  if (limit.context.empty()) return metric + " of the whole program";
  std::string path;
  for (const std::string& pattern : limit.context) path += (path.empty() ? "" : " > ") + pattern;
  return of + metric + " of " + path;
}

std::string change_of(const Finding& finding) {
  if (finding.is_new) return "new";
  const double before = static_cast<double>(finding.baseline);
  const double growth = static_cast<double>(finding.value) - before;
  if (finding.baseline == 0) return fmt::format("+{}", grouped(finding.value));
  return fmt::format("{:+.2f} %", 100 * growth / before);
}

std::string sentence_of(const Finding& finding) {
  const std::string values = finding.is_new ? fmt::format("{}, not in the baseline", grouped(finding.value))
                                            : fmt::format("{} -> {}, {}", grouped(finding.baseline),
                                                          grouped(finding.value), change_of(finding));
  return fmt::format("{}{} of {}: {}; the {} limit is {}", finding.of == gate::Of::kSelf ? "own " : "",
                     profile::name_of(finding.metric), finding.subject, values,
                     finding.verdict == Verdict::kHard ? "hard" : "soft", finding.bound.text());
}

std::vector<std::string> path_lines(const Finding& finding) {
  std::vector<std::string> lines;
  std::size_t indent = 0;
  for (const gate::Frame& frame : finding.path) {
    const std::string growth = frame.growth < 0 ? "-" + grouped(static_cast<std::uint64_t>(-frame.growth))
                                                : "+" + grouped(static_cast<std::uint64_t>(frame.growth));
    lines.push_back(fmt::format("{:>14}  {}{}", growth, std::string(2 * indent, ' '), on_one_line(frame.name)));
    indent = std::min<std::size_t>(indent + 1, 20);
  }
  return lines;
}

std::string change_line(const gate::CheckResult& result) {
  std::string text;
  for (const profile::Metric metric : result.metrics) {
    const std::uint64_t before = result.baseline_sum.of(metric);
    const std::uint64_t now = result.sum.of(metric);
    text += fmt::format("{}{} {} ({:+.2f} %)", text.empty() ? "" : ", ", grouped(now), profile::name_of(metric),
                        before == 0 ? 0.0 : 100 * (static_cast<double>(now) / static_cast<double>(before) - 1));
  }
  return text;
}

std::string verdict_line(const gate::CheckResult& result) {
  const auto hard = static_cast<std::size_t>(std::count_if(
      result.findings.begin(), result.findings.end(), [](const Finding& f) { return f.verdict == Verdict::kHard; }));
  const std::size_t soft = result.findings.size() - hard;
  std::uint64_t values = 0;
  for (const std::uint64_t count : result.values) values += count;
  if (hard == 0 && soft == 0)
    return fmt::format("passed: {} values within {} limits", grouped(values), result.values.size());
  return fmt::format("{}: {} over a hard limit, {} over a soft one, of {} values",
                     hard != 0 ? "REGRESSION" : "passed with warnings", hard, soft, grouped(values));
}

std::string check_text(const CheckReport& report, const Console& console) {
  const gate::CheckResult& result = report.result;
  std::string text = fmt::format("Recording {}\nBaseline  {}\n", report.options.file, report.options.baseline);
  text += losses_of(report.profile);
  if (result.is_other_jdk) {
    text += fmt::format("warning   the baseline was made with JDK {}, this is {}: the JDK's own work differs\n",
                        report.baseline.jdk, report.profile.recording.jdk);
  }
  text += "Now       " + change_line(result) + "\n";
  for (const Finding& finding : result.findings) {
    const bool is_hard = finding.verdict == Verdict::kHard;
    text +=
        fmt::format("\n{}  {}\n", console.inked(is_hard ? "FAIL    " : "warning ", is_hard ? Ink::kRed : Ink::kYellow),
                    on_one_line(sentence_of(finding)));
    for (const std::string& line : path_lines(finding)) text += line + "\n";
  }
  const Ink ink = result.verdict == Verdict::kHard   ? Ink::kRed
                  : result.verdict == Verdict::kSoft ? Ink::kYellow
                                                     : Ink::kGreen;
  return text + "\n" + console.inked(verdict_line(result), ink) + "\n";
}

namespace {

// Inside a code span of a table: neither ends.
std::string code(const std::string& text) {
  std::string out = "`";
  for (const char c : on_one_line(text)) {
    if (c == '|') out += '\\';
    out += c == '`' ? '\'' : c;
  }
  return out + "`";
}

}  // namespace

std::string check_markdown(const CheckReport& report) {
  const gate::CheckResult& result = report.result;
  std::string text = fmt::format("### {} Sonde: {}\n\n{}\n",
                                 result.verdict == Verdict::kHard   ? ":x:"
                                 : result.verdict == Verdict::kSoft ? ":warning:"
                                                                    : ":white_check_mark:",
                                 verdict_line(result), change_line(result));
  if (result.is_other_jdk) {
    text += fmt::format("\nThe baseline was made with JDK {}, this is {}.\n", report.baseline.jdk,
                        report.profile.recording.jdk);
  }
  if (result.findings.empty()) return text;
  text += "\n| | what | baseline | now | change | limit |\n|---|---|--:|--:|--:|--:|\n";
  for (const Finding& finding : result.findings) {
    text +=
        fmt::format("| {} | {}{} of {} | {} | {} | {} | {} |\n", finding.verdict == Verdict::kHard ? "fail" : "warning",
                    finding.of == gate::Of::kSelf ? "own " : "", profile::name_of(finding.metric),
                    code(finding.subject), finding.is_new ? "-" : grouped(finding.baseline), grouped(finding.value),
                    change_of(finding), finding.bound.text());
  }
  for (const Finding& finding : result.findings) {
    if (finding.path.empty()) continue;
    text += fmt::format("\n<details><summary>Where {} grew</summary>\n\n```\n",
                        "<code>" + escaped_xml(finding.subject) + "</code>");
    for (const std::string& line : path_lines(finding)) text += line + "\n";
    text += "```\n</details>\n";
  }
  return text;
}

}  // namespace sonde::cli
