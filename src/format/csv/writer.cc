// SPDX-License-Identifier: Apache-2.0
#include "format/csv/writer.h"

#include <string>

#include "format/contexts.h"
#include "profile/sums.h"

namespace sonde::format::csv {
namespace {

// A spreadsheet takes text that starts like this for a formula and would run it.
bool looks_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

std::string field(std::string_view text) {
  const bool is_formula = looks_like_formula(text);
  if (!is_formula && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = is_formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

bool write(const profile::Profile& profile, const Sink& sink) {
  const std::vector<profile::MetricInfo> types = profile::metrics_of(profile);
  const std::vector<profile::Sum> sums = profile::sums_by_method(profile);
  const MethodOrder order(profile);
  std::string row = "package,class,method,descriptor,file,line,jdk";
  for (const profile::MetricInfo& type : types)
    row += "," + std::string(type.name) + "_self," + std::string(type.name) + "_total";
  if (!sink(row + "\r\n")) return false;
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    const profile::MethodId id = order.method(place);
    const profile::Sum& sum = sums[id.value()];
    if (id == profile::kRootMethod || sum.total == profile::Amounts{}) continue;
    const profile::Method& method = profile.method(id);
    const profile::Class& cls = profile.class_of(method);
    const std::string name = profile::with_dots(cls.name);
    row = field(profile::package_of(cls.name)) + "," + field(name) + "," + field(method.name) + "," +
          field(method.descriptor) + "," + field(cls.source_file) + "," +
          (method.first_line == 0 ? "" : std::to_string(method.first_line)) + "," + (cls.is_jdk ? "1" : "0");
    for (const profile::MetricInfo& type : types) {
      row += "," + std::to_string(sum.self.of(type.metric)) + "," + std::to_string(sum.total.of(type.metric));
    }
    if (!sink(row + "\r\n")) return false;
  }
  return true;
}

}  // namespace sonde::format::csv
