// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace sonde::cli {
namespace {

// ECMA-48 and what every terminal took from xterm.
constexpr const char* kOwnScreen = "\x1b[?1049h\x1b[?25l";
constexpr const char* kFormerScreen = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kClearLine = "\x1b[K";

void put(const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t size = write(STDOUT_FILENO, text.data() + sent, text.size() - sent);
    if (size <= 0) return;
    sent += static_cast<std::size_t>(size);
  }
}

}  // namespace

Terminal::Terminal() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  put(kOwnScreen);
}

Terminal::~Terminal() {
  put(kFormerScreen);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Terminal::Size Terminal::size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {.width = 80, .height = 24};
  return {.width = size.ws_col, .height = size.ws_row};
}

void Terminal::show(const std::string& lines) {
  std::string text = kHome;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    text += lines.substr(begin, end - begin) + kClearLine;
    begin = end + 1;
    if (begin < lines.size()) text += "\r\n";
  }
  put(text);
}

std::optional<char> Terminal::wait_for_key(int timeout_ms) {
  pollfd waiting{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char key = 0;
  if (poll(&waiting, 1, timeout_ms) <= 0 || read(STDIN_FILENO, &key, 1) != 1) return std::nullopt;
  return key;
}

}  // namespace sonde::cli
