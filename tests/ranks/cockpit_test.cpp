// SPDX-License-Identifier: MIT
// A cockpit over several ranks sees what one process with all samples sees.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

class RanksCockpit : public SeededTest {};

// What belongs to a process and not to samples.
const std::set<std::string> kOfProcess = {"time", "step_times"};
// What is of the samples of rank 0 alone, and says so.
const std::set<std::string> kOfFirstRank = {"ggn_spectrum"};
// What the small network has nothing of.
const std::set<std::string> kNotThere = {"attention", "experts"};

std::string group_of_rank(int64_t rank) { return "rank " + std::to_string(rank); }

// Runs both and compares everything that the one process has recorded.
void expect_equal(Team& team,
                  const std::vector<Shard>& batches,
                  const std::vector<std::vector<int64_t>>& sizes,
                  const std::vector<Quantity>& quantities,
                  double tolerance = 1e-7) {
  team.alone.make_cockpit(quantities);
  for (size_t k = 0; k < batches.size(); ++k) team.alone.step(int64_t(k), batches[k]);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(quantities);
    for (size_t k = 0; k < batches.size(); ++k) {
      if (sizes[k][rank] == 0) {
        member.sit_out(int64_t(k));
      } else {
        member.step(int64_t(k), shard_of(batches[k], sizes[k], rank));
      }
    }
  });
  const MemorySink& together = *team.members[0]->memory;
  std::set<std::string> first_alone;
  for (const Note& note : together.notes()) {
    EXPECT_NE(note.kind, NoteKind::kSwitchedOff) << note.quantity << ": " << note.text;
    if (note.text.find("of the samples of rank 0 alone") == 0) first_alone.insert(note.quantity);
  }
  std::set<std::string> seen;
  for (const auto& [step, readings] : team.alone.memory->steps()) {
    for (const Reading& reading : readings) {
      if (kOfProcess.count(reading.quantity) > 0 || first_alone.count(reading.quantity) > 0)
        continue;
      const std::set<std::string> of_the_way = {"products", "iterations", "residual"};
      if (of_the_way.count(reading.field) > 0) continue;
      const Reading* other = together.find(step, reading.quantity, reading.group, reading.field);
      EXPECT_EQ(difference(reading, other, tolerance), "") << "at step " << step;
      seen.insert(reading.quantity);
    }
  }
  for (const Quantity& quantity : quantities) {
    const std::string& name = quantity.name();
    const bool is_compared = seen.count(name) > 0 || kOfProcess.count(name) > 0 ||
                             kOfFirstRank.count(name) > 0 || kNotThere.count(name) > 0;
    EXPECT_TRUE(is_compared) << name;
    EXPECT_EQ(first_alone.count(name), kOfFirstRank.count(name)) << name;
  }
}

TEST_F(RanksCockpit, SeesWhatOneProcessWithAllSamplesSees) {
  Team team(2);
  expect_equal(team, make_batches(4, 8), {{4, 4}, {4, 4}, {4, 4}, {4, 4}}, all_quantities());
}

TEST_F(RanksCockpit, SeesTheSameOfUnevenRanks) {
  Team team(4);
  expect_equal(
      team, make_batches(3, 10), {{2, 4, 2, 2}, {2, 3, 3, 2}, {4, 2, 2, 2}}, all_quantities());
}

TEST_F(RanksCockpit, SeesTheSameWhereOneHasNoSamplesLeft) {
  Team team(3);
  expect_equal(team, make_batches(3, 9), {{3, 3, 3}, {4, 5, 0}, {5, 4, 0}}, all_quantities());
}

TEST_F(RanksCockpit, SeesTheSameOfARankWithOneSample) {
  Team team(3);
  std::vector<Quantity> quantities = preset("business");  // of the rows' answers
  expect_equal(team, make_batches(3, 6), {{1, 4, 1}, {3, 1, 2}, {2, 3, 1}}, quantities);
}

// What was saved goes on with another number of ranks, and so does the record of the first one.
TEST_F(RanksCockpit, GoesOnWithAnotherNumberOfRanks) {
  Team team(2), other(3);
  const std::vector<Shard> batches = make_batches(6, 12);
  const std::vector<Quantity> quantities = {
      quantity("loss"), quantity("distance"), quantity("norm_test"), quantity("critical_batch")};
  team.alone.make_cockpit(quantities);
  for (int64_t k = 0; k < 6; ++k) team.alone.step(k, batches[k]);
  std::map<std::string, Tensor> saved;
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(quantities);
    for (int64_t k = 0; k < 3; ++k) member.step(k, shard_of(batches[k], {6, 6}, rank));
    if (rank == 0) saved = member.cockpit->save();
  });
  other.run([&](int64_t rank, Member& member) {
    {
      const torch::NoGradGuard no_grad;
      const auto theirs = member.net->parameters();
      const auto ours = team.members[0]->net->parameters();
      for (size_t p = 0; p < ours.size(); ++p) theirs[p].copy_(ours[p]);
    }
    member.make_cockpit(quantities);
    member.cockpit->load(saved);
    for (int64_t k = 3; k < 6; ++k) member.step(k, shard_of(batches[k], {4, 4, 4}, rank));
  });
  for (int64_t k = 3; k < 6; ++k) {
    for (const Reading& reading : team.alone.memory->steps().at(k)) {
      const Reading* going_on =
          other.members[0]->memory->find(k, reading.quantity, reading.group, reading.field);
      EXPECT_EQ(difference(reading, going_on, 1e-7), "");
    }
  }
  EXPECT_EQ(other.members[0]->memory->number(5, "rank_samples", group_of_rank(2)), 4);
}

TEST_F(RanksCockpit, TakesTwoCollectivesForAStep) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(3, 8);
  team.run([&](int64_t rank, Member& member) {
    std::vector<Quantity> quantities = preset("economy");
    member.make_cockpit(std::move(quantities));
    for (int64_t k = 0; k < 3; ++k) {
      const size_t before = member.ranks->calls().size();
      member.step(k, shard_of(batches[k], {4, 4}, rank));
      const size_t of_update = member.net->parameters().size() + 1;
      EXPECT_EQ(member.ranks->calls().size() - before - of_update, 2u);
    }
  });
}

// docs/distributed.md, what it costs: 2 ranks, 2 quantities, 6 parameters of 74 entries, 8 samples
// whose losses, labels and ids are known.
TEST_F(RanksCockpit, SendsAsMuchAsThePageSays) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(2, 8);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit({quantity("loss"), quantity("grad_norm")});
    member.step(0, shard_of(batches[0], {4, 4}, rank));
    const size_t before = member.ranks->calls().size();
    member.step(1, shard_of(batches[1], {4, 4}, rank));
    const std::vector<std::string>& calls = member.ranks->calls();
    ASSERT_GT(calls.size(), before + 1);
    EXPECT_EQ(calls[before], "sum of " + std::to_string(20 * 2 + 2 + 6 + 74));
    EXPECT_EQ(calls[before + 1], "sum of " + std::to_string(3 * 8 + 1));
  });
}

TEST_F(RanksCockpit, NamesWhatEachRankHas) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(2, 5);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit({quantity("loss"), quantity("grad_norm")});
    for (int64_t k = 0; k < 2; ++k) member.step(k, shard_of(batches[k], {2, 3}, rank));
  });
  const MemorySink& memory = *team.members[0]->memory;
  EXPECT_EQ(memory.number(0, "rank_samples", group_of_rank(0)), 2);
  EXPECT_EQ(memory.number(0, "rank_samples", group_of_rank(1)), 3);
  const double mean = (2 * memory.number(1, "rank_loss", group_of_rank(0)) +
                       3 * memory.number(1, "rank_loss", group_of_rank(1))) /
                      5;
  EXPECT_NEAR(mean, memory.number(1, "loss"), 1e-12);
  EXPECT_GT(memory.number(1, "rank_grad_norm", group_of_rank(1)), 0);
  EXPECT_GE(memory.number(1, "rank_time", group_of_rank(1)), 0);
  EXPECT_EQ(memory.number(1, "rank_drift"), 0);
  EXPECT_EQ(memory.number(1, "rank_twins"), 0);
}

TEST_F(RanksCockpit, TellsTwinsAndDriftApart) {
  Team team(3);
  const std::vector<Shard> batches = make_batches(1, 6);
  team.run([&](int64_t rank, Member& member) {
    if (rank == 2) {
      const torch::NoGradGuard no_grad;
      member.net->parameters()[1][0].add_(1e-12);
    }
    member.make_cockpit({quantity("loss"), quantity("grad_norm")});
    member.step(0, batches[0].part(0, rank == 2 ? 5 : 4));
  });
  EXPECT_EQ(team.members[0]->memory->number(0, "rank_drift"), 1);
  EXPECT_EQ(team.members[0]->memory->number(0, "rank_twins"), 2);
}

// A quantity that fails on one rank alone, at one step.
Quantity fragile(int64_t at_step, const std::shared_ptr<bool>& fails) {
  return Quantity("fragile").needs(Need::kNorms).compute([=](const StepView& step) -> Value {
    TORCH_CHECK(!*fails || step.step() != at_step, "it broke");
    return step.squared_norms().sum();
  });
}

TEST_F(RanksCockpit, SwitchesOffEverywhereWhatFailsOnOneRank) {
  Team team(3);
  const std::vector<Shard> batches = make_batches(4, 9);
  team.run([&](int64_t rank, Member& member) {
    const auto fails = std::make_shared<bool>(rank == 1);
    member.make_cockpit({fragile(1, fails), quantity("grad_norm")});
    for (int64_t k = 0; k < 4; ++k) member.step(k, shard_of(batches[k], {3, 3, 3}, rank));
  });
  for (const auto& member : team.members) {
    EXPECT_NE(member->memory->find(0, "fragile"), nullptr);
    EXPECT_EQ(member->memory->find(2, "fragile"), nullptr);
    EXPECT_NE(member->memory->find(3, "grad_norm"), nullptr);
  }
  bool is_told = false;
  for (const Note& note : team.members[0]->memory->notes()) {
    const bool has_rank = note.text.find("rank 1: ") == 0;
    is_told = is_told || (has_rank && note.text.find("it broke") != std::string::npos);
  }
  EXPECT_TRUE(is_told);
}

TEST_F(RanksCockpit, GoesOnWhereAStepEndsByAnExceptionOnOneRank) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(4, 8);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(preset("business"));
    for (int64_t k = 0; k < 4; ++k) {
      const Shard shard = shard_of(batches[k], {4, 4}, rank);
      // Nothing of the loop's own waits for the others here: no update.
      const Tensor losses = torch::log_softmax(member.net->forward(shard.inputs), 1).select(1, 0);
      try {
        const StepWatch watch = member.cockpit->watch(k, losses);
        if (rank == 1 && k == 1) throw std::runtime_error("out of memory");
        losses.mean().backward();
      } catch (const std::runtime_error&) {
      }
    }
  });
  const MemorySink& memory = *team.members[0]->memory;
  EXPECT_EQ(memory.number(1, "rank_samples", group_of_rank(1)), 0);
  EXPECT_EQ(memory.number(2, "rank_samples", group_of_rank(1)), 4);
  EXPECT_NE(memory.find(3, "grad_norm"), nullptr);
}

TEST_F(RanksCockpit, TakesPartInAStepThatItCannotWatch) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(3, 8);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit({quantity("hess_max_ev"), quantity("loss")});
    for (int64_t k = 0; k < 3; ++k) {
      const Shard shard = shard_of(batches[k], {4, 4}, rank);
      const Tensor losses = torch::log_softmax(member.net->forward(shard.inputs), 1).select(1, 0);
      const bool is_bad = rank == 1 && k == 1;
      const StepWatch watch = member.cockpit->watch(k, is_bad ? losses.view({2, 2}) : losses);
      losses.mean().backward();
    }
  });
  const MemorySink& memory = *team.members[0]->memory;
  for (int64_t k = 0; k < 3; ++k) EXPECT_NE(memory.find(k, "hess_max_ev"), nullptr) << k;
  EXPECT_EQ(memory.number(1, "rank_samples", group_of_rank(1)), 0);
}

TEST_F(RanksCockpit, LosesNothingButTheCockpitWhenARankIsGone) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(3, 8);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(preset("economy"));
    for (int64_t k = 0; k < 3; ++k) {
      if (rank == 1 && k == 1) {
        member.cockpit.reset();
        member.ranks.reset();  // gone
        return;
      }
      const Shard shard = shard_of(batches[k], {4, 4}, rank);
      const Tensor losses = torch::log_softmax(member.net->forward(shard.inputs), 1).select(1, 0);
      {
        const StepWatch watch = member.cockpit->watch(k, losses);
        losses.mean().backward();
      }
      EXPECT_TRUE(member.net->parameters()[0].grad().defined());
    }
  });
  ASSERT_FALSE(team.members[0]->warnings.empty());
  EXPECT_NE(team.members[0]->warnings.back().find("cannot meet any more"), std::string::npos);
  EXPECT_EQ(team.members[0]->memory->find(2, "loss"), nullptr);
}

TEST_F(RanksCockpit, LeavesTheTrainingAsItIs) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(3, 8);
  std::vector<Tensor> with, without;
  for (const bool is_watched : {true, false}) {
    Team other(2);
    const torch::NoGradGuard no_grad;
    for (int64_t rank = 0; rank < 2; ++rank) {
      const auto theirs = other.members[rank]->net->parameters();
      const auto ours = team.alone.net->parameters();
      for (size_t p = 0; p < ours.size(); ++p) theirs[p].copy_(ours[p]);
    }
    const torch::AutoGradMode gradients(true);
    other.run([&](int64_t rank, Member& member) {
      member.make_cockpit(is_watched ? preset("full") : std::vector<Quantity>());
      for (int64_t k = 0; k < 3; ++k) member.step(k, shard_of(batches[k], {4, 4}, rank));
    });
    for (const Tensor& parameter : other.members[1]->net->parameters()) {
      (is_watched ? with : without).push_back(parameter.detach().clone());
    }
  }
  EXPECT_TRUE(identical(with, without));
}

// Many plans: due steps, sizes, absences and failures at random, the same plan for all ranks but
// what happens on each is its own. FLIGHTDECK_PLANS=1000 tries so many.
TEST_F(RanksCockpit, MakesTheSameCollectivesOnAllRanksWhateverHappens) {
  const std::vector<std::string> names = {"loss",
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
                                          "dead_units"};
  const char* asked = std::getenv("FLIGHTDECK_PLANS");
  const int64_t plans = asked ? std::atoll(asked) : 30;
  for (int64_t plan = 0; plan < plans; ++plan) {
    uint64_t state = 977 * static_cast<uint64_t>(plan) + 1;
    const auto draw = [&state](uint64_t below) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      return (state >> 33U) % below;
    };
    const auto W = static_cast<int64_t>(2 + draw(2));
    std::vector<std::string> chosen;
    std::vector<int64_t> every;
    for (const std::string& name : names) {
      if (draw(3) != 0) continue;
      chosen.push_back(name);
      every.push_back(static_cast<int64_t>(1 + draw(3)));
    }
    const auto breaks_at = static_cast<int64_t>(draw(4)), breaks_on = static_cast<int64_t>(draw(W));
    const uint64_t mishap = draw(3);
    Team team(W, std::chrono::seconds(20));
    const std::vector<Shard> batches = make_batches(4, 3 * W);
    team.run([&](int64_t rank, Member& member) {
      std::vector<Quantity> quantities;
      for (size_t k = 0; k < chosen.size(); ++k) {
        quantities.push_back(quantity(chosen[k]).every(every[k]));
      }
      const bool is_here = rank == breaks_on;
      quantities.push_back(fragile(breaks_at, std::make_shared<bool>(is_here && mishap == 1)));
      member.make_cockpit(std::move(quantities));
      const std::vector<int64_t> sizes(W, 3);
      for (int64_t k = 0; k < 4; ++k) {
        if (is_here && mishap == 2 && k == breaks_at) {
          member.sit_out(k);
        } else {
          member.step(k, shard_of(batches[k], sizes, rank));
        }
      }
    });
    for (const auto& member : team.members) {
      EXPECT_EQ(member->ranks->calls(), team.members[0]->ranks->calls()) << "plan " << plan;
      EXPECT_TRUE(member->warnings.empty() || mishap == 1) << member->warnings[0];
    }
  }
}

}  // namespace
}  // namespace flightdeck::tests
