// SPDX-License-Identifier: Apache-2.0
#include "cli/attach_client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "control/socket_place.h"

namespace sonde::cli {
namespace {

using control::Descriptor;
using std::chrono::milliseconds;

constexpr int kAnswerTimeoutMs = 20'000;
constexpr milliseconds kListenTimeout{10'000};

Error failed(std::string message) { return {ErrorCode::kIo, std::move(message)}; }

std::string socket_of(const RunningJvm& jvm) { return jvm.tmp() + "/.java_pid" + std::to_string(jvm.inner_pid); }

// Nothing if the JVM does not listen yet. The socket of a killed JVM that had the same number may lie there, too.
std::optional<Descriptor> try_connect(const RunningJvm& jvm) {
  const std::string path = socket_of(jvm);
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode) || status.st_uid != jvm.user) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  Descriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connection.value() < 0 ||
      connect(connection.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return connection;
}

// A process that has no handler for SIGQUIT would die of it.
bool handles_sigquit(const RunningJvm& jvm) {
  std::ifstream file("/proc/" + std::to_string(jvm.pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("SigCgt:")) return (std::strtoull(line.c_str() + 7, nullptr, 16) >> (SIGQUIT - 1) & 1) != 0;
  }
  return false;
}

// The file that tells the JVM what SIGQUIT means. Its folder is kept open: /proc has no working folder of a JVM that
// has ended, and the file must go.
class AttachFile {
 public:
  explicit AttachFile(const RunningJvm& jvm) {
    name_ = ".attach_pid" + std::to_string(jvm.inner_pid);
    for (const std::string& path : {"/proc/" + std::to_string(jvm.pid) + "/cwd", jvm.tmp()}) {
      Descriptor folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      const Descriptor file(
          openat(folder.value(), name_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (file.value() < 0) continue;
      remove();
      folder_ = std::move(folder);
      if (geteuid() == jvm.user || fchown(file.value(), jvm.user, static_cast<gid_t>(-1)) == 0) return;
    }
  }
  ~AttachFile() { remove(); }
  AttachFile(const AttachFile&) = delete;
  AttachFile& operator=(const AttachFile&) = delete;

  [[nodiscard]] bool exists() const { return folder_.value() >= 0; }

 private:
  void remove() const {
    if (exists()) unlinkat(folder_.value(), name_.c_str(), 0);
  }

  std::string name_;
  Descriptor folder_;
};

// Has the JVM listen if it does not.
Result<Descriptor> connect_to(const RunningJvm& jvm) {
  if (std::optional<Descriptor> connection = try_connect(jvm)) return std::move(*connection);
  if (std::ranges::find(jvm.arguments, "-XX:+DisableAttachMechanism") != jvm.arguments.end())
    return failed("the JVM was started with -XX:+DisableAttachMechanism, so nobody can attach");
  if (!handles_sigquit(jvm))
    return failed("the JVM does not handle SIGQUIT: it is still starting, or was started with -Xrs");
  const AttachFile file(jvm);
  if (!file.exists()) return failed("neither its working folder nor its /tmp takes the file .attach_pid");
  kill(jvm.pid, SIGQUIT);
  milliseconds pause{2};
  for (milliseconds waited{0}; waited < kListenTimeout;
       waited += pause, pause = std::min(pause * 2, milliseconds{50})) {
    std::this_thread::sleep_for(pause);
    if (std::optional<Descriptor> connection = try_connect(jvm)) return std::move(*connection);
    if (kill(jvm.pid, 0) != 0) return failed("the JVM has ended");
  }
  return failed("the JVM does not answer; it may be stopped or without CPU time");
}

Result<std::string> read_to_end(const Descriptor& connection) {
  std::string text;
  char buffer[1024];
  for (;;) {
    pollfd waiting{.fd = connection.value(), .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, kAnswerTimeoutMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return failed("the JVM took the command but does not answer");
    const ssize_t size = recv(connection.value(), buffer, sizeof buffer, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

}  // namespace

Result<void> load_agent(const RunningJvm& jvm, const std::string& library, const std::string& options) {
  const Descriptor connection = TRY(connect_to(jvm));
  std::string command;
  for (const std::string& word : {std::string("1"), std::string("load"), library, std::string("true"), options}) {
    command += word;
    command += '\0';
  }
  if (send(connection.value(), command.data(), command.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(command.size()))
    return failed("the JVM does not take the command");
  const std::string answer = TRY(read_to_end(connection));
  // "0" and then what Agent_OnAttach returned, or what is wrong with the library.
  if (answer.starts_with("0\n") && answer.find("return code: 0") != std::string::npos) return {};
  std::string reason = answer.substr(std::min(answer.find('\n') + 1, answer.size()));
  std::ranges::replace(reason, '\n', ' ');
  return failed("the JVM did not load " + library + ": " + (reason.empty() ? "it gives no reason" : reason));
}

}  // namespace sonde::cli
