// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one call at a time. Classes that are loaded already are changed a hundred at a time: the JVM stands
// still for each batch, 2 ms and some microseconds per class, so fewer would cost more and many would be felt.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace sonde::agent {

// The JVM stands still for a part of what a batch takes.
struct BatchCosts {
  std::vector<std::uint64_t> took_ns;  // each batch
  std::uint64_t classes = 0;
  std::uint64_t refused = 0;  // classes that the JVM does not change
};

// The same in a few numbers.
struct BatchSummary {
  std::uint64_t batches = 0;
  std::uint64_t classes = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t longest_ns = 0;
};
BatchSummary summary_of(const BatchCosts& costs);

// Gets a class, its name ("java/lang/String") and its loader.
using IsWanted = std::function<bool(jclass, std::string_view, jobject)>;

// Has all loaded classes that `is_wanted` accepts pass ClassFileLoadHook again.
void retransform_loaded(jvmtiEnv* jvmti, JNIEnv* jni, const IsWanted& is_wanted, BatchCosts& costs);

}  // namespace sonde::agent
