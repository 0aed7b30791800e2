// SPDX-License-Identifier: MIT
// Lamps of trainings with several ranks.
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "flightdeck/lamp.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

using Readings = std::vector<Reading>;

// What is found in a run of 60 steps with these readings.
std::vector<std::string> lamps_of(const std::function<Readings(int64_t step)>& readings_at) {
  const RunFolder folder;
  Recorder recorder(folder.path());
  recorder.begin(full_info());
  for (int64_t k = 0; k < 60; ++k) recorder.write(step_of(k, readings_at(k)));
  recorder.finish(Ending::kFinished);
  std::vector<std::string> names;
  for (const Finding& finding : findings_in(RunReader(folder.path()))) {
    names.push_back(finding.lamp);
    EXPECT_FALSE(finding.evidence.empty());
  }
  return names;
}

const std::vector<std::string> kDark;

// A loss that scatters, 1 % up and down.
double scattered(int64_t step) { return 1 + 0.01 * std::sin(7.0 * static_cast<double>(step)); }

TEST(LampsOfRanks, HavePictures) {
  for (const Lamp& lamp : lamp_catalogue()) {
    if (lamp.reads.empty() || lamp.reads[0].rfind("rank_", 0) != 0) continue;
    EXPECT_FALSE(lamp.pictured.empty()) << lamp.name;
  }
}

TEST(LampsOfRanks, SayThatReplicasHaveDrifted) {
  const auto run = [](double last) {
    return lamps_of([=](int64_t k) { return Readings{number("rank_drift", k < 59 ? 0 : last)}; });
  };
  EXPECT_EQ(run(0), kDark);
  EXPECT_EQ(run(1), std::vector<std::string>{"drifted_ranks"});
}

TEST(LampsOfRanks, SayThatShardsAreTheSame) {
  const auto run = [](double twins) {
    return lamps_of([=](int64_t) { return Readings{number("rank_twins", twins)}; });
  };
  EXPECT_EQ(run(0), kDark);
  EXPECT_EQ(run(2), std::vector<std::string>{"same_shard"});
}

TEST(LampsOfRanks, SayThatShardsOverlapUnlessTheyAreTheSame) {
  const auto run = [](int64_t every, double twins) {
    return lamps_of([=](int64_t k) {
      const double overlap = every > 0 && k % every == 0 ? 1 : 0;
      return Readings{number("rank_overlap", overlap), number("rank_twins", twins)};
    });
  };
  EXPECT_EQ(run(0, 0), kDark);
  EXPECT_EQ(run(25, 0), kDark);  // the last batch of an epoch, filled up
  EXPECT_EQ(run(5, 0), std::vector<std::string>{"overlapping_shards"});
  EXPECT_EQ(run(1, 2), std::vector<std::string>{"same_shard"});
}

TEST(LampsOfRanks, NameTheRankThatOthersWaitFor) {
  const auto run = [](double slow) {
    return lamps_of([=](int64_t) {
      return Readings{number("rank_time", 0.02, "rank 0"),
                      number("rank_time", slow, "rank 1"),
                      number("rank_time", 0.021, "rank 2"),
                      number("rank_time", 9, "rank 2", "backward")};
    });
  };
  EXPECT_EQ(run(0.025), kDark);
  EXPECT_EQ(run(0.05), std::vector<std::string>{"straggling_rank"});
}

TEST(LampsOfRanks, NameTheRankWithOtherData) {
  const auto run = [](double factor) {
    return lamps_of([=](int64_t k) {
      const double own = scattered(k), other = factor * scattered(k + 3);
      return Readings{number("loss", (own + other) / 2),
                      number("rank_loss", own, "rank 0"),
                      number("rank_loss", other, "rank 1")};
    });
  };
  EXPECT_EQ(run(1.1), kDark);
  EXPECT_EQ(run(2.0), std::vector<std::string>{"skewed_ranks"});
}

TEST(LampsOfRanks, NameTheRankWithOtherLabels) {
  const auto run = [](double apart) {
    return lamps_of([=](int64_t k) {
      return Readings{number("rank_labels", 0.2 * scattered(k), "rank 0"),
                      number("rank_labels", apart * scattered(k + 3), "rank 1"),
                      number("rank_labels", 0.2, "rank 0", "by_chance"),
                      number("rank_labels", 0.2, "rank 1", "by_chance")};
    });
  };
  EXPECT_EQ(run(0.3), kDark);
  EXPECT_EQ(run(0.5), std::vector<std::string>{"skewed_ranks"});
}

TEST(LampsOfRanks, NameTheRankWithALongerGradientUnlessItHasFewerSamples) {
  const auto run = [](double length, double samples) {
    return lamps_of([=](int64_t k) {
      return Readings{number("rank_grad_norm", scattered(k), "rank 0"),
                      number("rank_grad_norm", length * scattered(k + 3), "rank 1"),
                      number("rank_samples", 64, "rank 0"),
                      number("rank_samples", samples, "rank 1")};
    });
  };
  EXPECT_EQ(run(1.9, 64), kDark);
  EXPECT_EQ(run(2.1, 64), std::vector<std::string>{"skewed_ranks"});
  EXPECT_EQ(run(2.1, 16), kDark);
  EXPECT_EQ(run(4.1, 16), std::vector<std::string>{"skewed_ranks"});
}

TEST(LampsOfRanks, NameTheRankWhoseGradientWentBadFirstAndStayedSo) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto run = [](int64_t first, int64_t second, int64_t until) {
    return lamps_of([=](int64_t k) {
      const auto is_bad = [&](int64_t from) { return k >= from && k < until; };
      return Readings{number("rank_grad_norm", is_bad(first) ? kNaN : 1, "rank 0"),
                      number("rank_grad_norm", is_bad(second) ? kNaN : 1, "rank 1")};
    });
  };
  EXPECT_EQ(run(40, 39, 60), std::vector<std::string>{"one_bad_rank"});
  EXPECT_EQ(run(40, 40, 60), kDark);
  EXPECT_EQ(run(60, 40, 41), kDark);  // a loss scale that was too large for one step
}

TEST(LampsOfRanks, NameTheRankThatWentBadFirst) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto run = [](int64_t first, int64_t second) {
    return lamps_of([=](int64_t k) {
      return Readings{number("rank_loss", k < first ? scattered(k) : kNaN, "rank 0"),
                      number("rank_loss", k < second ? scattered(k) : kNaN, "rank 1")};
    });
  };
  EXPECT_EQ(run(60, 60), kDark);
  EXPECT_EQ(run(40, 40), kDark);
  EXPECT_EQ(run(40, 39), std::vector<std::string>{"one_bad_rank"});
}

}  // namespace
}  // namespace flightdeck::tests
