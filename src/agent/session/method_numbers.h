// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. Numbers of methods in a JVM that runs: a method has the same one in all
// recordings. New ones would be new constants in the pool of its class, and pools only grow when the JVM changes a
// class.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace sonde::agent {

class MethodNumbers {
 public:
  // Even for methods of the JDK, odd for all others.
  std::uint32_t next(bool of_jdk) { return of_jdk ? last_jdk_ += 2 : last_other_ += 2; }
  [[nodiscard]] std::uint32_t largest() const { return last_jdk_ > last_other_ ? last_jdk_ : last_other_; }

  // That of a method, 0 if it is new. A name is "pkg/Class.method(descriptor)type" and what tells methods of this name
  // apart: the bytes of a class are not the same each time that it comes from the JVM, nor is the order of its methods.
  std::uint32_t& of(const std::string& name) { return by_name_[name]; }

 private:
  std::uint32_t last_jdk_ = 0;
  std::uint32_t last_other_ = 1;
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

}  // namespace sonde::agent
