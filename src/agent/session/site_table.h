// SPDX-License-Identifier: Apache-2.0
// Context: [agent], with the lock of ClassInstrumenter unless said otherwise. The call sites of all methods
// instrumented for sampling, by number. SondeSampling reads the rows: slots of the shadow stack hold such numbers.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "instrument/sampling_pass.h"

namespace sonde::agent {

class SiteTable final : public instrument::SiteNumbers {
 public:
  struct Sites {
    std::uint32_t code_length;  // of the instrumented method
    std::uint32_t first;
    std::vector<std::uint32_t> pcs;  // of each but the first, in the instrumented method; ascending
  };

  struct Row {
    std::uint32_t method_id;
    std::uint32_t site_count;  // of the method; 0 for a leaf, which has no node in a call tree
    std::uint32_t index;       // of this site in the method
    std::uint32_t native_id;   // the native method that is called here, 0 if it is another or unknown
  };
  static_assert(sizeof(Row) == 16, "SondeSampling.ROW_SHIFT");

  // Reserves address space; memory is taken as sites are added. `is_lasting`: for many recordings, in which the same
  // sites have the same numbers, as methods have (method_numbers.h).
  Result<void> create(bool is_lasting = false);
  [[nodiscard]] bool is_created() const { return rows_ != nullptr; }

  Result<std::uint32_t> add_sites(std::uint32_t method_id, bool is_leaf,
                                  std::span<const std::uint32_t> native_callees) override;

  // Remembers what was added last under the name of its method, "pkg/Class.method(descriptor)type".
  void name_last(const std::string& method, std::uint32_t code_length, std::vector<std::uint32_t> pcs);
  // No method is known by its name any more.
  void forget_names();
  // Of a method that calls others. Context: any thread. Of several classes with this name, as those of two loaders, it
  // is the last one whose method has this length; if there is none, for the method began before it was instrumented,
  // the last one.
  std::optional<Sites> find(const std::string& method, std::uint32_t code_length);

  [[nodiscard]] const void* address() const { return rows_; }
  // Of a site that was added. Context: any thread.
  [[nodiscard]] const Row& row(std::uint32_t site) const { return rows_[site]; }
  [[nodiscard]] std::uint32_t method_of(std::uint32_t site) const { return rows_[site].method_id; }
  // Of two sites: is it the same place of the same method, though maybe of two classes with the same name?
  [[nodiscard]] bool are_same(std::uint32_t a, std::uint32_t b) const {
    return rows_[a].method_id == rows_[b].method_id && rows_[a].index == rows_[b].index;
  }

 private:
  // The first of these rows if they are there already, 0 if not.
  [[nodiscard]] std::uint32_t find_rows(std::uint32_t method_id, std::uint32_t site_count,
                                        std::span<const std::uint32_t> native_callees) const;

  Row* rows_ = nullptr;
  std::uint32_t used_ = 1;  // 0 is no site
  std::uint32_t usable_ = 0;
  std::uint32_t last_ = 0;  // the first site of the method added last
  bool is_lasting_ = false;
  std::unordered_multimap<std::uint32_t, std::uint32_t> first_of_;  // by method, if the table is lasting
  std::mutex names_mutex_;                                          // guards what follows
  std::unordered_map<std::string, std::vector<Sites>> names_;
};

}  // namespace sonde::agent
