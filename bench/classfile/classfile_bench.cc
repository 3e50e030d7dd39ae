// SPDX-License-Identifier: Apache-2.0
// classfile_bench [--rounds N] [--module NAME] [--only VARIANT] FILE...
// How fast classes are parsed, edited and written, in MB of input per second of thread CPU time, one thread, everything
// in memory. `nop` is what AsmBench.java does too; `nop+local` adds a long local that entry code sets, so that all
// frames change. Heap allocations are counted: there must be none per instruction.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "archive/class_source.h"
#include "classfile/class_editor.h"

namespace {

std::size_t g_allocations = 0;

}  // namespace

// The counting allocator of the whole program. All other forms of new and delete end up here.
void* operator new(std::size_t size) {
  ++g_allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace sonde;
using namespace sonde::classfile;

using ClassBytes = std::vector<std::uint8_t>;

enum class Variant { kParse, kCopy, kNop, kNopLocal };

constexpr std::pair<const char*, Variant> kVariants[] = {
    {"parse", Variant::kParse},         // the class, not its code
    {"copy", Variant::kCopy},           // every method laid out anew, nothing inserted
    {"nop", Variant::kNop},             // a nop before every instruction
    {"nop+local", Variant::kNopLocal},  // the same with a long local set at entry
};

struct Counts {
  std::size_t instructions = 0;
  std::size_t methods = 0;
  std::size_t refused = 0;
  std::size_t written = 0;
};

double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void put_nops(CodeEditor& code, bool with_local, Counts& counts) {
  if (with_local) {
    const LocalIndex local = code.new_local(LocalType::kLong);
    code.at_entry(code.snippet([&](CodeBuilder& b) { b.push_long(0).store(LocalType::kLong, local); }));
  }
  const SnippetId nop = code.snippet([](CodeBuilder& b) { b.op(Opcode::nop); });
  for (const Instruction insn : code.code().instructions()) code.before(insn.pc(), nop);
  counts.instructions += code.code().starts().size() - 1;
}

Result<void> process(Bytes bytes, Variant variant, ClassFile& cls, ClassEditor& editor, Counts& counts) {
  TRY(ClassFile::parse_into(bytes, cls));
  if (variant == Variant::kParse) return {};
  editor.open(cls);
  for (const Member& method : cls.methods()) {
    if (!has_code(method)) continue;
    ++counts.methods;
    CodeEditor& code = *TRY(editor.edit(method));
    if (variant != Variant::kCopy) put_nops(code, variant == Variant::kNopLocal, counts);
    if (!editor.commit().ok()) ++counts.refused;
  }
  counts.written += TRY(editor.write()).size();
  return {};
}

Counts round_of(const std::vector<ClassBytes>& classes, Variant variant, ClassFile& cls, ClassEditor& editor) {
  Counts counts;
  for (const ClassBytes& bytes : classes) {
    if (const auto done = process(bytes, variant, cls, editor, counts); !done.ok()) {
      std::fprintf(stderr, "classfile_bench: %s\n", done.error().to_string().c_str());
      std::exit(1);
    }
  }
  return counts;
}

void measure(const char* name, Variant variant, const std::vector<ClassBytes>& classes, unsigned rounds) {
  double megabytes = 0;
  for (const ClassBytes& bytes : classes) megabytes += static_cast<double>(bytes.size()) / 1e6;
  ClassFile cls;
  ClassEditor editor;
  round_of(classes, variant, cls, editor);  // their vectors grow to the size of the largest class and method
  std::vector<double> speeds;
  Counts counts;
  std::size_t allocations = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    const std::size_t before = g_allocations;
    const double start = thread_seconds();
    counts = round_of(classes, variant, cls, editor);
    speeds.push_back(megabytes / (thread_seconds() - start));
    allocations = g_allocations - before - (speeds.capacity() == speeds.size() ? 1 : 0);
  }
  std::ranges::sort(speeds);
  const auto per = [](std::size_t n, std::size_t of) {
    return of == 0 ? 0.0 : static_cast<double>(n) / static_cast<double>(of);
  };
  std::printf("sonde %s: %zu classes, %.1f MB, best %.1f MB/s, median %.1f MB/s, %.1f MB written\n", name,
              classes.size(), megabytes, speeds.back(), speeds[speeds.size() / 2],
              static_cast<double>(counts.written) / 1e6);
  std::printf("  %zu methods (%zu refused), %zu instructions; allocations: %.2f per class, %.4f per instruction\n",
              counts.methods, counts.refused, counts.instructions, per(allocations, classes.size()),
              per(allocations, counts.instructions));
}

int usage() {
  std::fputs("usage: classfile_bench [--rounds N] [--module NAME] [--only VARIANT] FILE...\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned rounds = 15;
  std::string module;
  std::string only;
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rounds" && i + 1 < argc) {
      rounds = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
    } else if (argument == "--module" && i + 1 < argc) {
      module = std::string(argv[++i]) + "/";
    } else if (argument == "--only" && i + 1 < argc) {
      only = argv[++i];
    } else if (argument.starts_with("--")) {
      return usage();
    } else {
      inputs.push_back(argument);
    }
  }
  if (inputs.empty()) return usage();

  std::vector<ClassBytes> classes;
  for (const std::string& input : inputs) {
    const auto visited = archive::for_each_class(
        input,
        [&](const archive::ClassEntry& entry) {
          if (entry.path.starts_with(module)) classes.emplace_back(entry.bytes.begin(), entry.bytes.end());
          return true;
        },
        [](const std::string& name, const Error& error) {
          std::fprintf(stderr, "%s: %s\n", name.c_str(), error.to_string().c_str());
        });
    if (!visited.ok()) {
      std::fprintf(stderr, "%s\n", visited.error().to_string().c_str());
      return 1;
    }
  }
  for (const auto& [name, variant] : kVariants) {
    if (only.empty() || only == name) measure(name, variant, classes, rounds);
  }
  return 0;
}
