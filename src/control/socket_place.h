// SPDX-License-Identifier: Apache-2.0
// Where an agent listens: TMP/sonde-UID/PID, where TMP is /tmp as the JVM sees it, UID its user and PID its number in
// its own namespace. The folder belongs to that user and nobody else may enter it; everything in it is reached through
// the folder's descriptor, so that no symbolic link leads elsewhere.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <ctime>
#include <string>

#include "base/result.h"

namespace sonde::control {

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int value() const { return value_; }
  int release();

 private:
  int value_;
};

// A path by which this process reaches a file in an open folder.
std::string path_in(const Descriptor& folder, const std::string& name = "");

// Opens a folder of `owner` that nobody else may enter, and that is no symbolic link. `root` is in front of its path:
// "" or "/proc/PID/root".
Result<Descriptor> open_private_folder(const std::string& path, uid_t owner);

std::string socket_folder(const std::string& tmp, uid_t owner);
// The same, made if it does not exist.
Result<Descriptor> make_socket_folder(const std::string& tmp, uid_t owner);

// A socket that listens; what a dead process of this name left behind is removed.
Result<Descriptor> listen_in(const Descriptor& folder, const std::string& name);
// A connection to it, whose other end is a process of `owner`.
Result<Descriptor> connect_in(const Descriptor& folder, const std::string& name, uid_t owner);

// Removes what killed processes left behind: sockets with the number of a process that is no more, which nobody listens
// to. Young ones stay, since somebody with another view of process numbers may be about to. Returns how many.
std::size_t remove_dead_sockets(const Descriptor& folder, std::time_t youngest_s = 10);

// The user at the other end; an error if the system does not tell.
Result<uid_t> peer_of(const Descriptor& socket);

}  // namespace sonde::control
