// SPDX-License-Identifier: Apache-2.0
// Builds with SONDE_CHECK_SIGNALS, as the tests' agent is, stop the process when a handler allocates memory or takes a
// lock. In other builds there is nothing of this.
#pragma once

#include "base/signal_safe.h"

namespace sonde::agent {

#ifdef SONDE_CHECK_SIGNALS
// While one of these exists, its thread is inside of a handler.
class SignalScope {
 public:
  SignalScope() SIGNAL_SAFE;
  ~SignalScope() SIGNAL_SAFE;
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
};
#else
struct SignalScope {
  SignalScope() SIGNAL_SAFE {}
  ~SignalScope() SIGNAL_SAFE {}
};
#endif

}  // namespace sonde::agent
