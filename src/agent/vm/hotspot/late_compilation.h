// SPDX-License-Identifier: Apache-2.0
// Context: [agent], while the JVM boots. Methods of the JDK are instrumented by then, but nothing is counted yet; what
// the JVM compiles it throws away when counting begins. So it is made to compile later: numbers of calls after which
// its first compiler sets to work (-XX:Tier3...Threshold, which it looks up each time) are raised until then.
#pragma once

#include <cstdint>
#include <vector>

namespace sonde::agent::hotspot {

class LateCompilation {
 public:
  // Nothing happens in a JVM that does not describe its flags.
  void begin();
  // As before.
  void end();

 private:
  struct Threshold {
    std::int64_t* place;
    std::int64_t value;
  };
  std::vector<Threshold> thresholds_;
};

}  // namespace sonde::agent::hotspot
