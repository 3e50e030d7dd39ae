// SPDX-License-Identifier: Apache-2.0
#include "agent/session/control_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace sonde::agent {
namespace {

constexpr int kTickMs = 200;
constexpr int kSendTimeoutMs = 500;  // a client that does not read its answer
constexpr std::size_t kMostConnections = 16;

}  // namespace

Result<ControlServer> ControlServer::listen() {
  control::Descriptor folder = TRY(control::make_socket_folder("/tmp", geteuid()));
  std::string name = std::to_string(getpid());
  control::Descriptor listening = TRY(control::listen_in(folder, name));
  return ControlServer(std::move(folder), std::move(listening), std::move(name));
}

void ControlServer::accept_one() {
  control::Descriptor socket(accept4(listening_.value(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.value() < 0) return;
  const auto peer = control::peer_of(socket);
  const bool is_welcome = peer.ok() && (*peer == geteuid() || *peer == 0);
  if (!is_welcome || connections_.size() == kMostConnections) return;
  connections_.push_back({.client = ++last_client_, .channel = control::LineChannel(socket.release())});
}

bool ControlServer::serve_one(Connection& connection, ControlHandler& handler) {
  const bool is_there = connection.channel.read_some();
  while (const auto text = connection.channel.next_line()) {
    const auto line = control::parse_line(*text);
    if (!line.ok()) {
      connection.channel.send(control::format_line("error", {line.error().message}), kSendTimeoutMs);
      return false;
    }
    if (!connection.channel.send(handler.handle(connection.client, *line), kSendTimeoutMs)) return false;
  }
  return is_there;
}

void ControlServer::serve(ControlHandler& handler) {
  while (!handler.is_over()) {
    std::vector<pollfd> waiting = {{.fd = listening_.value(), .events = POLLIN, .revents = 0}};
    for (const Connection& connection : connections_)
      waiting.push_back({.fd = connection.channel.socket(), .events = POLLIN, .revents = 0});
    poll(waiting.data(), waiting.size(), kTickMs);
    // From the last to the first, so that those that go do not move the others.
    for (std::size_t i = connections_.size(); i-- > 0;) {
      if (waiting[i + 1].revents == 0 || serve_one(connections_[i], handler)) continue;
      handler.gone(connections_[i].client);
      connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waiting[0].revents != 0) accept_one();
    handler.tick();
  }
  unlinkat(folder_.value(), name_.c_str(), 0);
}

}  // namespace sonde::agent
