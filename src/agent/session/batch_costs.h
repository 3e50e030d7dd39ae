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
  // smaller batches would only be more of them, and each has the JVM throw away code and compile it again.
  static constexpr std::uint64_t kPauseNs = 15'000'000;
  static constexpr std::uint64_t kClassNs = 40'000;  // the other part; 10 to 40 us were measured (docs/design/0008)
  static constexpr std::size_t kLeast = 32;
  static constexpr std::size_t kFirst = 128;
  static constexpr std::size_t kMost = 256;

  // A batch of so many classes. `paused_ns`: for how long the program stood still.
  void note(std::size_t classes, std::uint64_t took_ns, std::uint64_t paused_ns);
  // `classes` of the last batch were refused.
  void refuse(std::size_t classes) { classes_ -= classes; }

  // How many classes the next batch should have.
  [[nodiscard]] std::size_t next_size() const { return size_; }
  [[nodiscard]] BatchSummary summary() const;

 private:
  std::size_t size_ = kFirst;
  std::uint64_t base_ns_ = 0;  // the part of a pause that no batch is spared, as far as we know
  std::uint64_t classes_ = 0;
  std::vector<std::uint64_t> took_ns_;
  std::vector<std::uint64_t> paused_ns_;
};

}  // namespace sonde::agent
