// SPDX-License-Identifier: Apache-2.0
// Recordings in a JVM that runs: what a host asks for over the control socket (docs/reference/control.md). One
// recording at a time, any number one after the other. It belongs to the connection that began it and ends with it:
// when the host is gone, killed or cut off, everything stops and is taken back.
#pragma once

#include <jni.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/jvmti/recording.h"
#include "agent/session/control_server.h"

namespace sonde::agent {

// In Agent_OnLoad, if nothing is to be recorded yet. HotSpot notes which methods compiled code was made from if classes
// may be changed before there is any; otherwise the first change throws all of it away, and the program is slow for
// seconds.
void prepare_session(JavaVM* vm);
// In Agent_OnAttach. Listens from now on; nothing happens if it does already.
Result<void> begin_session(JavaVM* vm);

// Context: the control thread, and the JVM's when it ends.
class Session final : public ControlHandler {
 public:
  explicit Session(Jvm jvm) : jvm_(std::move(jvm)) {}

  // On the control thread, which the JVM knows.
  void set_environment(JNIEnv* jni) { jni_ = jni; }

  std::string handle(Client client, const control::ControlLine& line) override;
  void gone(Client client) override;
  void tick() override;
  [[nodiscard]] bool is_over() const override { return is_over_; }

  void vm_ended(JNIEnv* jni);

 private:
  using Words = std::vector<std::string>;

  Result<std::string> answer(Client client, const control::ControlLine& line);
  Result<void> record(Client client, const std::string& folder);
  Result<void> start(const Words& words);
  Result<void> stop(const std::string& mode);
  Result<void> end(JNIEnv* jni);
  [[nodiscard]] std::string status() const;

  const Jvm jvm_;
  JNIEnv* jni_ = nullptr;
  bool is_over_ = false;
  std::mutex mutex_;  // guards what follows
  bool vm_has_ended_ = false;
  control::Descriptor folder_;  // of the recording
  std::string folder_name_;     // as the host calls it
  std::unique_ptr<Recording> recording_;
  Client owner_ = 0;
  std::uint64_t lease_end_ns_ = 0;
};

}  // namespace sonde::agent
