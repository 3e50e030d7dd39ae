// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Numbers classes and methods and writes what is known of them into the arena at once, so that a
// class may be unloaded without its methods losing their names. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent/session/flat_blocks.h"
#include "agent/session/method_names.h"
#include "agent/session/method_numbers.h"
#include "agent/session/method_table.h"
#include "arena/writer.h"
#include "classfile/class_file.h"
#include "instrument/counting_pass.h"

namespace sonde::agent {

class MethodRegistry final : public instrument::CalleeIds {
 public:
  // With `flat`, for mode exact:flat, numbers have counters in all its blocks. With `names`, what is known of methods
  // is kept there as well. With `numbers`, for a JVM that runs, classes have those that they had before.
  MethodRegistry(arena::Writer& arena, MethodTable& methods, FlatBlocks* flat, MethodNames* names,
                 MethodNumbers* numbers = nullptr)
      : arena_(arena), methods_(methods), flat_(flat), names_(names), numbers_(numbers) {}

  std::uint32_t add_class(const classfile::ClassFile& cls, std::uint16_t flags);
  // A class that was added before is at hand again.
  void return_to(const classfile::ClassFile& cls) { class_name_ = cls.name(); }
  // For a method of the class at hand. Even for methods of the JDK, odd for all others: SondeRT
  // tells them apart by it; with flat counters they may just follow each other. 0 if these have no room.
  std::uint32_t next_method_id(const classfile::Member& method, bool of_jdk);
  void add_method(std::uint32_t id, std::uint32_t class_id, const classfile::Member& method, std::uint16_t flags,
                  const instrument::CountedMethod& counted);

  // The same number for the same method, however often it is called.
  std::uint32_t id_of(const classfile::MemberRef& method, instrument::KnownKind kind) override;

 private:
  std::uint32_t new_number(bool of_jdk);
  std::uint32_t number_of(const std::string& name, bool of_jdk);
  void append(ByteWriter& record);

  arena::Writer& arena_;
  MethodTable& methods_;
  FlatBlocks* const flat_;
  MethodNames* const names_;
  std::string class_name_;  // of the class at hand
  std::uint32_t last_class_ = 0;
  std::uint32_t last_jdk_method_ = 0;
  std::uint32_t last_other_method_ = 1;
  MethodNumbers* const numbers_;
  std::unordered_set<std::uint32_t> recorded_;  // with `numbers_`: methods that are in the arena already
  std::unordered_map<std::string, std::uint32_t> known_ids_;
  ByteWriter record_;
};

}  // namespace sonde::agent
