// SPDX-License-Identifier: Apache-2.0
// `sonde calibrate`: measures what bytecodes cost on this machine and writes a file for `sonde run --weights`.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace sonde::cli {

struct CalibrateOptions {
  std::string out;                       // "": stdout
  std::string jdk;                       // its home; "": of the java in the PATH
  std::vector<std::string> jvm_options;  // of the JVM that is measured
};

int calibrate(const CalibrateOptions& options, const Console& console);

}  // namespace sonde::cli
