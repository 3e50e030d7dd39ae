// SPDX-License-Identifier: Apache-2.0
// Context: any thread. Classes whose constant pools grow each time that the JVM changes them. HotSpot merges the pools
// of the old version and the new one, and compares constants by value: a NaN is equal to nothing, so each one of the
// new version is added once more. What matters is which class file the change begins with:
//
//   the JVM's copy of the first one     one more of each NaN for a change
//   one that is made from the pool      all that there are, once more: the pool soon is full
//
// The JVM keeps its copy as long as a class is changed while ClassFileLoadHook is on, and drops it otherwise.
#pragma once

#include <jvmti.h>

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "classfile/class_file.h"

namespace sonde::agent {

class GrowingPools {
 public:
  // Remembers the class if its pool grows.
  void note(const classfile::ClassFile& cls);
  [[nodiscard]] bool has(std::string_view class_name) const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_set<std::string> names_;
};

// Whether a class can be changed and changed back. What is in a pool stays in it, so it may be full after thousands of
// recordings, and a class that can no longer be changed back must not be changed. Needs can_get_constant_pool.
bool has_room_in_pool(jvmtiEnv* jvmti, jclass cls);

}  // namespace sonde::agent
