// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace sonde::cli {

bool write_output(const std::string& path, std::string_view text, const Console& console) {
  if (path.empty()) {
    console.data(text);
    return console.flush();
  }
  std::FILE* file = std::fopen(path.c_str(), "we");
  bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int failure = errno;
  if (file != nullptr) is_written &= std::fclose(file) == 0;
  if (!is_written) {
    console.fail(path, {ErrorCode::kIo, "cannot write: " + std::generic_category().message(failure)},
                 "Choose another place for it.");
  }
  return is_written;
}

}  // namespace sonde::cli
