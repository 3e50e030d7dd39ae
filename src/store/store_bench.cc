// SPDX-License-Identifier: Apache-2.0
// Ingesting, writing and opening a recording of a million contexts and 50,000 methods, shaped like those of real
// programs: paths up to 60 deep, few call sites with many callees, counts that fall off quickly.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "arena/test_arena.h"
#include "profile/ingest.h"
#include "profile/path_hash.h"
#include "profile/sums.h"
#include "store/store.h"

namespace sonde::store {
namespace {

constexpr std::uint32_t kNodes = 1'000'000;
constexpr std::uint32_t kMethods = 50'000;

profile::Profile synthetic_profile() {
  std::mt19937_64 random(42);
  profile::Profile p;
  for (std::uint32_t i = 0; i < kMethods / 10; ++i) {
    p.classes.push_back(
        {.name = "com/example/application/module" + std::to_string(i % 100) + "/Service" + std::to_string(i),
         .source_file = "Service" + std::to_string(i) + ".java"});
  }
  for (std::uint32_t i = 1; i < kMethods; ++i) {
    p.methods.push_back({.cls = profile::ClassId(1 + i / 10),
                         .name = "processRequest" + std::to_string(i % 10),
                         .descriptor = "(Ljava/lang/String;Ljava/util/Map;)V",
                         .first_line = static_cast<std::uint16_t>(10 + i % 10 * 40)});
  }
  p.threads.push_back({.name = "main"});
  p.tree.push(0, profile::kRootMethod, 0, 0, 0);
  std::exponential_distribution<double> rank(12.0 / kMethods);
  std::uint32_t depth = 0;
  for (std::uint32_t i = 1; i < kNodes; ++i) {
    depth = depth < 60 && (depth == 0 || random() % 100 < 55) ? depth + 1
                                                              : depth - static_cast<std::uint32_t>(random() % depth);
    const auto method = 1 + static_cast<std::uint32_t>(rank(random)) % (kMethods - 1);
    const auto calls = static_cast<std::uint64_t>(std::exp(static_cast<double>(random() % 1200) / 100));
    p.tree.push(depth, profile::MethodId(method), static_cast<std::uint16_t>(10 + random() % 400), calls,
                calls * (1 + method % 200));
  }
  p.tree.seal().value();
  p.assign_threads().value();
  return p;
}

const profile::Profile& shared_profile() {
  static const profile::Profile p = synthetic_profile();
  return p;
}

std::filesystem::path bench_file() {
  return std::filesystem::temp_directory_path() / ("store_bench_" + std::to_string(::getpid()) + ".sonde");
}

void BM_Write(benchmark::State& state) {
  const profile::Profile& p = shared_profile();
  for (auto _ : state) write(p, bench_file()).value();
  state.counters["MB"] = static_cast<double>(std::filesystem::file_size(bench_file())) / 1e6;
}
BENCHMARK(BM_Write)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Open(benchmark::State& state) {
  write(shared_profile(), bench_file()).value();
  for (auto _ : state) benchmark::DoNotOptimize(open(bench_file()).value());
  std::filesystem::remove(bench_file());
}
BENCHMARK(BM_Open)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Ingest(benchmark::State& state) {
  arena::DrawnThread thread{.names = {"main"}};
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    const std::string method = "com/example/Service" + std::to_string(i * 7919 % 5000) + ".run()V";
    thread.calls.push_back({.depth = 1 + i % 40, .method = method, .calls = i, .bytecodes = i, .site = "7"});
  }
  const arena::TestArena arena(std::vector{thread});
  for (auto _ : state) {
    const auto reader = arena::Reader::over(arena.bytes());
    benchmark::DoNotOptimize(profile::ingest(*reader).value());
  }
}
BENCHMARK(BM_Ingest)->Unit(benchmark::kMillisecond);

void BM_SumsByMethod(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(profile::sums_by_method(shared_profile()));
}
BENCHMARK(BM_SumsByMethod)->Unit(benchmark::kMillisecond);

void BM_PathHashes(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(profile::path_hashes(shared_profile()));
}
BENCHMARK(BM_PathHashes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde::store
