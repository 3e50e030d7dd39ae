// SPDX-License-Identifier: Apache-2.0
// For tests: a console whose two streams end up in strings.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/console.h"

namespace sonde::cli {

class MemoryConsole {
 public:
  MemoryConsole() : console_{.out = open_memstream(&out_, &out_size_), .err = open_memstream(&err_, &err_size_)} {}
  MemoryConsole(const MemoryConsole&) = delete;
  MemoryConsole& operator=(const MemoryConsole&) = delete;
  ~MemoryConsole() {
    std::fclose(console_.out);
    std::fclose(console_.err);
    std::free(out_);
    std::free(err_);
  }
  [[nodiscard]] const Console& console() const { return console_; }
  [[nodiscard]] std::string out() const { return std::fflush(console_.out) == 0 ? std::string(out_, out_size_) : ""; }
  [[nodiscard]] std::string err() const { return std::fflush(console_.err) == 0 ? std::string(err_, err_size_) : ""; }

 private:
  char* out_ = nullptr;
  char* err_ = nullptr;
  std::size_t out_size_ = 0;
  std::size_t err_size_ = 0;
  Console console_;
};

}  // namespace sonde::cli
