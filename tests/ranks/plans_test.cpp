// SPDX-License-Identifier: MIT
// Whatever is due and whatever goes wrong on one rank, all ranks make the same collectives.
#include <cstdlib>
#include <set>

#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

class RanksPlans : public SeededTest {};

enum Mishap : uint64_t {
  kNone,
  kFailure,
  kAbsence,
  kException,
  kBadLosses,
  kFailingShare,
  kNoMemory,
  kMishaps,
};

// Due steps, sizes and what goes wrong where, drawn from a number.
struct RandomPlan {
  explicit RandomPlan(uint64_t number) : state(977 * number + 1) {
    static const char* const kNames[] = {"loss",
                                         "alpha",
                                         "grad_norm",
                                         "norm_test",
                                         "inner_test",
                                         "mean_gsnr",
                                         "hess_trace",
                                         "tic_trace",
                                         "hess_max_ev",
                                         "grad_hist_1d",
                                         "sample_outliers",
                                         "grad_cosine",
                                         "dead_units",
                                         "inputs"};
    W = static_cast<int64_t>(2 + draw(2));
    for (const char* name : kNames) {
      if (draw(3) == 0) chosen.emplace_back(name, 1 + draw(3));
    }
    mishap = draw(kMishaps);
    rank = static_cast<int64_t>(draw(static_cast<uint64_t>(W)));
    // Who left a step by an exception takes part when it comes back, at the next one.
    step = static_cast<int64_t>(draw(mishap == kException ? kSteps - 1 : kSteps));
    exchange = static_cast<int64_t>(1 + draw(2));
    for (int64_t k = 0; k < kSteps; ++k) {
      std::vector<int64_t>& of_step = sizes.emplace_back();
      for (int64_t r = 0; r < W; ++r) of_step.push_back(static_cast<int64_t>(1 + draw(4)));
    }
  }

  uint64_t draw(uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  }

  static constexpr int64_t kSteps = 4;
  uint64_t state;
  int64_t W = 0, rank = 0, step = 0, exchange = 0;
  std::vector<std::pair<std::string, int64_t>> chosen;  // and due every so many steps
  uint64_t mishap = kNone;
  std::vector<std::vector<int64_t>> sizes;
};

void run_plan(const RandomPlan& plan, int64_t rank, Member& member) {
  const bool is_here = rank == plan.rank;
  std::vector<Quantity> quantities;
  for (const auto& [name, interval] : plan.chosen) {
    quantities.push_back(quantity(name).every(interval));
  }
  const auto fails = [&](Mishap mishap) {
    return std::make_shared<bool>(is_here && plan.mishap == mishap);
  };
  quantities.push_back(fragile(plan.step, fails(kFailure)));
  quantities.push_back(fragile_sharing(plan.step, fails(kFailingShare)));
  member.make_cockpit(std::move(quantities));
  // The others are in the cockpit's collective, not in the loop's.
  member.is_updated = plan.mishap != kException;
  for (int64_t k = 0; k < RandomPlan::kSteps; ++k) {
    const std::vector<int64_t>& sizes = plan.sizes[k];
    int64_t all = 0;
    for (const int64_t size : sizes) all += size;
    const bool is_now = is_here && k == plan.step;
    if (is_now && plan.mishap == kAbsence) {
      member.sit_out(k);
      continue;
    }
    member.gives_bad_losses = is_now && plan.mishap == kBadLosses;
    const Shard batch = {torch::ones({all, 6}, at::kDouble).cumsum(0).sin(),
                         torch::arange(all, at::kLong).remainder(3),
                         torch::arange(all, at::kLong)};
    try {
      member.step(k, shard_of(batch, sizes, rank), [&] {
        if (is_now && plan.mishap == kException) throw std::runtime_error("interrupted");
        if (is_now && plan.mishap == kNoMemory) member.ranks->fail_packing(plan.exchange);
      });
    } catch (const std::runtime_error& error) {
      if (plan.mishap != kException) throw;
    }
    member.ranks->fail_packing(0);
  }
}

// FLIGHTDECK_PLANS=1000 tries so many; ctest's ranks_plans does.
TEST_F(RanksPlans, MakeTheSameCollectivesOnAllRanksWhateverHappens) {
  const char* asked = std::getenv("FLIGHTDECK_PLANS");
  const int64_t plans = asked ? std::atoll(asked) : 30;
  std::set<uint64_t> seen;
  for (int64_t number = 0; number < plans; ++number) {
    const RandomPlan plan(static_cast<uint64_t>(number));
    seen.insert(plan.mishap);
    Team team(plan.W, std::chrono::seconds(20));
    team.run([&](int64_t rank, Member& member) { run_plan(plan, rank, member); });
    for (const auto& member : team.members) {
      EXPECT_EQ(member->ranks->calls(), team.members[0]->ranks->calls()) << "plan " << number;
      EXPECT_FALSE(has_note(*member->memory, "cannot meet any more")) << "plan " << number;
      const bool is_calm = plan.mishap == kNone || plan.mishap == kAbsence;
      EXPECT_TRUE(member->warnings.empty() || !is_calm)
          << "plan " << number << ": " << member->warnings[0];
    }
  }
  EXPECT_EQ(seen.size(), size_t{kMishaps});
}

}  // namespace
}  // namespace flightdeck::tests
