// SPDX-License-Identifier: Apache-2.0
// Context: [agent], a thread of its own. Listens on the agent's socket (control/socket_place.h) and hands the lines of
// clients, one at a time, to a handler. Only processes of the same user or of root are heard; whoever sends something
// that is no line is dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/line_channel.h"
#include "control/socket_place.h"

namespace sonde::agent {

class ControlHandler {
 public:
  using Client = std::uint64_t;

  // The whole answer, its last line "ok" or "error …".
  virtual std::string handle(Client client, const control::ControlLine& line) = 0;
  virtual void gone(Client client) = 0;
  // A few times per second.
  virtual void tick() = 0;
  [[nodiscard]] virtual bool is_over() const = 0;

 protected:
  ~ControlHandler() = default;
};

class ControlServer {
 public:
  // The socket is there when this returns.
  static Result<ControlServer> listen();

  // Until the handler says that it is over; then nobody listens any more.
  void serve(ControlHandler& handler);

 private:
  struct Connection {
    ControlHandler::Client client;
    control::LineChannel channel;
  };

  ControlServer(control::Descriptor folder, control::Descriptor listening, std::string name)
      : folder_(std::move(folder)), listening_(std::move(listening)), name_(std::move(name)) {}

  void accept_one();
  // False if the connection is to be closed.
  static bool serve_one(Connection& connection, ControlHandler& handler);

  control::Descriptor folder_;
  control::Descriptor listening_;
  std::string name_;
  std::vector<Connection> connections_;
  ControlHandler::Client last_client_ = 0;
};

}  // namespace sonde::agent
