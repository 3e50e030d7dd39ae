// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one thread at a time. Which methods of which classes are instrumented for modes subgraph and
// region, and the call sites in them that tell what is called. Classes are known by the key that their owner gives
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent/session/jdk_callbacks.h"
#include "agent/session/method_registry.h"
#include "agent/session/subgraph_options.h"
#include "arena/writer.h"
#include "classfile/class_editor.h"
#include "instrument/subgraph_pass.h"

namespace sonde::agent {

// What is called at a call site.
struct SiteCall {
  std::uint32_t caller = 0;  // the key of the class that has the site
  classfile::Opcode opcode{};
  instrument::CallSites::Kind kind{};
  NamedMethod callee;
  std::vector<NamedMethod> made{};  // invokedynamic: methods that the object it makes will call
  PassedObject passed{};            // kPassed
};

class SubgraphPlan final : private instrument::CallSites {
 public:
  static constexpr std::size_t kMaxSites = 1 << 20;

  // `numbers` is of MethodRegistry.
  SubgraphPlan(arena::Writer& arena, const SubgraphOptions& options, MethodNumbers* numbers)
      : arena_(arena), options_(options), registry_(arena, methods_, nullptr, nullptr, numbers) {}
  ~SubgraphPlan() { methods_.unmap(); }
  SubgraphPlan(const SubgraphPlan&) = delete;
  SubgraphPlan& operator=(const SubgraphPlan&) = delete;

  // `site_bytes` has a byte for each of kMaxSites call sites that SondeSubgraph looks at, all zero. Again after clear.
  Result<void> begin(std::uint8_t* site_bytes);

  // Whether it was not selected before. A root stays one.
  bool select(std::uint32_t cls, std::string_view method, std::string_view descriptor, instrument::SubgraphRole role);
  // Nothing of this class can be instrumented.
  void refuse(std::uint32_t cls);
  // From now on classes are written as they were; returns those that had something inserted.
  std::vector<std::uint32_t> clear();

  [[nodiscard]] const SiteCall& call_at(std::uint32_t site) const { return sites_[site]; }
  // From now on probes ask, if they did not while roots ran bare.
  void let_sites_ask();
  // What it calls is instrumented: its probe need not ask again, unless it depends on the receiver.
  void settle(std::uint32_t site);
  [[nodiscard]] std::size_t site_count() const { return sites_.size(); }

  // Calls use(Bytes) with the new class; returns false if nothing of it is selected.
  template <typename Use>
  bool rewrite(std::uint32_t cls, Bytes original, bool of_jdk, Use&& use) {
    const std::optional<Bytes> result = rewrite(cls, original, of_jdk);
    if (result) use(*result);
    return result.has_value();
  }

 private:
  struct SelectedMethod {
    instrument::SubgraphRole role;
    std::uint32_t id = 0;                                    // in the arena; 0 until it is instrumented
    std::unordered_map<std::uint32_t, std::uint32_t> sites;  // by pc, with room for kMostProbes at each
  };
  struct SelectedClass {
    std::uint32_t record = 0;  // in the arena; 0 until something is instrumented
    bool is_refused = false;
    std::unordered_map<std::string, SelectedMethod> methods;  // by name and descriptor
  };

  std::optional<Bytes> rewrite(std::uint32_t cls, Bytes original, bool of_jdk);
  Result<void> instrument(const classfile::Member& method, SelectedMethod& selected, bool of_jdk);
  void record(const classfile::Member& method, const classfile::Code& code, SelectedMethod& selected, bool of_jdk);
  std::vector<Probe> probes_at(const classfile::Code& code, classfile::Instruction call) override;
  // The call itself, if it is of interest, and the objects that it passes.
  [[nodiscard]] std::vector<SiteCall> calls_at(const classfile::Code& code, classfile::Instruction call) const;
  [[nodiscard]] bool is_of_interest(const SiteCall& call) const;
  std::optional<Probe> probe_of(std::uint32_t key, SiteCall call);
  void count_failure(const Error& error);

  arena::Writer& arena_;
  const SubgraphOptions& options_;
  MethodTable methods_;
  MethodRegistry registry_;
  classfile::ClassEditor editor_;
  instrument::SubgraphPass pass_;
  std::uint8_t* site_bytes_ = nullptr;
  bool may_sites_ask_ = true;
  std::vector<SiteCall> sites_;
  // In the arena, whether or not they are selected now.
  std::unordered_set<std::uint32_t> seen_methods_;
  std::unordered_set<std::string> seen_classes_;
  std::unordered_map<std::uint32_t, SelectedClass> classes_;
  // The method at hand.
  std::uint32_t current_class_ = 0;
  SelectedMethod* current_ = nullptr;
};

}  // namespace sonde::agent
