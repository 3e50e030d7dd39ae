// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <algorithm>

#include "base/primitive_name.h"

namespace sonde::profile {

Profile::Profile() {
  classes.emplace_back();
  methods.push_back({.cls = ClassId(0), .name = "[thread]", .descriptor = "", .kind = MethodKind::kPseudo});
}

std::string Thread::display_name() const {
  return more == 0 ? name : name + " (and " + std::to_string(more) + " more)";
}

CounterValue counter_value(std::uint16_t id, std::uint64_t value) {
  for (const CounterInfo& info : kCounters) {
    if (info.id == id) {
      return {.id = id,
              .value = value,
              .name = std::string(info.name),
              .severity = info.severity,
              .sentence = std::string(info.sentence)};
    }
  }
  return {.id = id,
          .value = value,
          .name = "Counter" + std::to_string(id),
          .severity = Severity::loss,
          .sentence = "of a kind that only a newer Sonde can name"};
}

std::string Profile::full_name(MethodId id) const {
  const Method& m = method(id);
  const std::string& class_name = class_of(m).name;
  return class_name.empty() ? m.name + m.descriptor : class_name + "." + m.name + m.descriptor;
}

std::string Profile::display_name(MethodId id) const {
  const Method& m = method(id);
  const std::string& class_name = class_of(m).name;
  return class_name.empty() ? m.name : with_dots(class_name) + "." + m.name;
}

std::vector<const Thread*> Profile::all_threads() const {
  std::vector<const Thread*> all;
  all.reserve(threads.size());
  for (const Thread& thread : threads) all.push_back(&thread);
  return all;
}

Result<void> Profile::assign_threads() {
  std::size_t next = 0;
  for (std::uint32_t node = 0; node < tree.size(); node = tree.end_of(node)) {
    if (next == threads.size()) break;
    threads[next].first_node = node;
    threads[next].end_node = tree.end_of(node);
    ++next;
  }
  const std::uint32_t covered = next == 0 ? 0 : threads[next - 1].end_node;
  if (next != threads.size() || covered != tree.size()) {
    return Error{ErrorCode::kMalformed, "the call tree has another number of roots than there are threads (" +
                                            std::to_string(threads.size()) + ")"};
  }
  return {};
}

std::string parameter_list(std::string_view descriptor) {
  if (!descriptor.starts_with('(')) return std::string(descriptor);
  std::string out = "(";
  std::size_t i = 1;
  while (i < descriptor.size() && descriptor[i] != ')') {
    std::size_t dimensions = 0;
    while (i < descriptor.size() && descriptor[i] == '[') ++i, ++dimensions;
    if (i == descriptor.size()) return std::string(descriptor);
    if (out.size() > 1) out += ", ";
    if (descriptor[i] == 'L') {
      const std::size_t end = descriptor.find(';', i);
      if (end == std::string_view::npos) return std::string(descriptor);
      const std::string_view name = descriptor.substr(i + 1, end - i - 1);
      out += name.substr(name.rfind('/') + 1);
      i = end + 1;
    } else {
      const std::string_view name = primitive_name(descriptor[i++]);
      if (name.empty() || name == "void") return std::string(descriptor);
      out += name;
    }
    for (; dimensions != 0; --dimensions) out += "[]";
  }
  return i < descriptor.size() ? out + ")" : std::string(descriptor);
}

std::string with_dots(std::string_view internal_name) {
  std::string name(internal_name);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

std::string package_of(std::string_view internal_name) {
  const std::size_t slash = internal_name.rfind('/');
  return slash == std::string_view::npos ? std::string() : with_dots(internal_name.substr(0, slash));
}

}  // namespace sonde::profile
