// SPDX-License-Identifier: Apache-2.0
// Parser, checker and printer on arbitrary bytes. (The editor has its own, test/torture/class_editor_fuzz.cc.)
#include "classfile/check.h"
#include "classfile/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sonde::classfile;
  const auto cls = ClassFile::parse({data, size});
  if (!cls.ok()) {
    const sonde::Location& where = cls.error().where;
    SONDE_CHECK(!where.path.empty() || where.byte_offset.has_value());
    SONDE_CHECK(!where.byte_offset || *where.byte_offset <= size);
    return 0;
  }
  (void)check(*cls);
  std::string listing;
  print(*cls, {}, listing);
  return 0;
}
