// SPDX-License-Identifier: Apache-2.0
// Commands that write and read the formats of other tools: `sonde export`, `sonde import`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/console.h"
#include "profile/profile.h"

namespace sonde::cli {

enum class ExportFormat : std::uint8_t {
  kJsonl,
  kCollapsed,
  kPprof,
  kSpeedscope,
  kCsv,
  kHprofText,
  kFirefox,
  kJfr,
  kHtml
};

struct ExportOptions {
  std::string file;
  ExportFormat to = ExportFormat::kJsonl;
  std::optional<profile::Metric> metric;  // of formats that hold only one
  std::uint32_t depth = 4;                // frames of a trace, where the format limits them
  std::string diff;                       // a recording to compare with, in formats that can
  std::string out;                        // "": stdout
};
int export_recording(const ExportOptions& options, const Console& console);

enum class ImportFormat : std::uint8_t { kCollapsed, kPprof, kJfr };

struct ImportOptions {
  std::string file;
  std::string out;
  std::optional<ImportFormat> from;  // found out if not given
  profile::Metric metric = profile::Metric::kSamples;
  bool no_threads = false;
  std::string sample_type;
};
int import_file(const ImportOptions& options, const Console& console);

struct ExchangeOptions {
  ExportOptions to_others;
  ImportOptions from_others;
};

}  // namespace sonde::cli
