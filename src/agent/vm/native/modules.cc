// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/native/modules.h"

#include <elf.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <functional>

#include "agent/vm/hotspot/safe_memory.h"

namespace sonde::agent::native {
namespace {

constexpr std::uint64_t kReadAgainAfterNs = 50'000'000;

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;
  bool is_code;
  const char* path;
};

// Until use(mapping) returns false.
void for_each_mapping(const std::function<bool(const Mapping&)>& use) {
  std::FILE* file = std::fopen("/proc/self/maps", "re");
  if (file == nullptr) return;
  char line[4600];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    Mapping mapping{};
    char rights[8] = {};
    int path_at = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &mapping.begin, &mapping.end, rights,
                    &mapping.offset, &path_at) != 4) {
      continue;
    }
    line[std::strcspn(line, "\n")] = 0;
    mapping.is_code = rights[2] == 'x';
    mapping.path = path_at != 0 ? line + path_at : "";
    if (!use(mapping)) break;
  }
  std::fclose(file);
}

// What the ELF header at the start of a library says.
void read_headers(std::uint64_t base, Module& module) {
  const auto header = hotspot::read_value<Elf64_Ehdr>(base);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phnum > 64) return;
  for (int i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        hotspot::read_value<Elf64_Phdr>(base + header->e_phoff + static_cast<std::uint64_t>(i) * sizeof(Elf64_Phdr));
    if (!segment) return;
    if (segment->p_type == PT_LOAD && segment->p_offset == 0) module.bias = base - segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) module.unwind_table = module.bias + segment->p_vaddr;
  }
}

}  // namespace

const Module* Modules::find(std::uint64_t pc, std::uint64_t now_ns) {
  const auto search = [&]() -> const Module* {
    const auto after = std::upper_bound(modules_.begin(), modules_.end(), pc,
                                        [](std::uint64_t value, const Module& module) { return value < module.begin; });
    return after != modules_.begin() && pc < std::prev(after)->end ? &*std::prev(after) : nullptr;
  };
  const Module* found = search();
  if (found != nullptr || (read_at_ns_ != 0 && now_ns < read_at_ns_ + kReadAgainAfterNs)) return found;
  read_at_ns_ = now_ns;
  read();
  return search();
}

void Modules::read() {
  modules_.clear();
  std::string path;
  std::uint64_t base = 0;
  for_each_mapping([&](const Mapping& mapping) {
    if (mapping.offset == 0 && mapping.path[0] != 0) {
      path = mapping.path;
      base = mapping.begin;
    }
    const bool has_name = mapping.path[0] == '/' || std::strcmp(mapping.path, "[vdso]") == 0;
    if (!mapping.is_code || !has_name || path != mapping.path) return true;
    Module module{.path = path, .begin = mapping.begin, .end = mapping.end, .bias = base};
    read_headers(base, module);
    modules_.push_back(std::move(module));
    return true;
  });
}

Modules::Range Modules::mapping_of(std::uint64_t address) {
  Range range;
  for_each_mapping([&](const Mapping& mapping) {
    if (address < mapping.begin || address >= mapping.end) return true;
    range = {.begin = mapping.begin, .end = mapping.end};
    return false;
  });
  return range;
}

}  // namespace sonde::agent::native
