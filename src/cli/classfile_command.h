// SPDX-License-Identifier: Apache-2.0
// `sonde classfile`: the class-file library at work. For people who want to look into a class, and for us to show that
// the library reads and writes every class it meets. Each function is one subcommand and returns an exit code.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace sonde::cli {

struct DumpOptions {
  std::vector<std::string> paths;
  bool no_pool = false;
  bool code_only = false;
  std::string class_pattern;  // "": all
};
// Prints listings to stdout.
int classfile_dump(const DumpOptions& options, const Console& console);

struct CheckOptions {
  std::vector<std::string> paths;
  bool json = false;
  bool quiet = false;  // no summary
};
// Parses everything and applies classfile::check().
int classfile_check(const CheckOptions& options, const Console& console);

struct RoundtripOptions {
  std::vector<std::string> paths;
  bool json = false;
};
// Lays out every method anew without an edit and compares the class with the original, byte by byte.
int classfile_roundtrip(const RoundtripOptions& options, const Console& console);

}  // namespace sonde::cli
