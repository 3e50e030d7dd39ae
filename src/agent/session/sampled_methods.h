// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Numbers and names of methods that were seen on stacks, written into the arena
// at once. Ids are not those of MethodRegistry, which numbers methods as their classes are loaded: a host knows by the
// names that two records are of one method.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "arena/writer.h"
#include "base/bytes.h"

namespace sonde::agent {

struct MethodName {
  std::string class_name;  // "java/util/HashMap"
  std::string source_file;
  std::string name;
  std::string descriptor;
  std::uint16_t access_flags = 0;
  std::uint16_t first_line = 0;
};

class SampledMethods {
 public:
  explicit SampledMethods(arena::Writer& arena) : arena_(arena) {}

  std::uint32_t id_of(MethodName method);
  // What a thread does that waits with this method on top of its stack; kBlocked if it says nothing.
  [[nodiscard]] arena::ThreadState waiting_in(std::uint32_t id);

  // A function of a library, by its place in the file.
  std::uint32_t id_of_function(const std::string& path, const std::string& library, std::uint64_t offset);

  // What is no method of Java, such as "[unknown code]".
  std::uint32_t id_of_pseudo(const std::string& name);

 private:
  std::uint32_t class_id(const MethodName& method);
  std::uint32_t add(std::string key, std::uint32_t class_id, const MethodName& method, std::uint16_t flags);
  void append();

  arena::Writer& arena_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<std::string, std::uint32_t> classes_;
  std::unordered_map<std::string, std::uint32_t> methods_;
  std::unordered_map<std::uint32_t, arena::ThreadState> waiting_;  // by id
  ByteWriter record_;
};

}  // namespace sonde::agent
