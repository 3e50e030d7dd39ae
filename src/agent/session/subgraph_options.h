// SPDX-License-Identifier: Apache-2.0
// What modes subgraph and region were asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arena/layout.h"

namespace sonde::agent {

// Methods of the JDK in a subgraph.
enum class JdkMethods : std::uint8_t {
  kOpaque,  // left as they are: their time is their caller's, what they call back is found if it is made or passed here
  kFollowed,  // instrumented to find what they call back, but not measured
  kMeasured,
};

// Which methods are instrumented together with one that is met, since the JVM has seen it call them before: each batch
// stops the program, and they need none of their own.
enum class Ahead : std::uint8_t {
  kOff,
  kNear,  // those it calls often, and what they call often
  kFar,   // all, and all that these call, and so on: the fewest pauses, and the most methods that are not called
};

struct SubgraphOptions {
  std::vector<std::string> roots;  // patterns of methods; none: the mode is off
  arena::SubgraphScheme scheme = arena::SubgraphScheme::kLazy;
  arena::SubgraphTime time = arena::SubgraphTime::kWall;
  JdkMethods jdk = JdkMethods::kOpaque;
  bool bytecodes = false;
  std::uint64_t bare_ns = 0;    // for how long roots run bare at first: nothing below them is instrumented
  std::uint64_t settle_ns = 0;  // for how much longer they may, as long as the JVM compiles much
  Ahead ahead = Ahead::kNear;   // of the lazy scheme
  bool wait = true;             // a thread waits until what it calls for the first time is instrumented

  [[nodiscard]] bool is_on() const { return !roots.empty(); }
  [[nodiscard]] bool is_region() const { return scheme == arena::SubgraphScheme::kRegion; }
  [[nodiscard]] bool begins_bare() const { return bare_ns != 0 && time != arena::SubgraphTime::kNone && !is_region(); }
  bool operator==(const SubgraphOptions&) const = default;
};

}  // namespace sonde::agent
