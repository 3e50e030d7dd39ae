// SPDX-License-Identifier: Apache-2.0
// Lines on a stream socket, which it owns. What one side sends is bounded: a peer that sends no line feed, or does not
// read what it asked for, is given up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/control_line.h"

namespace sonde::control {

class LineChannel {
 public:
  explicit LineChannel(int socket) : socket_(socket) {}
  ~LineChannel();
  LineChannel(LineChannel&& other) noexcept;
  LineChannel& operator=(LineChannel&& other) noexcept;
  LineChannel(const LineChannel&) = delete;
  LineChannel& operator=(const LineChannel&) = delete;

  [[nodiscard]] int socket() const { return socket_; }

  // Reads what there is without waiting. False if the peer has gone or sends what can be no line.
  bool read_some();
  // The next complete line of what was read, without its line feed.
  std::optional<std::string> next_line();

  // Waits for a line for so long at most.
  Result<std::string> wait_for_line(int timeout_ms);
  // Waits for so long at most until all is sent. False if it could not be.
  bool send(std::string_view text, int timeout_ms);

 private:
  int socket_;
  std::string pending_;
};

// Sends a line and returns those of the answer: up to "ok", or the error that the other side tells.
Result<std::vector<ControlLine>> ask(LineChannel& channel, const std::string& line, int timeout_ms);

}  // namespace sonde::control
