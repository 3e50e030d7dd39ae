// SPDX-License-Identifier: Apache-2.0
#include "agent/session/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace sonde::agent {
namespace {

const std::uint8_t* address_of(std::uintptr_t address) { return reinterpret_cast<const std::uint8_t*>(address); }

std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

bool has_own_code(const dl_phdr_info& info) {
  const auto here = reinterpret_cast<std::uintptr_t>(&own_build_id);
  for (const ElfW(Phdr)* part = info.dlpi_phdr; part != info.dlpi_phdr + info.dlpi_phnum; ++part) {
    const std::uintptr_t begin = info.dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && here >= begin && here - begin < part->p_memsz) return true;
  }
  return false;
}

Bytes build_id_among(Bytes notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t begin = sizeof note + padded(note.n_namesz);
    const std::size_t end = begin + note.n_descsz;
    if (end > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes.data() + sizeof note, "GNU", 4) == 0)
      return notes.subspan(begin, note.n_descsz);
    notes = notes.subspan(std::min(padded(end), notes.size()));
  }
  return {};
}

}  // namespace

Bytes own_build_id() {
  Bytes found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        if (!has_own_code(*info)) return 0;
        for (const ElfW(Phdr)* part = info->dlpi_phdr; part != info->dlpi_phdr + info->dlpi_phnum; ++part) {
          if (part->p_type != PT_NOTE) continue;
          const Bytes id = build_id_among({address_of(info->dlpi_addr + part->p_vaddr), part->p_memsz});
          if (!id.empty()) *static_cast<Bytes*>(result) = id;
        }
        return 1;
      },
      &found);
  return found;
}

}  // namespace sonde::agent
