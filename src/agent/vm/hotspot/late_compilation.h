// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. While the JVM boots, methods of the JDK are instrumented, but nothing is counted yet; while the
// classes of a running JVM are changed, the next batch changes what code of the last one depends on. What the JVM
// compiles meanwhile it throws away soon. So it is made to compile later: numbers of calls after which its first
// compiler sets to work (-XX:Tier3...Threshold, which it looks up each time) are raised for as long as this object
// lives. If there are two, the second does nothing.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::agent::hotspot {

class LateCompilation {
 public:
  // Nothing happens in a JVM that does not describe its flags.
  LateCompilation();
  // As before.
  ~LateCompilation();
  LateCompilation(const LateCompilation&) = delete;
  LateCompilation& operator=(const LateCompilation&) = delete;

 private:
  struct Threshold {
    std::int64_t* place;
    std::int64_t value;
  };
  bool is_first_;  // of those that live
  std::vector<Threshold> thresholds_;
};

}  // namespace sonde::agent::hotspot
