// SPDX-License-Identifier: Apache-2.0
// Context: [agent], on the Java thread that loads a class. Decides whether a class is counted and rewrites it. Any
// failure leaves the class as it was and counts why.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/session/class_cache.h"
#include "agent/session/method_registry.h"
#include "agent/session/options.h"
#include "agent/session/site_table.h"
#include "arena/writer.h"
#include "classfile/class_editor.h"
#include "instrument/counting_pass.h"
#include "instrument/heap_tree_pass.h"

namespace sonde::agent {

// The list that the host wrote into a recording's folder; an empty one if there is none.
instrument::KnownMethods read_known_methods(const std::string& folder);

class ClassInstrumenter {
 public:
  // Numbers of call sites and methods that outlive the recording.
  struct Lasting {
    MethodNumbers& numbers;
    SiteTable& sites;
  };

  // `flat` is for mode exact:flat and null otherwise.
  ClassInstrumenter(arena::Writer& arena, MethodTable& methods, const Options& options, instrument::KnownMethods known,
                    FlatBlocks* flat, const Lasting* lasting = nullptr)
      : arena_(arena),
        options_(options),
        known_(std::move(known)),
        registry_(arena, methods, flat, options.has_agent() ? &names_ : nullptr,
                  lasting == nullptr ? nullptr : &lasting->numbers),
        sites_(lasting == nullptr ? own_sites_ : lasting->sites),
        pass_(make_pass()) {}

  // Before the first class: those of the JDK that earlier recordings instrumented come from this file, which need not
  // exist. Does nothing where options make something else of a class than what is common.
  void use_cache(const std::string& path);
  // At the end: a file for the next recordings, if there is enough that they might need.
  void save_cache(const std::string& path);

  // Where samples find the call sites; sampling needs it before the first class comes.
  [[nodiscard]] SiteTable& sites() { return sites_; }
  // Filled only if a user-written agent wants to know.
  [[nodiscard]] const MethodNames& names() const { return names_; }

  // Calls use(Bytes) with the new class while no other class is worked on; returns false if nothing changes.
  template <typename Use>
  bool rewrite(Bytes original, bool of_jdk, Use&& use) {
    const std::lock_guard lock(mutex_);
    const std::optional<Bytes> result = rewrite_locked(original, of_jdk);
    if (result) use(*result);
    return result.has_value();
  }

  // The one that rewrite works on, for `use`.
  [[nodiscard]] const classfile::ClassFile& current() const { return class_; }

  // Whether methods of this class are counted, unless something fails. Any thread may ask.
  [[nodiscard]] bool is_selected(std::string_view class_name, bool of_jdk) const;

 private:
  std::unique_ptr<instrument::CountingPass> make_pass();
  std::optional<Bytes> rewrite_locked(Bytes original, bool of_jdk);
  std::optional<Bytes> rewrite_parsed(bool of_jdk);
  std::optional<Bytes> from_cache(Bytes original);
  void count_methods(const classfile::ClassFile& cls, bool of_jdk);
  void count_method(const classfile::ClassFile& cls, const classfile::Member& method, std::uint32_t class_id,
                    bool of_jdk);
  // Finds the method's number as well.
  Result<void> try_to_count(const classfile::Member& method, instrument::MethodToCount& which);
  Result<void> sink(const classfile::Member& method);
  void name_sites(const classfile::ClassFile& cls, const classfile::Member& method);
  void tell_births(const classfile::ClassFile& threads);
  [[nodiscard]] const classfile::MemberRef& born_method() const;
  void count_failure(const Error& error);

  arena::Writer& arena_;
  const Options& options_;
  const instrument::KnownMethods known_;
  MethodNames names_;
  std::mutex mutex_;  // guards what follows
  MethodRegistry registry_;
  SiteTable own_sites_;
  SiteTable& sites_;
  const std::unique_ptr<instrument::CountingPass> pass_;
  instrument::HeapTreePass heap_tree_pass_;
  classfile::ClassFile class_;  // the one at hand; kept, as the editor is, for its memory
  classfile::ClassEditor editor_;
  instrument::CountedMethod counted_;
  std::optional<ClassCache> cache_;
  ByteWriter records_;         // with a cache: what the arena is told of the class at hand
  bool is_complete_ = false;   // nothing was left out of the class at hand
  bool tells_births_ = false;  // the class at hand is Thread, and who makes a thread matters
};

}  // namespace sonde::agent
