// SPDX-License-Identifier: Apache-2.0
// Context: [agent], while the JVM boots. The JVM verifies no classes of the boot loader, but JDK 25 and later do if an
// agent changed them (JDK-8351654), which was a fifth of the time that it takes to start. Here those that we changed
// are loaded as JDK 17 to 24 load them. A JVM that verifies everything (-Xverify:all) goes on to do so, and from VMInit
// on, when agents written in Java may change classes too, nothing is done here.
//
// Whether a class will be verified is a flag of its InstanceKlass, whose place the JVM does not describe. It is
// looked for in the few bytes where HotSpot keeps such flags: it is the only bit there which is set for just those
// classes that were changed. If there is none, or another one besides, the JVM is left alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

namespace sonde::agent::hotspot {

struct ClassFlags {
  std::array<std::uint8_t, 8> bytes;  // those that may hold the flag; the rest is 0
  bool is_changed;
};

struct FlagPlace {
  std::uint32_t byte;
  std::uint8_t mask;
};

// The one bit that is set for the changed classes and for no others; nothing if there are too few to tell.
std::optional<FlagPlace> find_changed_flag(std::span<const ClassFlags> classes);

class BootVerification {
 public:
  // A class of the boot loader was changed. Only before `begin`.
  void note_changed(std::string_view class_name) { changed_.emplace(class_name); }
  // At the start of the start phase, with classes of our own defined.
  void begin();
  // Classes that were loaded since the last call will not be verified. On any thread; nothing before `begin`, and
  // nothing ever if the JVM has no such flag.
  void spare_new();

 private:
  bool find_places();
  [[nodiscard]] std::optional<FlagPlace> find_flag() const;
  [[nodiscard]] std::string_view name_of(std::uint64_t klass) const;
  template <typename Visit>  // void(std::uint64_t klass)
  void for_each_new(std::uint64_t last, Visit&& visit) const;

  std::unordered_set<std::string> changed_;
  std::uint64_t classes_ = 0;  // address of ClassLoaderData::_klasses of the boot loader
  std::uint64_t next_link_ = 0;
  std::uint64_t layout_helper_ = 0;
  std::uint64_t name_ = 0;
  std::uint64_t symbol_length_ = 0;
  std::uint64_t symbol_body_ = 0;
  std::uint64_t flags_begin_ = 0;  // in InstanceKlass
  std::uint64_t flags_end_ = 0;
  FlagPlace flag_{};                      // no mask: not known
  std::atomic<std::uint64_t> newest_{0};  // class that was the newest one at the last call
};

}  // namespace sonde::agent::hotspot
