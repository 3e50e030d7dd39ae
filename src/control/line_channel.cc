// SPDX-License-Identifier: Apache-2.0
#include "control/line_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"

namespace sonde::control {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

// False if the time is over.
bool wait_for(int socket, short event, std::uint64_t deadline_ns) {
  for (;;) {
    const std::uint64_t now = monotonic_ns();
    if (now >= deadline_ns) return false;
    pollfd waiting{.fd = socket, .events = event, .revents = 0};
    const int ready = poll(&waiting, 1, static_cast<int>((deadline_ns - now) / kMillisecond) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

LineChannel::~LineChannel() {
  if (socket_ >= 0) close(socket_);
}

LineChannel::LineChannel(LineChannel&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), pending_(std::move(other.pending_)) {}

LineChannel& LineChannel::operator=(LineChannel&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(pending_, other.pending_);
  return *this;
}

bool LineChannel::read_some() {
  char buffer[4096];
  for (;;) {
    const ssize_t size = recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (size == 0) return false;
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    pending_.append(buffer, static_cast<std::size_t>(size));
    if (pending_.size() > 2 * kLongestLine) {
      // Many short lines are for next_line to take; a long one is no line.
      return pending_.find('\n') <= kLongestLine;
    }
  }
}

std::optional<std::string> LineChannel::next_line() {
  const std::size_t end = pending_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

Result<std::string> LineChannel::wait_for_line(int timeout_ms) {
  const std::uint64_t deadline = monotonic_ns() + static_cast<std::uint64_t>(timeout_ms) * kMillisecond;
  for (;;) {
    if (std::optional<std::string> line = next_line()) return std::move(*line);
    if (!wait_for(socket_, POLLIN, deadline)) return Error{ErrorCode::kIo, "there is no answer"};
    if (!read_some() && pending_.find('\n') == std::string::npos) {
      return Error{ErrorCode::kIo, "the connection was closed"};
    }
  }
}

bool LineChannel::send(std::string_view text, int timeout_ms) {
  const std::uint64_t deadline = monotonic_ns() + static_cast<std::uint64_t>(timeout_ms) * kMillisecond;
  while (!text.empty()) {
    const ssize_t size = ::send(socket_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    if (size < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (size < 0 && errno == EAGAIN && !wait_for(socket_, POLLOUT, deadline)) return false;
  }
  return true;
}

Result<std::vector<ControlLine>> ask(LineChannel& channel, const std::string& line, int timeout_ms) {
  if (!channel.send(line, timeout_ms)) return Error{ErrorCode::kIo, "the connection was closed"};
  std::vector<ControlLine> answer;
  for (;;) {
    const std::string text = TRY(channel.wait_for_line(timeout_ms));
    ControlLine next = TRY(parse_line(text));
    if (next.verb == "ok") return answer;
    if (next.verb == "error") {
      return Error{ErrorCode::kUnsupported, next.words.empty() ? "it failed" : next.words.front()};
    }
    answer.push_back(std::move(next));
  }
}

}  // namespace sonde::control
