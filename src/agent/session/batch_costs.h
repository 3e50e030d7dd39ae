// SPDX-License-Identifier: Apache-2.0
// Context: [agent], one call at a time. What it costs to change classes that are loaded, batch by batch, and how many
// of them the next batch should have. A batch takes time, of which the program stands still for a part: the JVM reads
// and checks classes while the program runs, and stops it to put them in place and to look at all that are loaded. So
// a pause has a part that is there whatever the size of the batch, and one for each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::agent {

// In nanoseconds.
struct Spread {
  std::uint64_t total = 0;
  std::uint64_t p99 = 0;
  std::uint64_t longest = 0;
};

struct BatchSummary {
  std::uint64_t batches = 0;
  std::uint64_t classes = 0;
  Spread took;
  Spread paused;
};

class BatchCosts {
 public:
  // How long a pause should be. Where the part of it that no batch is spared is more, a quarter more than that part:
  // smaller batches would only be more of them.
  static constexpr std::uint64_t kPauseNs = 10'000'000;
  static constexpr std::size_t kLeast = 8;  // classes of the first batch
  static constexpr std::size_t kMost = 256;

  // A batch of so many classes. `paused_ns`: for how long the program stood still.
  void note(std::size_t classes, std::uint64_t took_ns, std::uint64_t paused_ns);
  // `classes` of the last batch were refused.
  void refuse(std::size_t classes) { classes_ -= classes; }

  // How many classes the next batch should have.
  [[nodiscard]] std::size_t next_size() const { return size_; }
  [[nodiscard]] BatchSummary summary() const;

 private:
  std::size_t size_ = kLeast;
  std::uint64_t base_ns_ = UINT64_MAX / 2;  // the part of a pause that no batch is spared
  std::uint64_t classes_ = 0;
  std::vector<std::uint64_t> took_ns_;
  std::vector<std::uint64_t> paused_ns_;
};

}  // namespace sonde::agent
