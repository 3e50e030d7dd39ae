// SPDX-License-Identifier: Apache-2.0
// How enums are spelled in the file. Spellings are never changed; an unknown one is damage.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "profile/profile.h"

namespace sonde::store {

template <typename E, std::size_t N>
using Spellings = std::array<std::pair<E, std::string_view>, N>;

inline constexpr Spellings<profile::State, 3> kStates = {{{profile::State::kStarting, "starting"},
                                                          {profile::State::kRunning, "running"},
                                                          {profile::State::kEnded, "ended"}}};
inline constexpr Spellings<profile::MethodKind, 4> kMethodKinds = {{{profile::MethodKind::kJava, "java"},
                                                                    {profile::MethodKind::kNative, "native"},
                                                                    {profile::MethodKind::kIntrinsic, "intrinsic"},
                                                                    {profile::MethodKind::kPseudo, "pseudo"}}};
inline constexpr Spellings<Severity, 3> kSeverities = {
    {{Severity::info, "info"}, {Severity::loss, "loss"}, {Severity::error, "error"}}};

template <typename E, std::size_t N>
std::string_view spell(const Spellings<E, N>& spellings, E value) {
  for (const auto& [e, text] : spellings) {
    if (e == value) return text;
  }
  return "";
}

template <typename E, std::size_t N>
std::optional<E> parse(const Spellings<E, N>& spellings, std::string_view text) {
  for (const auto& [e, spelling] : spellings) {
    if (spelling == text) return e;
  }
  return std::nullopt;
}

}  // namespace sonde::store
