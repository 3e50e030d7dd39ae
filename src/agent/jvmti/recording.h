// SPDX-License-Identifier: Apache-2.0
// A recording as the agent makes it: a folder with an arena, and the kinds of profiling that write into it.
// Context: [agent], one call at a time.
#pragma once

#include <jni.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/jvmti/kind.h"
#include "agent/session/options.h"
#include "arena/writer.h"
#include "base/result.h"

namespace sonde::agent {

// The JVM that the agent is in.
struct Jvm {
  JavaVM* vm;
  std::string version;  // "17.0.21+9-Debian"
};
// An error if this is no JVM for us.
Result<Jvm> describe(JavaVM* vm);

class Recording {
 public:
  // Makes the arena in the options' folder.
  static Result<std::unique_ptr<Recording>> create(const Jvm& jvm, Options options);

  // Kinds look at them when they start.
  [[nodiscard]] Options& options() { return options_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] arena::Writer& arena() { return arena_; }

  Kind& add(std::unique_ptr<Kind> kind);
  // The kind of this name, null if there is none.
  [[nodiscard]] Kind* find(std::string_view name) const;
  template <typename Visit>  // void(Kind&)
  void for_each_kind(Visit&& visit) const {
    for (const Entry& entry : kinds_) visit(*entry.kind);
  }

  // Kinds may start and stop any number of times; nothing happens if one does so already.
  Result<void> start(JNIEnv* jni, Kind& kind);
  void stop(JNIEnv* jni, Kind& kind);
  [[nodiscard]] bool is_on(const Kind& kind) const;

  // The end, in a JVM that runs on: everything is as it was before.
  void end(JNIEnv* jni);
  // The end, with the JVM.
  void vm_ends(JNIEnv* jni);

  // There is nothing to be found in the folder: nothing could be prepared.
  void discard();

 private:
  struct Entry {
    std::unique_ptr<Kind> kind;
    bool is_on = false;
  };

  explicit Recording(Options options) : options_(std::move(options)) {}

  Options options_;
  arena::Writer arena_;
  std::vector<Entry> kinds_;
};

}  // namespace sonde::agent
