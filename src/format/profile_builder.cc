// SPDX-License-Identifier: Apache-2.0
#include "format/profile_builder.h"

#include <algorithm>
#include <iterator>

namespace sonde::format {
namespace {

bool is_named_like_jdk(std::string_view class_name) {
  constexpr std::string_view packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
  return std::any_of(std::begin(packages), std::end(packages), [&](auto p) { return class_name.starts_with(p); });
}

// What class files allow in names is more; this is what compilers make.
bool is_identifier(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = (byte | 32) >= 'a' && (byte | 32) <= 'z';
    return is_letter || (byte >= '0' && byte <= '9') || byte >= 0x80 || c == '_' || c == '$' ||
           more.find(c) != std::string_view::npos;
  });
}

struct Split {
  std::string cls;  // with slashes
  std::string_view name;
  std::string_view descriptor;
};

// Into class, method and descriptor; the whole text as the name if it is not of that kind.
Split split(std::string_view text) {
  const std::size_t open = text.find('(');
  std::string_view head = text.substr(0, open);
  std::string_view descriptor = open == std::string_view::npos ? "" : text.substr(open);
  const std::size_t close = descriptor.rfind(')');
  const bool has_descriptor = close != std::string_view::npos && close + 1 < descriptor.size();
  if (!descriptor.empty() && !has_descriptor) return {.cls = {}, .name = text, .descriptor = {}};
  const std::size_t dot = head.rfind('.');
  if (dot == std::string_view::npos) return {.cls = {}, .name = text, .descriptor = {}};
  const std::string_view cls = head.substr(0, dot);
  const std::string_view name = head.substr(dot + 1);
  const bool is_special = name == "<init>" || name == "<clinit>";
  if (!is_identifier(cls, "./+-") || (!is_special && !is_identifier(name, "-"))) {
    return {.cls = {}, .name = text, .descriptor = {}};
  }
  std::string with_slashes(cls);
  std::ranges::replace(with_slashes, '.', '/');
  return {.cls = std::move(with_slashes), .name = name, .descriptor = descriptor};
}

}  // namespace

ProfileBuilder::ProfileBuilder() { profile_.recording.state = profile::State::kEnded; }

profile::MethodId ProfileBuilder::method(const Names& names) {
  std::string key;
  key.reserve(names.class_name.size() + names.name.size() + names.descriptor.size() + 2);
  // A NUL cannot be in a name that is different from another one: it ends neither.
  key.append(names.class_name).append(1, '\0').append(names.name).append(1, '\0').append(names.descriptor);
  const auto next = static_cast<std::uint32_t>(profile_.methods.size());
  const auto [it, is_new] = methods_.try_emplace(std::move(key), profile::MethodId(next));
  if (!is_new) return it->second;
  profile::ClassId cls(0);
  profile::MethodKind kind = profile::MethodKind::kPseudo;
  if (!names.class_name.empty()) {
    const auto next_class = static_cast<std::uint32_t>(profile_.classes.size());
    const auto [of_class, is_new_class] =
        classes_.try_emplace(std::string(names.class_name), profile::ClassId(next_class));
    if (is_new_class) {
      profile_.classes.push_back({.name = of_class->first,
                                  .source_file = std::string(names.source_file),
                                  .is_jdk = is_named_like_jdk(names.class_name)});
    }
    cls = of_class->second;
    kind = names.is_native ? profile::MethodKind::kNative : profile::MethodKind::kJava;
  }
  profile_.methods.push_back({.cls = cls,
                              .name = std::string(names.name),
                              .descriptor = std::string(names.descriptor),
                              .access_flags = names.access_flags,
                              .first_line = names.first_line,
                              .kind = kind});
  return it->second;
}

profile::MethodId ProfileBuilder::method(std::string_view text, std::string_view source_file,
                                         std::uint16_t first_line) {
  const Split parts = split(text);
  return method({.class_name = parts.cls,
                 .name = parts.name,
                 .descriptor = parts.descriptor,
                 .source_file = source_file,
                 .first_line = first_line});
}

std::uint32_t ProfileBuilder::thread(std::string_view name) {
  const auto [it, is_new] = threads_.try_emplace(std::string(name), static_cast<std::uint32_t>(threads_.size()));
  if (is_new) {
    profile_.threads.push_back({.name = it->first});
    thread_nodes_.push_back(trie_.child(ContextTrie::kRoot, it->second));
  }
  return it->second;
}

Result<void> ProfileBuilder::add(std::uint32_t thread, std::span<const Frame> frames, std::span<const Value> values) {
  ContextTrie::Node node = thread_nodes_[thread];
  for (const Frame& frame : frames) {
    node = trie_.child(node, std::uint64_t{frame.method.value()} << 16 | frame.line);
  }
  if (trie_.size() > kMaxContexts) {
    return Error{ErrorCode::kTooLarge, "more than " + std::to_string(kMaxContexts) + " contexts"};
  }
  for (const Value& value : values) {
    std::vector<std::uint64_t>& amounts = values_[profile::index_of(value.metric)];
    if (amounts.size() <= node) amounts.resize(std::max(trie_.size(), amounts.size() * 3 / 2));
    if (__builtin_add_overflow(amounts[node], value.amount, &amounts[node])) {
      return Error{ErrorCode::kMalformed, "the values of a stack add up to more than 64 bits"};
    }
  }
  return {};
}

profile::Amounts ProfileBuilder::amounts_at(ContextTrie::Node node) const {
  profile::Amounts amounts;
  for (std::size_t i = 0; i < values_.size(); ++i) amounts.values[i] = node < values_[i].size() ? values_[i][node] : 0;
  return amounts;
}

void ProfileBuilder::write_tree() {
  profile::CallTree& tree = profile_.tree;
  tree.reserve(trie_.size());
  trie_.for_each([&](ContextTrie::Node node, std::uint32_t depth) {
    const std::uint64_t step = depth == 0 ? 0 : trie_.step_to(node);
    tree.push(depth, depth == 0 ? profile::kRootMethod : profile::MethodId(static_cast<std::uint32_t>(step >> 16)),
              static_cast<std::uint16_t>(step), amounts_at(node));
  });
}

Result<profile::Profile> ProfileBuilder::finish() && {
  write_tree();
  TRY(profile_.tree.seal());
  TRY(profile_.assign_threads());
  return std::move(profile_);
}

}  // namespace sonde::format
