// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. What a user-written agent can ask about a method, by its number. Kept only if there is one: the
// host reads the same from the arena.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::agent {

class MethodNames {
 public:
  struct Method {
    std::string class_name;  // "java/util/Map"; all three in modified UTF-8
    std::string name;
    std::string descriptor;
    std::uint32_t constant_bytecodes = 0;  // per call, on top of what is stored
    bool has_no_node = false;              // callers keep its counts in their CallSite
    std::vector<std::uint16_t> lines{};    // of its call sites, 0 if unknown
  };

  void add(std::uint32_t id, Method method) {
    const std::lock_guard lock(mutex_);
    methods_.insert_or_assign(id, std::move(method));
  }
  // Null if there is none; else it stays where it is.
  [[nodiscard]] const Method* find(std::uint32_t id) const {
    const std::lock_guard lock(mutex_);
    const auto found = methods_.find(id);
    return found == methods_.end() ? nullptr : &found->second;
  }

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<std::uint32_t, Method> methods_;
};

}  // namespace sonde::agent
