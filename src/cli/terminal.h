// SPDX-License-Identifier: Apache-2.0
// A terminal that a program has for itself: keys come one by one, and what was on it before comes back at the end.
#pragma once

#include <termios.h>

#include <optional>
#include <string>

namespace sonde::cli {

class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // In characters; what is usual if the terminal does not tell.
  struct Size {
    std::size_t width;
    std::size_t height;
  };
  [[nodiscard]] static Size size();

  // Replaces what is shown; lines are as many as its height.
  static void show(const std::string& lines);
  // The next key, if one is pressed within that time.
  static std::optional<char> wait_for_key(int timeout_ms);

 private:
  termios before_{};
};

}  // namespace sonde::cli
