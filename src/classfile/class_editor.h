// SPDX-License-Identifier: Apache-2.0
// Edits a class: methods one after the other, then the whole is written.
//
//   ClassEditor editor;                                  // keep it: its memory is used again for the next class
//   editor.open(cls);
//   for (const Member& method : cls.methods()) {
//     if (!has_code(method)) continue;
//     CodeEditor& code = *TRY(editor.edit(method));
//     pass(code);
//     if (!editor.commit().ok()) ...                     // refused: this method stays as it was
//   }
//   Bytes result = TRY(editor.write());                  // valid until the next open()
//
// What is not edited is copied byte for byte. The ClassFile must outlive the edit.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/code_assembler.h"
#include "classfile/code_editor.h"
#include "classfile/pool_builder.h"

namespace sonde::classfile {

class ClassEditor {
 public:
  void open(const ClassFile& cls);

  // Starts on one method; forgets edits of an earlier one that were not committed.
  Result<CodeEditor*> edit(const Member& method);
  // Settles the edits of the current method. On an error (kTooLarge: over a limit of the format; kInvalidArgument: the
  // pass asked for something impossible; kMalformed: a table that cannot be moved) the method stays as it was.
  Result<void> commit();
  // Where the instructions of the method committed last are now, until the next edit().
  [[nodiscard]] const CodeMap& map() const { return assembler_.map(); }

  // A field that the class does not have, without attributes.
  void add_field(std::uint16_t access_flags, std::string_view name, std::string_view descriptor);

  Result<Bytes> write();

  [[nodiscard]] PoolBuilder& pool() { return pool_; }

 private:
  // The content of a Code attribute that was written anew.
  struct Edited {
    Bytes original;       // in the class file
    std::uint32_t begin;  // in out_
    std::uint32_t end;
  };
  struct AddedField {
    std::uint16_t access_flags;
    PoolIndex name;
    PoolIndex descriptor;
  };

  Result<void> assemble(ByteWriter& out);
  Result<void> append(Bytes original);
  Result<void> replace(Bytes original);
  void write_front(std::uint8_t* to) const;

  const ClassFile* cls_ = nullptr;
  const Member* current_ = nullptr;
  PoolBuilder pool_;
  CodeEditor editor_;
  CodeAssembler assembler_;
  std::vector<Edited> edited_;  // in the order of the class
  std::vector<AddedField> added_fields_;
  // Methods go where they stay. In front of them is room for what comes before methods in a class, which is not
  // complete until the last constant has been asked for.
  ByteWriter out_;
  std::size_t room_ = 0;
  const std::uint8_t* rest_ = nullptr;  // what is not in out_ yet, up to the end of the class file
  ByteWriter replacement_;
};

[[nodiscard]] inline bool has_code(const Member& method) { return method.code_position != 0; }

}  // namespace sonde::classfile
