// SPDX-License-Identifier: Apache-2.0
// Classes that are never instrumented: the runtime itself, what it calls, and the code that switches between virtual
// threads: it runs while the current thread is neither the one nor the other, and after a virtual thread has given its
// call tree back.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sonde::agent {

inline bool is_never_touched(std::string_view class_name) {
  constexpr std::array<std::string_view, 4> kClasses = {"java/lang/VirtualThread", "jdk/internal/misc/Unsafe",
                                                        "jdk/internal/misc/UnsafeConstants",
                                                        "jdk/internal/vm/StackChunk"};
  constexpr std::array<std::string_view, 3> kFamilies = {"java/lang/Sonde", "java/lang/VirtualThread$",
                                                         "jdk/internal/vm/Continuation"};
  return std::ranges::find(kClasses, class_name) != kClasses.end() ||
         std::ranges::any_of(kFamilies, [&](std::string_view family) { return class_name.starts_with(family); });
}

}  // namespace sonde::agent
