// SPDX-License-Identifier: Apache-2.0
// Context: [signal] and [agent]. Where a method's parts are: the same method as long as all of them are the same.
// Classes may have gone since they were noted, so they are read as memory that may be gone, all with one system call.
#pragma once

#include <cstdint>
#include <cstring>

#include "agent/vm/hotspot/layout.h"
#include "agent/vm/hotspot/safe_memory.h"
#include "base/signal_safe.h"

namespace sonde::agent::hotspot {

inline constexpr std::size_t kLargestStruct = 256;  // of ConstMethod and ConstantPool; layout.cc checks

template <typename T>
T field(const std::uint8_t* bytes, std::uint32_t offset) SIGNAL_SAFE {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

struct MethodIdentity {
  std::uint64_t method;
  std::uint64_t const_method;
  std::uint64_t pool;
  std::uint64_t indices;  // of name and descriptor in the pool
  std::uint64_t name;     // symbols
  std::uint64_t descriptor;
  std::uint64_t holder;
  std::uint64_t class_name;
  bool operator==(const MethodIdentity&) const = default;

  // `bytes`: the ConstMethod.
  void take_const_method(const Layout& layout, const std::uint8_t* bytes) SIGNAL_SAFE {
    pool = field<std::uint64_t>(bytes, layout.const_pool);
    indices = std::uint64_t{field<std::uint16_t>(bytes, layout.const_name)} << 16 |
              field<std::uint16_t>(bytes, layout.const_signature);
  }
  // Addresses of entries of the constant pool.
  [[nodiscard]] std::uint64_t entry(const Layout& layout, std::uint64_t index) const SIGNAL_SAFE {
    return pool + layout.pool_size + index * 8;
  }
  [[nodiscard]] std::uint64_t name_entry(const Layout& layout) const SIGNAL_SAFE {
    return entry(layout, indices >> 16);
  }
  [[nodiscard]] std::uint64_t descriptor_entry(const Layout& layout) const SIGNAL_SAFE {
    return entry(layout, indices & 0xffff);
  }
};

// Is it what it was? False, too, where the system call is forbidden.
inline bool is_still_there(const Layout& layout, pid_t self, const MethodIdentity& identity) SIGNAL_SAFE {
  MethodIdentity now{};
  now.method = identity.method;
  std::uint8_t const_method[kLargestStruct];
  MemoryPieces pieces;
  pieces.add(identity.method + layout.method_const, now.const_method);
  pieces.add(identity.const_method, const_method, layout.const_size);
  pieces.add(identity.name_entry(layout), now.name);
  pieces.add(identity.descriptor_entry(layout), now.descriptor);
  pieces.add(identity.pool + layout.pool_holder, now.holder);
  pieces.add(identity.holder + layout.klass_name, now.class_name);
  if (!pieces.read(self)) return false;
  now.take_const_method(layout, const_method);
  return now == identity;
}

}  // namespace sonde::agent::hotspot
