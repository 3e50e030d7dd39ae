// SPDX-License-Identifier: Apache-2.0
#include "agent/session/site_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace sonde::agent {
namespace {

constexpr std::uint32_t kMaxRows = 1U << 28;
constexpr std::uint32_t kStep = 1U << 16;

}  // namespace

Result<void> SiteTable::create(bool is_lasting) {
  void* memory =
      mmap(nullptr, std::size_t{kMaxRows} * sizeof(Row), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return Error{ErrorCode::kIo, "no address space for the table of call sites"};
  rows_ = static_cast<Row*>(memory);
  is_lasting_ = is_lasting;
  return {};
}

Result<std::uint32_t> SiteTable::add_sites(std::uint32_t method_id, bool is_leaf,
                                           std::span<const std::uint32_t> native_callees) {
  const auto count = static_cast<std::uint32_t>(native_callees.size());
  const std::uint32_t site_count = is_leaf ? 0 : count;
  if (const std::uint32_t known = find_rows(method_id, site_count, native_callees); known != 0) return last_ = known;
  if (used_ + count > usable_) {
    const std::uint32_t wanted = std::min((used_ + count + kStep - 1) / kStep * kStep, kMaxRows);
    if (used_ + count > kMaxRows || mprotect(rows_, std::size_t{wanted} * sizeof(Row), PROT_READ | PROT_WRITE) != 0)
      return Error{ErrorCode::kTooLarge, "no room for more call sites"};
    usable_ = wanted;
  }
  last_ = used_;
  for (std::uint32_t i = 0; i < count; ++i) {
    rows_[used_++] = {.method_id = method_id, .site_count = site_count, .index = i, .native_id = native_callees[i]};
  }
  if (is_lasting_) first_of_.emplace(method_id, last_);
  return last_;
}

std::uint32_t SiteTable::find_rows(std::uint32_t method_id, std::uint32_t site_count,
                                   std::span<const std::uint32_t> native_callees) const {
  const auto [begin, end] = first_of_.equal_range(method_id);
  for (auto it = begin; it != end; ++it) {
    const Row* rows = rows_ + it->second;
    // A method's rows end where those of another begin, or a leaf's one row.
    const bool is_same =
        rows->site_count == site_count &&
        std::ranges::equal(native_callees, std::span(rows, native_callees.size()), {}, {}, &Row::native_id);
    if (is_same) return it->second;
  }
  return 0;
}

void SiteTable::forget_names() {
  const std::lock_guard lock(names_mutex_);
  names_.clear();
}

void SiteTable::name_last(const std::string& method, std::uint32_t code_length, std::vector<std::uint32_t> pcs) {
  const std::lock_guard lock(names_mutex_);
  std::vector<Sites>& named = names_[method];
  std::erase_if(named, [&](const Sites& sites) { return sites.code_length == code_length; });
  named.push_back({.code_length = code_length, .first = last_, .pcs = std::move(pcs)});
}

std::optional<SiteTable::Sites> SiteTable::find(const std::string& method, std::uint32_t code_length) {
  const std::lock_guard lock(names_mutex_);
  const auto named = names_.find(method);
  if (named == names_.end()) return std::nullopt;
  const auto same = std::ranges::find(named->second, code_length, &Sites::code_length);
  return same == named->second.end() ? named->second.back() : *same;
}

}  // namespace sonde::agent
