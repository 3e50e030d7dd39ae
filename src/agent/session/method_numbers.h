// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. Numbers of methods whose class may come again: from another class loader, as
// those of scripts do, or in the next recording of a JVM that runs. The same method has the same number each time, so
// that trees do not grow for ever; and a new number would be a new constant in the pool of a class, which only grows
// when the JVM changes the class.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "agent/session/hash_bytes.h"
#include "instrument/counting_pass.h"

namespace sonde::agent {

class MethodNumbers {
 public:
  // Even for methods of the JDK, odd for all others.
  std::uint32_t next(bool of_jdk) { return of_jdk ? last_jdk_ += 2 : last_other_ += 2; }
  [[nodiscard]] std::uint32_t largest() const { return last_jdk_ > last_other_ ? last_jdk_ : last_other_; }

  // That of a method, 0 if it is new. A name is "pkg/Class.method(descriptor)type" and what tells methods of this name
  // apart: the bytes of a class are not the same each time that it comes from the JVM, nor is the order of its methods.
  std::uint32_t& of(const std::string& name) { return by_name_[name]; }

  // Whether a method may have this number: it is the first, or one that is counted just as the first one. Memory for
  // call sites is handed out by what is known of that one.
  bool claim(std::uint32_t number, const instrument::CountedMethod& counted) {
    const Shape shape = shape_of(counted);
    return shapes_.try_emplace(number, shape).first->second == shape;
  }

 private:
  struct Shape {
    std::size_t sites;
    std::uint64_t places;  // of the sites, as a hash
    std::uint32_t constant_bytecodes;
    bool is_leaf;
    bool operator==(const Shape&) const = default;
  };
  static Shape shape_of(const instrument::CountedMethod& counted) {
    const auto* places = reinterpret_cast<const std::uint8_t*>(counted.sites.data());
    return {.sites = counted.sites.size(),
            .places = hash_bytes({places, counted.sites.size() * sizeof(instrument::SiteLine)}),
            .constant_bytecodes = counted.constant_bytecodes,
            .is_leaf = counted.is_leaf};
  }

  std::uint32_t last_jdk_ = 0;
  std::uint32_t last_other_ = 1;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::unordered_map<std::uint32_t, Shape> shapes_;
};

}  // namespace sonde::agent
