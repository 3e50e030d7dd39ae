// SPDX-License-Identifier: Apache-2.0
#include "exercise.h"

#include <algorithm>

#include "classfile/check.h"
#include "classfile/printer.h"
#include "passes.h"

namespace sonde::torture {
namespace {

using namespace classfile;

bool has_location(const Error& error) { return !error.where.path.empty() || error.where.byte_offset.has_value(); }

// The output of a pass must parse again, with code wherever the input had some.
std::string check_output(const ClassFile& input, Bytes output) {
  const auto result = ClassFile::parse(output);
  if (!result.ok()) return "output does not parse: " + result.error().to_string();
  for (std::size_t i = 0; i < input.methods().size(); ++i) {
    const Member& method = result->methods()[i];
    if (!has_code(method)) continue;
    if (const auto code = Code::parse(*result, method); !code.ok()) return "output: " + code.error().to_string();
  }
  return "";
}

}  // namespace

std::string exercise(Bytes bytes) {
  const auto cls = ClassFile::parse(bytes);
  if (!cls.ok()) return has_location(cls.error()) ? "" : "an error without location: " + cls.error().to_string();
  (void)check(*cls);
  std::string listing;
  print(*cls, {}, listing);
  for (const Pass pass : {Pass::kNone, Pass::kNop, Pass::kEdges, Pass::kPads}) {
    Torturer torturer(pass);
    const auto outcome = torturer.rewrite(*cls);
    if (!outcome.ok()) {
      if (!has_location(outcome.error())) return "an error without location: " + outcome.error().to_string();
      continue;
    }
    if (pass == Pass::kNone && !std::ranges::equal(outcome->bytes, bytes)) return "round trip changes the class";
    if (std::string wrong = check_output(*cls, outcome->bytes); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace sonde::torture
