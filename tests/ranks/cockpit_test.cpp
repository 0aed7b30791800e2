// SPDX-License-Identifier: MIT
// A cockpit over several ranks sees what one process with all samples sees.
#include <algorithm>
#include <map>
#include <set>

#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

class RanksCockpit : public SeededTest {};

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
  const std::set<std::string> of_process = names_where(measures_process);
  std::set<std::string> recorded, seen;
  for (const auto& [step, readings] : team.alone.memory->steps()) {
    for (const Reading& reading : readings) {
      recorded.insert(reading.quantity);
      if (of_process.count(reading.quantity) > 0 || first_alone.count(reading.quantity) > 0)
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
    const bool is_compared = seen.count(name) > 0 || measures_process(quantity) ||
                             is_of_first_rank(quantity) || recorded.count(name) == 0;
    EXPECT_TRUE(is_compared) << name;
    EXPECT_EQ(first_alone.count(name) > 0, is_of_first_rank(quantity)) << name;
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

// Labels told of 8 samples: rank 0 has 0 0 0 1, rank 1 has 1 1 1 2.
TEST_F(RanksCockpit, TellsHowFarLabelsOfARankAreFromThoseOfAll) {
  Team team(2);
  Shard batch = make_batches(1, 8)[0];
  batch.labels = torch::tensor({0, 0, 0, 1, 1, 1, 1, 2}, at::kLong);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit({quantity("loss"), quantity("grad_norm")});
    member.step(0, shard_of(batch, {4, 4}, rank));
  });
  const MemorySink& memory = *team.members[0]->memory;
  const double of_0 = (std::abs(3 / 4. - 3 / 8.) + std::abs(1 / 4. - 4 / 8.) + 1 / 8.) / 2;
  EXPECT_NEAR(memory.number(0, "rank_labels", group_of_rank(0)), of_0, 1e-12);
  // All 70 ways to deal four of them to a rank; the estimate takes the counts for normal.
  double mean = 0;
  int ways = 0;
  for (unsigned chosen = 0; chosen < 256; ++chosen) {
    double counts[3] = {0, 0, 0};
    for (int n = 0; n < 8; ++n) {
      if (((chosen >> unsigned(n)) & 1U) != 0) ++counts[batch.labels[n].item<int64_t>()];
    }
    if (counts[0] + counts[1] + counts[2] != 4) continue;
    ++ways;
    mean += (std::abs(counts[0] / 4 - 3 / 8.) + std::abs(counts[1] / 4 - 4 / 8.) +
             std::abs(counts[2] / 4 - 1 / 8.)) /
            2;
  }
  ASSERT_EQ(ways, 70);
  EXPECT_NEAR(memory.number(0, "rank_labels", group_of_rank(1), "by_chance"), mean / ways, 0.05);
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

// Ids of 8 samples: one of them is on both ranks.
TEST_F(RanksCockpit, CountsSamplesThatSeveralRanksHave) {
  Team team(2);
  Shard batch = make_batches(1, 8)[0];
  const std::vector<Tensor> ids = {torch::arange(8), torch::tensor({0, 1, 2, 3, 3, 4, 5, 5})};
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit({quantity("loss"), quantity("grad_norm")});
    for (int64_t k = 0; k < 2; ++k) {
      Shard shard = shard_of(batch, {4, 4}, rank);
      shard.ids = ids[k].slice(0, 4 * rank, 4 * rank + 4);
      member.step(k, shard);
    }
  });
  EXPECT_EQ(team.members[0]->memory->number(0, "rank_overlap"), 0);
  EXPECT_EQ(team.members[0]->memory->number(1, "rank_overlap"), 1);
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
  const MemorySink& memory = *team.members[0]->memory;
  const auto is_of_rank_1 = [](const Note& note) {
    return note.text.find("rank 1: ") == 0 && note.text.find("it broke") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(memory.notes().begin(), memory.notes().end(), is_of_rank_1));
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

// Rank 1 has no memory for what it gives to the first or the second exchange of step 1.
void run_with_failed_packing(Team& team, int64_t exchange) {
  const std::vector<Shard> batches = make_batches(4, 8);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit({quantity("loss"), quantity("grad_norm"), quantity("norm_test")});
    for (int64_t k = 0; k < 4; ++k) {
      member.step(k, shard_of(batches[k], {4, 4}, rank), [&, rank = rank, k = k] {
        if (rank == 1 && k == 1) member.ranks->fail_packing(exchange);
      });
    }
  });
  EXPECT_EQ(team.members[0]->ranks->calls(), team.members[1]->ranks->calls());
}

TEST_F(RanksCockpit, TakesPartWithoutSamplesWhereItsOwnCannotBePacked) {
  Team team(2);
  run_with_failed_packing(team, 1);
  const MemorySink& memory = *team.members[0]->memory;
  EXPECT_EQ(memory.number(1, "rank_samples", group_of_rank(1)), 0);
  EXPECT_NE(memory.find(1, "norm_test"), nullptr);
  EXPECT_EQ(memory.number(2, "rank_samples", group_of_rank(1)), 4);
  EXPECT_NE(memory.find(3, "norm_test"), nullptr);
  EXPECT_TRUE(has_note(memory, "rank 1: not watched: out of memory"));
}

TEST_F(RanksCockpit, LosesOneStepOnAllRanksWhereTheRestCannotBePackedOnOne) {
  Team team(2);
  run_with_failed_packing(team, 2);
  const MemorySink& memory = *team.members[0]->memory;
  EXPECT_NE(memory.find(0, "norm_test"), nullptr);
  EXPECT_EQ(memory.find(1, "norm_test"), nullptr);
  EXPECT_NE(memory.find(2, "norm_test"), nullptr);
  EXPECT_TRUE(has_note(memory, "could not be packed on 1 of 2 ranks"));
  EXPECT_TRUE(has_note(memory, "rank 1: not watched: out of memory"));
  for (const auto& member : team.members) {
    EXPECT_FALSE(has_note(*member->memory, "cannot meet any more"));
  }
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
      const size_t before = member.ranks->calls().size();
      {
        const StepWatch watch = member.cockpit->watch(k, losses);
        losses.mean().backward();
      }
      EXPECT_TRUE(member.net->parameters()[0].grad().defined());
      const size_t calls = member.ranks->calls().size() - before;
      EXPECT_EQ(calls > 0, k < 2) << "step " << k;  // nobody is called who would not answer
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

// ---- a net with attention and experts -----------------------------------------------------------

TEST_F(RanksCockpit, SeesTheAttentionAndTheExpertsOfAllSamples) {
  const std::chrono::seconds timeout(60);
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{4, 4}, {2, 5, 3}}) {
    const auto W = static_cast<int64_t>(sizes.size());
    Team team(W, timeout, NetKind::kRouted);
    int64_t all = 0;
    for (const int64_t size : sizes) all += size;
    std::vector<Quantity> quantities = {
        quantity("attention", {{"exact", true}}), quantity("experts"), quantity("alpha")};
    for (Quantity& one : preset("business")) {
      if (one.name() != "alpha") quantities.push_back(std::move(one));
    }
    expect_equal(team, make_batches(3, all), {sizes, sizes, sizes}, quantities);
    for (const char* name : {"attention", "experts"}) {
      EXPECT_NE(team.members[0]->memory->find(1, name), nullptr) << name;
    }
  }
}

// As many samples of the first rank as it takes: 16.
TEST_F(RanksCockpit, HasTheGgnSpectrumOfAllWhereTheFirstRankHasItsSamples) {
  Team team(2);
  const std::vector<Shard> batches = make_batches(1, 20);
  const std::vector<Quantity> quantities = {quantity("ggn_spectrum")};
  team.alone.make_cockpit(quantities);
  team.alone.step(0, batches[0]);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(quantities);
    member.step(0, shard_of(batches[0], {16, 4}, rank));
  });
  const MemorySink& together = *team.members[0]->memory;
  for (const char* field : {"", "eigenvalues", "curvature_snr"}) {
    const Reading* expected = team.alone.memory->find(0, "ggn_spectrum", "", field);
    ASSERT_NE(expected, nullptr) << field;
    EXPECT_EQ(difference(*expected, together.find(0, "ggn_spectrum", "", field), 1e-7), "");
  }
  EXPECT_TRUE(has_note(together, "of the samples of rank 0 alone"));
}

}  // namespace
}  // namespace flightdeck::tests
