// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Where an nmethod says which bytecodes its instructions stand for (nmethod.hpp, pcDesc.hpp,
// scopeDesc.cpp): a description for each place at which it can be stopped, and scopes, each with its caller's.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/vm/hotspot/code_cache.h"
#include "agent/vm/hotspot/unsigned5.h"

namespace sonde::agent::hotspot {

struct PcDesc {
  std::int32_t pc_offset;
  std::int32_t scope_decode_offset;
  std::int32_t obj_decode_offset;
  std::int32_t flags;
};
static_assert(sizeof(PcDesc) == 16);

// The parts of an nmethod.
struct Scopes {
  std::uint64_t pcs;
  std::uint64_t pcs_end;
  std::uint64_t data;
  std::uint64_t metadata;
};

inline Scopes scopes_of(const Layout& layout, std::uint64_t nmethod) {
  const auto number = [&](std::uint32_t field) { return std::uint64_t{load<std::uint32_t>(nmethod + field)}; };
  Scopes scopes{};
  if (layout.has_immutable_data) {
    const auto base = load<std::uint64_t>(nmethod + layout.nmethod_immutable_data);
    scopes.pcs = base + number(layout.nmethod_scopes_pcs);
    scopes.pcs_end = base + number(layout.nmethod_scopes_pcs_end);
    scopes.data = base + number(layout.nmethod_scopes_data);
  } else {
    scopes.pcs = nmethod + number(layout.nmethod_scopes_pcs);
    scopes.pcs_end = nmethod + number(layout.nmethod_scopes_pcs_end);
    scopes.data = load<std::uint64_t>(nmethod + layout.nmethod_scopes_data);
  }
  scopes.metadata = layout.has_mutable_data
                        ? load<std::uint64_t>(nmethod + layout.blob_mutable_data) + number(layout.nmethod_metadata)
                        : nmethod + number(layout.nmethod_metadata);
  return scopes;
}

inline constexpr std::size_t kScopeBytes = 15;  // at most

// A scope as it is written: its caller's scope, a method and a bytecode index; the outermost has no caller.
struct RawScope {
  std::int32_t caller;   // 0 or less: there is none
  std::uint32_t method;  // its place in the metadata, from 1 on
  std::int32_t bci;
};

inline std::optional<RawScope> parse_scope(const std::uint8_t (&bytes)[kScopeBytes], bool excludes_zero) {
  Unsigned5Reader reader(bytes, excludes_zero);
  const auto caller = reader.next();
  const auto method = reader.next();
  const auto bci = reader.next();
  if (!caller || !method || !bci || *method == 0) return {};
  return RawScope{
      .caller = static_cast<std::int32_t>(*caller), .method = *method, .bci = static_cast<std::int32_t>(*bci) - 1};
}

}  // namespace sonde::agent::hotspot
