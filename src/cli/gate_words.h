// SPDX-License-Identifier: Apache-2.0
// Phrases that the outputs of `sonde check` share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate/check.h"
#include "profile/metric.h"

namespace sonde::cli {

std::string limit_name(const gate::Limit& limit);
std::string change_of(const gate::Finding& finding);  // "+2.00 %", "new"
std::string sentence_of(
    const gate::Finding& finding);  // "own bytecodes of a.B.c(): 100 -> 102, +2.00 %; the hard limit is +1 %"
std::vector<std::string> path_lines(const gate::Finding& finding);
std::string change_line(const gate::CheckResult& result);
std::string verdict_line(const gate::CheckResult& result);

// XML 1.0, text and attributes; characters that XML does not know become '?'.
std::string escaped_xml(std::string_view text);

}  // namespace sonde::cli
