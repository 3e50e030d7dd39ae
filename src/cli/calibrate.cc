// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/java_places.h"
#include "cli/kernel_counts.h"
#include "cli/regression.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using classfile::kOpcodeGroupNames;
using classfile::kOpcodeGroups;
using classfile::OpcodeWeights;

constexpr double kScale = 100;

struct Measurement {
  std::vector<std::string> names;
  std::vector<Observation> observations;
};

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

Result<std::string> output_of(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += quoted(word) + " ";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(line.c_str(), "r"), [](FILE*) { return 0; });
  if (pipe == nullptr) return Error{ErrorCode::kIo, "cannot be started", {.path = command[0], .byte_offset = {}}};
  std::string text;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;) text.append(buffer, got);
  if (const int status = pclose(pipe.get()); status != 0)
    return Error{ErrorCode::kIo, "failed; its own words are above", {.path = command[0], .byte_offset = {}}};
  return text;
}

Result<Measurement> measure(const CalibrateOptions& options, const fs::path& java, const fs::path& jar) {
  const auto counts = TRY(count_kernels(jar));
  std::vector<std::string> command = {java.string(), "-Xmx256m", "-XX:+UseSerialGC"};
  command.insert(command.end(), options.jvm_options.begin(), options.jvm_options.end());
  command.insert(command.end(), {"-cp", jar.string(), "org.sonde.calibrate.Main"});
  std::istringstream lines(TRY(output_of(command)));
  Measurement measurement;
  std::string name;
  for (double ns = 0; lines >> name >> ns;) {
    const auto kernel = counts.find(name);
    if (kernel == counts.end() || !(ns > 0)) continue;
    measurement.names.push_back(name);
    measurement.observations.push_back({.counts = {kernel->second.begin(), kernel->second.end()}, .time = ns});
  }
  if (measurement.names.size() != counts.size())
    return Error{ErrorCode::kMalformed, "did not measure all kernels", {.path = java.string(), .byte_offset = {}}};
  return measurement;
}

// "Intel(R) Xeon(R) CPU @ 2.20GHz"
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string jdk_version(const fs::path& home) {
  std::ifstream file(home / "release");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("JAVA_VERSION=\"")) return line.substr(14, line.size() - 15);
  }
  return "of unknown version";
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string sentence(const char* what, const Fit& fit) {
  return fmt::format("{}: R2 {:.3f}, error {} (median), {} (largest)", what, fit.r_squared, percent(fit.median_error),
                     percent(fit.largest_error));
}

struct Calibration {
  std::vector<double> weights;  // ns
  double unit_ns;               // mean of all bytecodes of all kernels
  std::vector<std::string> findings;
};

Calibration evaluate(const Measurement& measurement) {
  const auto& observations = measurement.observations;
  Calibration result{.weights = fit_weights(observations), .unit_ns = 0, .findings = {}};
  std::vector<double> predictions;
  double bytecodes = 0;
  double ns = 0;
  for (const Observation& o : observations) {
    predictions.push_back(predict(result.weights, o));
    for (const double count : o.counts) bytecodes += count;
    ns += o.time;
  }
  result.unit_ns = ns / bytecodes;
  const std::vector<double> held_out = predict_held_out(observations);
  result.findings = {
      fmt::format("{} kernels, {:.2f} ns for a bytecode on average", observations.size(), result.unit_ns),
      sentence("kernels that weights were fitted to", judge(predictions, observations)),
      sentence("each kernel predicted from the others", judge(held_out, observations)),
      sentence("the same with one weight for all bytecodes",
               judge(predict_held_out_by_count(observations), observations))};
  std::vector<std::size_t> worst(observations.size());
  for (std::size_t i = 0; i < worst.size(); ++i) worst[i] = i;
  const auto error = [&](std::size_t i) {
    return std::abs(std::log(std::max(held_out[i], 1e-3) / observations[i].time));
  };
  std::ranges::sort(worst, [&](std::size_t a, std::size_t b) { return error(a) > error(b); });
  for (std::size_t i = 0; i < std::min<std::size_t>(worst.size(), 5); ++i) {
    result.findings.push_back(fmt::format("far off: {}, {:.2f} ns, predicted {:.2f}", measurement.names[worst[i]],
                                          observations[worst[i]].time, held_out[worst[i]]));
  }
  return result;
}

std::string file_text(const CalibrateOptions& options, const fs::path& home, const Measurement& measurement,
                      const Calibration& result) {
  std::string jvm;
  for (const std::string& option : options.jvm_options) jvm += " " + option;
  std::string text =
      fmt::format("# Made by `sonde calibrate`; see docs/reference/weights.md.\nsonde-weights 1\nname JDK {}{}, {}\n",
                  jdk_version(home), jvm, processor());
  for (const std::string& finding : result.findings) text += "# " + finding + "\n";
  text += fmt::format("unit {:.4f} ns\nscale {:.0f}\n", result.unit_ns, kScale);
  for (std::size_t group = 0; group < kOpcodeGroups; ++group) {
    const bool is_measured =
        std::ranges::any_of(measurement.observations, [&](const Observation& o) { return o.counts[group] > 0; });
    const double weight = std::clamp(std::round(kScale * result.weights[group] / result.unit_ns), 1.0,
                                     static_cast<double>(OpcodeWeights::kMost));
    text += is_measured ? fmt::format("{} {:.0f}\n", kOpcodeGroupNames[group], weight)
                        : fmt::format("# {}: not measured\n", kOpcodeGroupNames[group]);
  }
  return text;
}

Result<void> run(const CalibrateOptions& options, const Console& console) {
  const std::string name = options.jdk.empty() ? "java" : options.jdk + "/bin/java";
  const fs::path java = TRY(find_executable(name));
  const fs::path home = TRY(java_home_of(java));
  const fs::path jar = TRY(find_beside_agent("sonde-calibrate.jar"));
  console.say("measuring for about ten seconds; other work on this machine makes the result worse");
  const Measurement measurement = TRY(measure(options, java, jar));
  const Calibration result = evaluate(measurement);
  for (const std::string& finding : result.findings) console.say(finding);
  const std::string text = file_text(options, home, measurement, result);
  TRY(OpcodeWeights::parse(text));
  if (options.out.empty()) {
    std::fputs(text.c_str(), console.out);
    return {};
  }
  std::ofstream file(options.out);
  file << text;
  if (!file.flush()) return Error{ErrorCode::kIo, "cannot be written", {.path = options.out, .byte_offset = {}}};
  console.say("wrote " + options.out + "; `sonde run --mode bytecode --weights " + options.out +
              " -- java ...` uses it");
  return {};
}

}  // namespace

int calibrate(const CalibrateOptions& options, const Console& console) {
  const auto done = run(options, console);
  if (done.ok()) return 0;
  console.fail("calibrate", done.error(), "nothing was written");
  return kFailed;
}

}  // namespace sonde::cli
