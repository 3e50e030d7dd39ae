// SPDX-License-Identifier: Apache-2.0
// sonde_torture --pass nop|edges|pads|none --out FOLDER INPUT...
// Rewrites all classes of the inputs (lib/modules, jars, folders) into a folder that can take their place.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "archive/class_source.h"
#include "passes.h"

namespace {

using namespace sonde;
namespace fs = std::filesystem;

struct Totals {
  unsigned classes = 0;
  unsigned long methods = 0;
  unsigned long refused_methods = 0;
  unsigned refused_classes = 0;
  unsigned failed = 0;
};

int usage() {
  std::fputs("usage: sonde_torture --pass nop|edges|pads|none --out FOLDER INPUT...\n", stderr);
  return 2;
}

void write_file(const fs::path& path, Bytes bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// One entry of an input: a class is rewritten, anything else copied.
void rewrite(const archive::Entry& entry, torture::Torturer& torturer, const fs::path& out, std::ofstream& refusals,
             Totals& totals) {
  const fs::path path = out / entry.path;
  if (entry.is_directory) return;
  if (!entry.path.ends_with(".class")) return write_file(path, entry.bytes);
  ++totals.classes;
  const auto cls = classfile::ClassFile::parse(entry.bytes);
  const auto result = cls.ok() ? torturer.rewrite(*cls) : Result<torture::Outcome>(cls.error());
  if (!result.ok()) {
    ++(result.error().code == ErrorCode::kTooLarge ? totals.refused_classes : totals.failed);
    refusals << entry.name << ": " << result.error().to_string() << "\n";
    return write_file(path, entry.bytes);
  }
  totals.methods += result->methods;
  totals.refused_methods += result->refused.size();
  for (const Error& error : result->refused) refusals << entry.name << ": " << error.to_string() << "\n";
  if (!result->refused.empty()) ++totals.refused_classes;
  write_file(path, result->bytes);
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<torture::Pass> pass;
  fs::path out;
  std::vector<fs::path> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--pass" && i + 1 < argc) {
      pass = torture::pass_named(argv[++i]);
    } else if (argument == "--out" && i + 1 < argc) {
      out = argv[++i];
    } else if (argument.starts_with("--")) {
      return usage();
    } else {
      inputs.emplace_back(argument);
    }
  }
  if (!pass || out.empty() || inputs.empty()) return usage();

  fs::create_directories(out);
  std::ofstream refusals(out / "refused.txt");
  torture::Torturer torturer(*pass);
  Totals totals;
  for (const fs::path& input : inputs) {
    const auto visited = archive::for_each_entry(
        input,
        [&](const archive::Entry& entry) {
          rewrite(entry, torturer, out, refusals, totals);
          return true;
        },
        [&](const std::string& name, const Error& error) {
          ++totals.failed;
          std::fprintf(stderr, "%s: %s\n", name.c_str(), error.to_string().c_str());
        });
    if (!visited.ok()) {
      ++totals.failed;
      std::fprintf(stderr, "%s\n", visited.error().to_string().c_str());
    }
  }
  std::printf("%u classes, %lu methods, refused: %lu methods in %u classes (%.4f %% of classes), failed: %u\n",
              totals.classes, totals.methods, totals.refused_methods, totals.refused_classes,
              totals.classes == 0 ? 0.0 : 100.0 * totals.refused_classes / totals.classes, totals.failed);
  return totals.failed == 0 ? 0 : 1;
}
