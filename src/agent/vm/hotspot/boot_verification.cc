// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/boot_verification.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "agent/vm/hotspot/vm_structs.h"

namespace sonde::agent::hotspot {
namespace {

// Of each kind, so that no other flag can be the same by chance. A JVM has some 150 changed and 20 other classes then.
constexpr std::size_t kEnough = 8;

template <typename T>
T read(std::uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

}  // namespace

std::optional<FlagPlace> find_changed_flag(std::span<const ClassFlags> classes) {
  std::array<std::uint8_t, 8> set_if_changed;
  set_if_changed.fill(0xff);
  std::array<std::uint8_t, 8> set_otherwise{};
  std::size_t changed = 0;
  for (const ClassFlags& cls : classes) {
    changed += cls.is_changed ? 1 : 0;
    for (std::size_t i = 0; i < cls.bytes.size(); ++i) {
      if (cls.is_changed) {
        set_if_changed[i] &= cls.bytes[i];
      } else {
        set_otherwise[i] |= cls.bytes[i];
      }
    }
  }
  if (changed < kEnough || classes.size() - changed < kEnough) return std::nullopt;
  std::optional<FlagPlace> found;
  for (std::uint32_t i = 0; i < set_if_changed.size(); ++i) {
    const auto mask = static_cast<std::uint8_t>(set_if_changed[i] & ~set_otherwise[i]);
    if (mask == 0) continue;
    if (found || (mask & (mask - 1)) != 0) return std::nullopt;
    found = FlagPlace{.byte = i, .mask = mask};
  }
  return found;
}

bool BootVerification::find_places() {
  const VmStructs structs = VmStructs::load_types_of(
      {"ClassLoaderDataGraph", "ClassLoaderData", "Klass", "InstanceKlass", "Symbol", "JVMFlag"});
  const auto head = structs.address("ClassLoaderDataGraph", "_head");
  const auto next_loader = structs.offset("ClassLoaderData", "_next");
  const auto classes = structs.offset("ClassLoaderData", "_klasses");
  const auto next_link = structs.offset("Klass", "_next_link");
  const auto layout_helper = structs.offset("Klass", "_layout_helper");
  const auto name = structs.offset("Klass", "_name");
  const auto symbol_length = structs.offset("Symbol", "_length");
  const auto symbol_body = structs.offset("Symbol", "_body");
  const auto flags_begin = structs.offset("InstanceKlass", "_reference_type");
  const auto flags_end = structs.offset("InstanceKlass", "_init_thread");
  const VmStructs::Flag verify_all = structs.flag("BytecodeVerificationLocal");
  if (!head || !next_loader || !classes || !next_link || !layout_helper || !name || !symbol_length || !symbol_body ||
      !flags_begin || !flags_end || verify_all.value == nullptr || *static_cast<const bool*>(verify_all.value)) {
    return false;
  }
  // There is no other loader yet.
  const auto boot = read<std::uint64_t>(*head);
  if (boot == 0 || read<std::uint64_t>(boot + *next_loader) != 0) return false;
  classes_ = boot + *classes;
  next_link_ = *next_link;
  layout_helper_ = *layout_helper;
  name_ = *name;
  symbol_length_ = *symbol_length;
  symbol_body_ = *symbol_body;
  flags_begin_ = *flags_begin + 1;
  flags_end_ = *flags_end;
  return flags_begin_ < flags_end_ && flags_end_ - flags_begin_ <= sizeof(ClassFlags::bytes);
}

std::string_view BootVerification::name_of(std::uint64_t klass) const {
  const auto symbol = read<std::uint64_t>(klass + name_);
  if (symbol == 0) return {};
  return {reinterpret_cast<const char*>(symbol + symbol_body_), read<std::uint16_t>(symbol + symbol_length_)};
}

// Newest first; classes come at the head of their loader's list, and those of the boot loader stay there.
template <typename Visit>
void BootVerification::for_each_new(std::uint64_t last, Visit&& visit) const {
  std::uint64_t klass = __atomic_load_n(reinterpret_cast<const std::uint64_t*>(classes_), __ATOMIC_ACQUIRE);
  for (; klass != 0 && klass != last; klass = read<std::uint64_t>(klass + next_link_)) {
    // Arrays, which are shorter, have a negative one; a class that is being made has none.
    if (read<std::int32_t>(klass + layout_helper_) > 0) visit(klass);
  }
}

std::optional<FlagPlace> BootVerification::find_flag() const {
  std::vector<ClassFlags> classes;
  for_each_new(0, [&](std::uint64_t klass) {
    ClassFlags& flags = classes.emplace_back();
    flags.bytes = {};
    std::memcpy(flags.bytes.data(), reinterpret_cast<const void*>(klass + flags_begin_), flags_end_ - flags_begin_);
    flags.is_changed = changed_.contains(std::string(name_of(klass)));
  });
  return find_changed_flag(classes);
}

void BootVerification::begin() {
  if (find_places()) flag_ = find_flag().value_or(FlagPlace{});
  changed_.clear();
  spare_new();
}

void BootVerification::spare_new() {
  if (flag_.mask == 0) return;
  const std::uint64_t last = newest_.load(std::memory_order_relaxed);
  std::uint64_t newest = 0;
  for_each_new(last, [&](std::uint64_t klass) {
    if (newest == 0) newest = klass;
    auto* const flags = reinterpret_cast<std::uint8_t*>(klass + flags_begin_ + flag_.byte);
    // The JVM may set others of these flags meanwhile.
    if ((*flags & flag_.mask) != 0) {
      __atomic_fetch_and(flags, static_cast<std::uint8_t>(~flag_.mask), __ATOMIC_RELAXED);
    }
  });
  if (newest != 0) newest_.store(newest, std::memory_order_relaxed);
}

}  // namespace sonde::agent::hotspot
