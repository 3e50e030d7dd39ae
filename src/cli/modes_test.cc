// SPDX-License-Identifier: Apache-2.0
#include "cli/modes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::cli {
namespace {

using testing::HasSubstr;

TEST(Modes, ComeWithIntervalsAndInAnyCombination) {
  const auto modes = parse_modes("wall,exact,cpu:500us");
  ASSERT_TRUE(modes.ok());
  EXPECT_TRUE(modes->exact);
  EXPECT_FALSE(modes->flat);
  EXPECT_EQ(modes->cpu_interval_ns, 500'000U);
  EXPECT_EQ(modes->wall_interval_ns, 10'000'000U);
}

TEST(Modes, SampledOnlyCountsNothing) {
  const auto modes = parse_modes("cpu");
  ASSERT_TRUE(modes.ok());
  EXPECT_FALSE(modes->exact);
  EXPECT_TRUE(modes->is_sampled());
  EXPECT_EQ(modes->cpu_interval_ns, 1'000'000U);
}

TEST(Modes, SayWhatIsWrong) {
  EXPECT_THAT(parse_modes("cpux").error().message, HasSubstr("unknown mode `cpux`"));
  EXPECT_THAT(parse_modes("").error().message, HasSubstr("unknown mode ``"));
  EXPECT_THAT(parse_modes("exact,").error().message, HasSubstr("unknown mode ``"));
  EXPECT_THAT(parse_modes("cpu:fast").error().message, HasSubstr("`fast` is no interval"));
  EXPECT_THAT(parse_modes("cpu:1us").error().message, HasSubstr("out of range for mode cpu"));
  EXPECT_THAT(parse_modes("wall:100us").error().message, HasSubstr("out of range for mode wall"));
}

TEST(Durations, HaveAUnit) {
  EXPECT_EQ(parse_duration_ns("1ms"), 1'000'000U);
  EXPECT_EQ(parse_duration_ns("2s"), 2'000'000'000U);
  EXPECT_EQ(parse_duration_ns("10"), 0U);
  EXPECT_EQ(parse_duration_ns("-1ms"), 0U);
  EXPECT_EQ(parse_duration_ns("99999999999999999999s"), 0U);
}

TEST(Modes, SubgraphsHaveRoots) {
  const auto modes = parse_modes("subgraph:root=Shop.checkout,root=a.B.c,time=off,cpu:1ms");
  ASSERT_TRUE(modes.ok()) << modes.error().to_string();
  ASSERT_TRUE(modes->subgraph.has_value());
  EXPECT_EQ(modes->subgraph->roots, (std::vector<std::string>{"Shop.checkout", "a.B.c"}));
  EXPECT_EQ(modes->subgraph->time, "off");
  EXPECT_EQ(modes->subgraph->scheme, "b");
  EXPECT_EQ(modes->cpu_interval_ns, 1'000'000u);
  EXPECT_FALSE(modes->is_instrumented());
  EXPECT_EQ(parse_modes("subgraph").error().message,
            "mode subgraph needs a root: subgraph:root=com.acme.Shop.checkout");
  EXPECT_EQ(parse_modes("subgraph:root=A.b,time=never").error().message, "time is one of wall, cpu, off, not `never`");
  EXPECT_FALSE(parse_modes("subgraph:root=A.b,exact").ok());
}

TEST(Modes, RootsMayRunBareForAWhile) {
  const auto times = [](const std::string& modes) {
    const auto settings = settings_for_agent(*parse_modes(modes).value().subgraph, BareTime{.ns = 7, .settle_ns = 8});
    const auto value = [&](const std::string& name) {
      return std::ranges::find(settings, name, [](const auto& setting) { return setting.first; })->second;
    };
    return value("subgraph-bare") + " " + value("subgraph-settle");
  };
  EXPECT_EQ(times("subgraph:root=A.b,bare=1500ms"), "1500000000 0");  // as long as they said
  EXPECT_EQ(times("subgraph:root=A.b,bare=off"), "0 0");
  EXPECT_EQ(times("subgraph:root=A.b"), "7 8");
  EXPECT_EQ(parse_modes("subgraph:root=A.b,ahead=2").error().message, "ahead is one of near, far, off, not `2`");
  EXPECT_EQ(parse_modes("subgraph:root=A.b,bare=4").error().message,
            "bare is one of auto, off or a time such as 2s, not `4`");
}

TEST(Modes, HalfOfARecordingIsNotBare) {
  EXPECT_EQ(bare_time(0).ns, 4'000'000'000u);
  EXPECT_EQ(bare_time(0).settle_ns, 16'000'000'000u);
  for (const std::uint64_t seconds : {1, 15, 60, 600}) {
    const BareTime time = bare_time(seconds * 1'000'000'000);
    EXPECT_GT(time.ns, 0u);
    EXPECT_LE(time.ns + time.settle_ns, seconds * 500'000'000) << seconds;
  }
}

TEST(Modes, SaysForHowLongRootsRunBare) {
  const auto notice = [](const std::string& modes) {
    return bare_notice(*parse_modes(modes).value().subgraph, bare_time(0));
  };
  EXPECT_EQ(notice("subgraph:root=A.b"),
            "roots run bare for 4.0 s, or up to 20.0 s while the JVM compiles much; then what they call is measured "
            "(bare=off: at once)");
  EXPECT_EQ(notice("subgraph:root=A.b,bare=1500ms"),
            "roots run bare for 1.5 s; then what they call is measured (bare=off: at once)");
  for (const char* at_once : {"subgraph:root=A.b,bare=off", "subgraph:root=A.b,time=off", "region:A.b"})
    EXPECT_EQ(notice(at_once), "") << at_once;
}

TEST(Modes, ARegionIsOneMethod) {
  const auto modes = parse_modes("region:Shop.checkout");
  ASSERT_TRUE(modes.ok()) << modes.error().to_string();
  EXPECT_EQ(modes->subgraph->scheme, "region");
  EXPECT_EQ(modes->subgraph->roots, std::vector<std::string>{"Shop.checkout"});
  EXPECT_FALSE(parse_modes("region").ok());
}

}  // namespace
}  // namespace sonde::cli
