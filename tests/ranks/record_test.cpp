// SPDX-License-Identifier: MIT
// Ranks whose first one records: what lamps see of it, and a record that goes on with more of them.
#include "flightdeck/record.h"

#include <filesystem>

#include "flightdeck/finding_sink.h"
#include "flightdeck/lamp.h"
#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

namespace fs = std::filesystem;

class RanksRecord : public SeededTest {
 protected:
  RanksRecord() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        (fs::temp_directory_path() / (std::string("flightdeck_ranks_") + test->name())).string();
    fs::remove_all(folder_);
  }
  ~RanksRecord() override { fs::remove_all(folder_); }

  std::string folder_;
};

// Labels that go with the inputs, dealt at random or by class.
Shard labelled(Shard batch, bool is_sorted) {
  const Tensor sums = batch.inputs.select(1, 0);
  const Tensor order = is_sorted ? sums.argsort() : torch::arange(sums.size(0), at::kLong);
  const Tensor labels = (sums > 0).to(at::kLong);
  return {batch.inputs.index_select(0, order), labels.index_select(0, order), batch.ids};
}

std::vector<std::string> lamps_of_ranks(const std::string& folder) {
  std::vector<std::string> names;
  for (const Finding& finding : findings_in(RunReader(folder))) {
    if (finding.quantity.rfind("rank_", 0) == 0) names.push_back(finding.lamp);
  }
  return names;
}

TEST_F(RanksRecord, LightsTheLampOfRanksWithOtherLabelsAndOnlyThen) {
  for (const bool is_sorted : {false, true}) {
    fs::remove_all(folder_);
    Team team(2);
    const std::vector<Shard> batches = make_batches(60, 32);
    team.run([&](int64_t rank, Member& member) {
      member.make_cockpit({quantity("loss"), quantity("grad_norm")});
      member.cockpit->record_to(folder_);
      for (int64_t k = 0; k < 60; ++k) {
        member.step(k, shard_of(labelled(batches[k], is_sorted), {16, 16}, rank));
      }
      member.cockpit->finish(Ending::kFinished);
    });
    const std::vector<std::string> expected =
        is_sorted ? std::vector<std::string>{"skewed_ranks"} : std::vector<std::string>();
    EXPECT_EQ(lamps_of_ranks(folder_), expected);
  }
}

// Steps `begin` to `end` of a team that goes on with what was saved.
std::map<std::string, Tensor> train(Team& team,
                                    const std::string& folder,
                                    const std::map<std::string, Tensor>& before,
                                    int64_t begin,
                                    int64_t end,
                                    int64_t* findings = nullptr) {
  std::map<std::string, Tensor> saved;
  const auto W = static_cast<int64_t>(team.members.size());
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit({quantity("loss"), quantity("grad_norm")});
    RecorderOptions recorder;
    if (begin > 0) {
      member.cockpit->load(before);
      recorder.resume_at = begin;
    }
    member.cockpit->record_to(folder, recorder);
    if (findings) {
      member.cockpit->on_finding([&](const Finding&, const Diagnosis&) { ++*findings; });
    }
    const Shard batch = {torch::ones({6 * W, 6}, at::kDouble).cumsum(0).sin(),
                         torch::arange(6 * W, at::kLong).remainder(3),
                         torch::arange(6 * W, at::kLong)};
    const std::vector<int64_t> sizes(static_cast<size_t>(W), 6);
    for (int64_t k = begin; k < end; ++k) {
      Shard own = shard_of(batch, sizes, rank);
      // From the tenth step on something is to be found.
      if (findings && k >= begin + 10) own.inputs = own.inputs * std::nan("");
      member.step(k, own);
    }
    if (rank == 0) saved = member.cockpit->save();
    member.cockpit->finish(begin == 0 ? Ending::kInterrupted : Ending::kFinished);
  });
  return saved;
}

TEST_F(RanksRecord, GoesOnWithMoreRanksAndSaysWhere) {
  Team two(2), three(3);
  const auto saved = train(two, folder_, {}, 0, 6);
  int64_t findings = 0;
  train(three, folder_, saved, 4, 40, &findings);
  const RunReader run(folder_);
  EXPECT_EQ(run.last_step(), 39);
  EXPECT_EQ(run.info().config.at("ranks"), "3");
  std::vector<std::string> told;
  for (const Note& note : run.notes()) {
    if (note.text.find("goes on with") == std::string::npos) continue;
    told.push_back(note.text);
    EXPECT_EQ(note.step, 4);
  }
  EXPECT_EQ(told, std::vector<std::string>{"goes on with 3 ranks, had 2"});
  const auto count_of = [&](const std::string& group) {
    const auto series = run.find("rank_samples", group);
    return series ? series->count : 0;
  };
  EXPECT_EQ(count_of("rank 1"), 40);
  EXPECT_EQ(count_of("rank 2"), 36);
  const auto marks = run.find("interventions", "", "ranks");
  ASSERT_NE(marks, nullptr);
  const std::vector<NumberPoint> points = run.numbers(marks->id);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].step, 4);
  EXPECT_EQ(points[0].value, 3);
  EXPECT_GT(findings, 0);
}

TEST_F(RanksRecord, SaysNothingWhereAsManyGoOn) {
  Team two(2), again(2);
  const auto saved = train(two, folder_, {}, 0, 6);
  train(again, folder_, saved, 6, 12);
  for (const Note& note : RunReader(folder_).notes()) {
    EXPECT_EQ(note.text.find("goes on with"), std::string::npos) << note.text;
  }
}

}  // namespace
}  // namespace flightdeck::tests
