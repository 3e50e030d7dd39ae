// SPDX-License-Identifier: Apache-2.0
#include "agent/vm/hotspot/known_frames.h"

#include <gmock/gmock.h>

namespace sonde::agent::hotspot {
namespace {

using testing::ElementsAre;

TEST(MethodSites, KnowsTheSiteOfEachCall) {
  const MethodSites sites{.is_ours = false, .first_site = 40, .pcs = {3, 17, 200}};
  EXPECT_EQ(sites.at(3), 41U);
  EXPECT_EQ(sites.at(17), 42U);
  EXPECT_EQ(sites.at(200), 43U);
  EXPECT_EQ(sites.at(5), 40U) << "at no call: a class is initialised there, or the JVM calls";
  EXPECT_EQ(MethodSites{}.at(3), 0U);
}

// Of interpreted frames, whose sites are in the frame.
KnownPath found_inwards_out(std::initializer_list<std::uint32_t> sites) {
  KnownPath found;
  for (const std::uint32_t site : sites) {
    found.frames.push_back({.pc = 1, .sp = 8 * std::uint64_t{site}, .kind = KnownPath::Kind::kInterpreted});
    found.rests.push_back({.site = site, .sites = site == 0 ? 0U : 1U});
  }
  return found;
}

std::vector<std::uint32_t> sites_of(const KnownPath& path, std::uint32_t first) {
  std::vector<std::uint32_t> sites;
  path.for_each_site(first, [&](std::uint32_t site) { sites.push_back(site); });
  return sites;
}

std::uint64_t step(std::uint64_t callers, std::uint64_t site) { return (callers + site) * 0x9e3779b97f4a7c15; }

TEST(KnownPath, GrowsByWhatWasFoundFromTheInnermostFrameOutwards) {
  KnownPath path;
  path.be_of({.finder = 1, .region = 2, .seed = 3});
  path.append(found_inwards_out({7, 0, 5}));
  EXPECT_THAT(sites_of(path, 0), ElementsAre(5, 7));
  EXPECT_EQ(path.sites_of(path.size()), 2U);
  EXPECT_EQ(path.hash(), step(step(3, 5), 7));
}

TEST(KnownPath, KeepsTheHashOfFramesThatStay) {
  KnownPath path;
  path.be_of({.finder = 1, .region = 2, .seed = 3});
  path.append(found_inwards_out({8, 7, 6, 5}));
  path.resize(2);
  path.append(found_inwards_out({9}));
  EXPECT_THAT(sites_of(path, 0), ElementsAre(5, 6, 9));
  EXPECT_THAT(sites_of(path, 2), ElementsAre(9));
  EXPECT_EQ(path.hash(), step(step(step(3, 5), 6), 9));
}

TEST(KnownPath, IsOfOneThreadAtATime) {
  KnownPath path;
  path.be_of({.finder = 1, .region = 2, .seed = 3});
  path.append(found_inwards_out({7}));
  path.be_of({.finder = 1, .region = 2, .seed = 3});
  EXPECT_EQ(path.size(), 1U);
  path.be_of({.finder = 1, .region = 2, .seed = 4});
  EXPECT_EQ(path.size(), 0U);
  EXPECT_EQ(path.hash(), 4U);
}

}  // namespace
}  // namespace sonde::agent::hotspot
