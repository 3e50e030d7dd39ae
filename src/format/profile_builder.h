// SPDX-License-Identifier: Apache-2.0
// A profile from stacks that come one by one, for readers of foreign formats. Names may be anything.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/context_trie.h"
#include "profile/metric.h"
#include "profile/profile.h"

namespace sonde::format {

struct Frame {
  profile::MethodId method;
  std::uint16_t line = 0;  // where the caller calls it
};

struct Value {
  profile::Metric metric;
  std::uint64_t amount;
};

class ProfileBuilder {
 public:
  // A file can name more contexts than memory holds, with a byte for each.
  static constexpr std::size_t kMaxContexts = std::size_t{1} << 24;

  ProfileBuilder();

  struct Names {
    std::string_view class_name;  // "java/util/Map", "" if it is no method of a class
    std::string_view name;
    std::string_view descriptor = {};
    std::string_view source_file = {};
    std::uint16_t first_line = 0;
    std::uint16_t access_flags = 0;
    bool is_native = false;
  };
  // Equal class, name and descriptor give the same method; the first one decides about the rest.
  profile::MethodId method(const Names& names);
  // Names as tools print them: "java.util.Map.get", "java/util/Map.get", "java/util/Map.get(Ljava/lang/Object;)V",
  // "libc.so`read".
  profile::MethodId method(std::string_view text, std::string_view source_file = {}, std::uint16_t first_line = 0);

  std::uint32_t thread(std::string_view name);

  // Adds to the context that the frames lead to, from the outermost on.
  Result<void> add(std::uint32_t thread, std::span<const Frame> frames, std::span<const Value> values);

  // To be filled by the reader.
  profile::Profile& profile() { return profile_; }
  Result<profile::Profile> finish() &&;

 private:
  [[nodiscard]] profile::Amounts amounts_at(ContextTrie::Node node) const;
  void write_tree();

  profile::Profile profile_;
  ContextTrie trie_;                                                      // below the root: threads, then calls
  std::array<std::vector<std::uint64_t>, profile::kMetricCount> values_;  // by metric, then node
  std::vector<ContextTrie::Node> thread_nodes_;
  std::unordered_map<std::string, std::uint32_t> threads_;
  std::unordered_map<std::string, profile::ClassId> classes_;
  std::unordered_map<std::string, profile::MethodId> methods_;
};

}  // namespace sonde::format
