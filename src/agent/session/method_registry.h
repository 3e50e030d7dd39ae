// SPDX-License-Identifier: Apache-2.0
// Context: [agent]. Numbers classes and methods and writes what is known of them into the arena at once, so that a
// class may be unloaded without its methods losing their names. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
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
  // is kept there as well. With `numbers`, for a JVM that runs, methods have those that they had before.
  MethodRegistry(arena::Writer& arena, MethodTable& methods, FlatBlocks* flat, MethodNames* names,
                 MethodNumbers* numbers = nullptr)
      : arena_(arena), methods_(methods), flat_(flat), names_(names), numbers_(numbers) {}

  std::uint32_t add_class(const classfile::ClassFile& cls, std::uint16_t flags);
  // A class that was added before is at hand again.
  void return_to(const classfile::ClassFile& cls);
  // For a method of the class at hand. Even for methods of the JDK, odd for all others: SondeRT
  // tells them apart by it; with flat counters they may just follow each other. 0 if these have no room.
  // A class of the application may be loaded again and again, and its methods have the numbers that they had then: if
  // claim() says that one does not fit, the next `attempt` gives another.
  std::uint32_t method_id(const classfile::Member& method, bool of_jdk, unsigned attempt = 0);
  bool claim(std::uint32_t id, bool of_jdk, const instrument::CountedMethod& counted);
  void add_method(std::uint32_t id, std::uint32_t class_id, const classfile::Member& method, std::uint16_t flags,
                  const instrument::CountedMethod& counted);

  // The same number for the same method, however often it is called.
  std::uint32_t id_of(const classfile::MemberRef& method, instrument::KnownKind kind) override;

  // --- for a cache of classes (class_cache.h), whose numbers are the same in all recordings ---

  // Before the first class: methods of the list have the numbers of their places in it; all others, and classes, go on
  // from those given.
  void fix_numbers(const instrument::KnownMethods& known, std::uint32_t next_method, std::uint32_t next_class);
  // What the arena is told of the class at hand goes here as well, with all that its methods call by number.
  void note_records(ByteWriter* records);
  // A class that comes from the cache: what note_records got when it was made.
  void replay(Bytes records);
  [[nodiscard]] std::uint32_t next_method() const { return last_jdk_method_; }
  [[nodiscard]] std::uint32_t next_class() const { return last_class_; }

 private:
  std::uint32_t new_number(bool of_jdk);
  std::uint32_t number_of(const std::string& name, bool of_jdk);
  [[nodiscard]] bool may_come_again(bool of_jdk) const { return numbers_ != nullptr || !of_jdk; }
  MethodNumbers& kept_numbers() { return numbers_ != nullptr ? *numbers_ : own_numbers_; }
  void seal(ByteWriter& record);
  void append(Bytes records);
  std::uint32_t number_of_callee(const classfile::MemberRef& method, const std::string& name);
  void make_callee_record(std::uint32_t id, const classfile::MemberRef& method, instrument::KnownKind kind);
  bool note_callee(std::uint32_t callee);
  bool is_first_mention(std::uint32_t callee);

  arena::Writer& arena_;
  MethodTable& methods_;
  FlatBlocks* const flat_;
  MethodNames* const names_;
  std::string class_name_;  // of the class at hand
  std::uint32_t last_class_ = 0;
  std::uint32_t last_jdk_method_ = 0;
  std::uint32_t last_other_method_ = 1;
  MethodNumbers* const numbers_;
  MethodNumbers own_numbers_;                                 // without `numbers_`: of methods of the application
  std::unordered_map<std::string, std::uint32_t> class_ids_;  // of classes that may come again
  std::vector<bool> recorded_;                                // methods by their number: those that are in the arena
  const instrument::KnownMethods* known_ = nullptr;  // whose places are numbers; null: numbers are as they come
  std::unordered_map<std::string, std::uint32_t> known_ids_;
  std::vector<bool> mentioned_;  // callees by half their number: those that are in the arena
  ByteWriter* noted_ = nullptr;
  std::vector<std::uint32_t> noted_callees_;
  ByteWriter record_;
};

}  // namespace sonde::agent
