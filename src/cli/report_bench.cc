// SPDX-License-Identifier: Apache-2.0
// Commands on recordings of a million contexts, from opening the file to the last line.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "cli/compare_command.h"
#include "cli/recording_command.h"
#include "profile/synthetic_profile.h"
#include "store/store.h"

namespace sonde::cli {
namespace {

// A recording that goes away with the program.
class BenchFile {
 public:
  explicit BenchFile(std::uint64_t seed)
      : path_((std::filesystem::temp_directory_path() /
               ("report_bench_" + std::to_string(::getpid()) + "_" + std::to_string(seed) + ".sonde"))
                  .string()) {
    store::write(profile::synthetic_profile(seed), path_).value();
  }
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;
  ~BenchFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string& first_file() {
  static const BenchFile file(42);
  return file.path();
}
const std::string& second_file() {
  static const BenchFile file(43);
  return file.path();
}

const Console& nowhere() {
  static const Console console{.out = std::fopen("/dev/null", "w"), .err = stderr};
  return console;
}

void run_report(benchmark::State& state, ReportOptions options) {
  options.file = first_file();
  for (auto _ : state) SONDE_CHECK(report(options, nowhere()) == kOk);
}

void BM_ReportByMethod(benchmark::State& state) { run_report(state, {}); }
void BM_ReportByLine(benchmark::State& state) { run_report(state, {.by = profile::Grouping::kLine}); }
void BM_ReportByCallsite(benchmark::State& state) { run_report(state, {.by = profile::Grouping::kCallsite}); }
void BM_ReportTree(benchmark::State& state) { run_report(state, {.tree = true}); }
void BM_ReportWholeTree(benchmark::State& state) { run_report(state, {.tree = true, .min_percent = 0}); }
void BM_ReportFocus(benchmark::State& state) { run_report(state, {.focus = "Service17.*"}); }
void BM_Diff(benchmark::State& state) {
  for (auto _ : state) SONDE_CHECK(diff({.a = first_file(), .b = second_file()}, nowhere()) == kOk);
}
void BM_Overlap(benchmark::State& state) {
  for (auto _ : state) SONDE_CHECK(overlap({.a = first_file(), .b = second_file()}, nowhere()) == kOk);
}

BENCHMARK(BM_ReportByMethod)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReportByLine)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReportByCallsite)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReportTree)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReportWholeTree)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReportFocus)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Diff)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Overlap)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde::cli
