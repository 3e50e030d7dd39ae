// SPDX-License-Identifier: Apache-2.0
// A class file with other classes in the place of those it names. The runtime is compiled for a java.lang.Thread with
// fields of ours; in a JVM that runs already, a class of ours stands for it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::instrument {

struct ClassRenaming {
  std::string_view from;  // "java/lang/Thread"
  std::string_view to;
};

// Constants of type long in a range, and what is added to them.
struct ConstantShift {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t by = 0;
};

// Names in the constant pool and in descriptors; `class_file` itself keeps its name unless it is in the list.
Result<std::vector<std::uint8_t>> rename_classes(Bytes class_file, std::span<const ClassRenaming> renamings,
                                                 const ConstantShift& shift = {});

}  // namespace sonde::instrument
