// SPDX-License-Identifier: Apache-2.0
#include "control/socket_place.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace sonde::control {
namespace {

constexpr int kBacklog = 8;

Error io_error(const std::string& what, const std::string& path) {
  return {ErrorCode::kIo, what + ": " + std::strerror(errno), {.path = path, .byte_offset = {}}};
}

Result<sockaddr_un> address_of(const Descriptor& folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = path_in(folder, name);
  if (path.size() >= sizeof address.sun_path) return Error{ErrorCode::kTooLarge, "the name of the socket is too long"};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Whether the name is that of a process, and there is none.
bool is_of_the_dead(const std::string& name) {
  const bool is_number = !name.empty() && name.size() <= 9 && name.find_first_not_of("0123456789") == std::string::npos;
  return is_number && name[0] != '0' && kill(std::atoi(name.c_str()), 0) != 0 && errno == ESRCH;
}

bool is_socket_older_than(std::time_t seconds, const Descriptor& folder, const std::string& name) {
  struct stat status {};
  return fstatat(folder.value(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode) &&
         status.st_mtime + seconds <= std::time(nullptr);
}

bool nobody_listens(const Descriptor& folder, const std::string& name) {
  const auto address = address_of(folder, name);
  const Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return address.ok() && connection.value() >= 0 &&
         connect(connection.value(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

Descriptor::~Descriptor() {
  if (value_ >= 0) close(value_);
}
Descriptor::Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}
int Descriptor::release() { return std::exchange(value_, -1); }

std::string path_in(const Descriptor& folder, const std::string& name) {
  const std::string path = "/proc/self/fd/" + std::to_string(folder.value());
  return name.empty() ? path : path + "/" + name;
}

Result<Descriptor> open_private_folder(const std::string& path, uid_t owner) {
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.value() < 0) return io_error("cannot be opened", path);
  struct stat status {};
  if (fstat(folder.value(), &status) != 0) return io_error("cannot be looked at", path);
  if (status.st_uid != owner || (status.st_mode & 077) != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "must belong to user " + std::to_string(owner) + " and be closed to all others (mode 0700)",
                 {.path = path, .byte_offset = {}}};
  }
  return folder;
}

std::string socket_folder(const std::string& tmp, uid_t owner) { return tmp + "/sonde-" + std::to_string(owner); }

Result<Descriptor> make_socket_folder(const std::string& tmp, uid_t owner) {
  const std::string path = socket_folder(tmp, owner);
  if (mkdir(path.c_str(), 0700) == 0) {
    // Made by root for somebody else.
    if (geteuid() != owner && lchown(path.c_str(), owner, static_cast<gid_t>(-1)) != 0)
      return io_error("cannot be given to its user", path);
  } else if (errno != EEXIST) {
    return io_error("cannot be created", path);
  }
  return open_private_folder(path, owner);
}

Result<Descriptor> listen_in(const Descriptor& folder, const std::string& name) {
  const sockaddr_un address = TRY(address_of(folder, name));
  Descriptor listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listening.value() < 0) return io_error("no socket", name);
  unlinkat(folder.value(), name.c_str(), 0);
  if (bind(listening.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return io_error("the socket cannot be bound", name);
  if (fchmodat(folder.value(), name.c_str(), 0600, 0) != 0 || listen(listening.value(), kBacklog) != 0)
    return io_error("the socket cannot be listened to", name);
  return listening;
}

Result<Descriptor> connect_in(const Descriptor& folder, const std::string& name, uid_t owner) {
  const sockaddr_un address = TRY(address_of(folder, name));
  Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connection.value() < 0) return io_error("no socket", name);
  if (connect(connection.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return io_error("cannot connect", name);
  if (TRY(peer_of(connection)) != owner)
    return Error{ErrorCode::kInvalidArgument, "whoever listens there is not the process that was asked for"};
  return connection;
}

std::size_t remove_dead_sockets(const Descriptor& folder, std::time_t youngest_s) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_in(folder), error))
    names.push_back(entry.path().filename().string());
  return static_cast<std::size_t>(std::ranges::count_if(names, [&](const std::string& name) {
    return is_of_the_dead(name) && is_socket_older_than(youngest_s, folder, name) && nobody_listens(folder, name) &&
           unlinkat(folder.value(), name.c_str(), 0) == 0;
  }));
}

Result<uid_t> peer_of(const Descriptor& socket) {
  struct ucred peer {};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.value(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return io_error("no credentials", "peer");
  return peer.uid;
}

}  // namespace sonde::control
