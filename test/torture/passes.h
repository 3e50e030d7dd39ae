// SPDX-License-Identifier: Apache-2.0
// Three passes that make the class-file library do everything it can, everywhere: if the JVM accepts and runs their
// output for every class there is, a real instrumentation pass asks for nothing new.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "classfile/class_editor.h"

namespace sonde::torture {

enum class Pass {
  kNone,   // every method laid out anew, nothing inserted
  kNop,    // a new long local, set at entry, and a nop before every instruction
  kEdges,  // a call of a static method that does nothing on every edge
  kPads,   // every exception range routed through a landing pad, and a catch-all that rethrows over every range
};

std::optional<Pass> pass_named(std::string_view name);

struct Outcome {
  Bytes bytes;                 // valid until the next rewrite
  unsigned methods = 0;        // with code
  std::vector<Error> refused;  // methods left as they were
};

class Torturer {
 public:
  explicit Torturer(Pass pass) : pass_(pass) {}
  // An error if the class cannot be parsed or written at all.
  Result<Outcome> rewrite(const classfile::ClassFile& cls);

 private:
  void apply(classfile::CodeEditor& code);
  void nops(classfile::CodeEditor& code);
  void edges(classfile::CodeEditor& code);
  void pads(classfile::CodeEditor& code);

  Pass pass_;
  classfile::ClassEditor editor_;
  std::vector<std::uint8_t> uninitialized_this_;
};

}  // namespace sonde::torture
