// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_counts.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "archive/class_source.h"
#include "classfile/access_flags.h"
#include "classfile/cfg.h"
#include "classfile/class_editor.h"
#include "classfile/class_file.h"
#include "classfile/code.h"

namespace sonde::cli {

using namespace classfile;

namespace {

constexpr std::string_view kKernels = "org/sonde/calibrate/Kernels";

struct LoadedClass {
  std::vector<std::uint8_t> bytes;
  std::unique_ptr<ClassFile> cls;
};

Error unfit(std::string_view method, std::string message) {
  return {ErrorCode::kMalformed, std::move(message), {.path = "kernel " + std::string(method), .byte_offset = {}}};
}

class KernelCounter {
 public:
  explicit KernelCounter(const std::vector<LoadedClass>& classes) : classes_(classes) {}

  Result<GroupCounts> count(const ClassFile& cls, const Member& kernel) const {
    const Code code = TRY(Code::parse(cls, kernel));
    ControlFlowGraph graph;
    TRY(graph.build(code));
    if (graph.loops().size() != 1) return unfit(kernel.name, "has not exactly one loop");
    GroupCounts counts{};
    const BlockId header = graph.loops()[0].header;
    for (BlockId block = header;;) {
      TRY(add_block(code, graph.block(block), counts));
      BlockId next = kNoBlock;
      for (const Edge& edge : graph.successors(block)) {
        if (!graph.contains(LoopId(0), edge.to) || edge.to == next) continue;
        if (next != kNoBlock) return unfit(kernel.name, "has several ways through its loop");
        next = edge.to;
      }
      if (next == header) return counts;
      if (next == kNoBlock) return unfit(kernel.name, "has a loop that does not come back");
      block = next;
    }
  }

 private:
  Result<void> add_block(const Code& code, const Block& block, GroupCounts& counts) const {
    for (Pc pc = block.start; pc < block.end; pc = code.at(pc).next_pc()) TRY(add(code, code.at(pc), counts));
    return {};
  }

  Result<void> add(const Code& code, Instruction insn, GroupCounts& counts) const {
    counts[static_cast<std::size_t>(group_of(insn.opcode()))] += 1;
    if (!is_invoke(insn.opcode())) return {};
    const MemberRef callee = code.owner().pool().member(insn.pool_index());
    for (const LoadedClass& loaded : classes_) {
      for (const Member& method : loaded.cls->methods()) {
        const bool is_it = method.name == callee.name && method.descriptor == callee.descriptor && has_code(method);
        const bool may_be = callee.name != "<init>" || loaded.cls->name() == callee.class_name;
        if (is_it && may_be) return add_callee(*loaded.cls, method, counts);
      }
    }
    return {};  // Object's constructor
  }

  Result<void> add_callee(const ClassFile& cls, const Member& method, GroupCounts& counts) const {
    const Code code = TRY(Code::parse(cls, method));
    ControlFlowGraph graph;
    TRY(graph.build(code));
    if (!graph.is_single_path()) return unfit(method.name, "is called by a kernel and has several paths");
    for (const Instruction insn : code.instructions()) TRY(add(code, insn, counts));
    return {};
  }

  const std::vector<LoadedClass>& classes_;
};

Result<std::vector<LoadedClass>> load(const std::filesystem::path& jar) {
  std::vector<LoadedClass> classes;
  const auto keep = [&](const archive::ClassEntry& entry) {
    classes.push_back({.bytes = {entry.bytes.begin(), entry.bytes.end()}, .cls = nullptr});
    return true;
  };
  std::string problem;
  TRY(archive::for_each_class(jar, keep, [&](const std::string& name, const Error&) { problem = name; }));
  if (!problem.empty()) return Error{ErrorCode::kMalformed, "cannot be read", {.path = problem, .byte_offset = {}}};
  for (LoadedClass& loaded : classes) loaded.cls = std::make_unique<ClassFile>(TRY(ClassFile::parse(loaded.bytes)));
  return classes;
}

}  // namespace

Result<std::map<std::string, GroupCounts>> count_kernels(const std::filesystem::path& jar) {
  const std::vector<LoadedClass> classes = TRY(load(jar));
  const KernelCounter counter(classes);
  std::map<std::string, GroupCounts> kernels;
  for (const LoadedClass& loaded : classes) {
    if (loaded.cls->name() != kKernels) continue;
    for (const Member& method : loaded.cls->methods()) {
      if (method.has(kAccPublic)) kernels[std::string(method.name)] = TRY(counter.count(*loaded.cls, method));
    }
  }
  if (kernels.empty()) return Error{ErrorCode::kNotFound, "has no kernels", {.path = jar.string(), .byte_offset = {}}};
  return kernels;
}

}  // namespace sonde::cli
