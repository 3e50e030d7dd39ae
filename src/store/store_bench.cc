// SPDX-License-Identifier: Apache-2.0
// Ingesting, writing and opening a recording of a million contexts and 50,000 methods.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "arena/test_arena.h"
#include "profile/ingest.h"
#include "profile/path_hash.h"
#include "profile/sums.h"
#include "profile/synthetic_profile.h"
#include "store/store.h"

namespace sonde::store {
namespace {

const profile::Profile& shared_profile() {
  static const profile::Profile p = profile::synthetic_profile();
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
  for (std::uint32_t i = 0; i < profile::kSyntheticNodes; ++i) {
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
