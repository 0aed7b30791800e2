// SPDX-License-Identifier: MIT
// What every need declares for several ranks, what follows for every quantity, and that the page
// says so; and how many collectives that takes.
#include "cockpit/over_ranks.h"

#include <fstream>
#include <map>

#include "passes/gradient_fields.h"
#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

class OverRanksTables : public SeededTest {};

// What a table of docs/distributed.md says of each name in backticks of its first column.
std::map<std::string, std::string> table_of_page(const std::string& head) {
  std::ifstream file(std::string(FLIGHTDECK_TESTS_DIR) + "/../docs/distributed.md");
  std::map<std::string, std::string> meanings;
  bool is_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line == head) is_table = true;
    if (line.empty()) is_table = false;
    if (!is_table) continue;
    const size_t middle = line.find('|', 1);
    const std::string names = line.substr(0, middle), meaning = line.substr(middle + 2);
    for (size_t begin = names.find('`'); begin != std::string::npos;) {
      const size_t end = names.find('`', begin + 1);
      const std::string name = names.substr(begin + 1, end - begin - 1);
      EXPECT_EQ(meanings.count(name), 0u) << name << " stands there twice";
      meanings[name] = meaning;
      begin = names.find('`', end + 1);
    }
  }
  return meanings;
}

bool begins(const std::string& text, const std::string& with) { return text.find(with) == 0; }

RankMeaning meaning_of(const Quantity& quantity) {
  return meaning_over_ranks({quantity, quantity.functions()});
}

// How the page begins what it says of a quantity.
std::vector<std::string> words_of(RankMeaning meaning) {
  switch (meaning) {
    case RankMeaning::kExact:
      return {"exact |", "the same on every rank"};
    case RankMeaning::kSecond:
      return {"second |"};
    case RankMeaning::kProducts:
      return {"exact; one collective per product"};
    case RankMeaning::kPairs:
      return {"exact while"};
    case RankMeaning::kShared:  // or nothing of it, where ranks do not differ
      return {"shared", "the same on every rank"};
    case RankMeaning::kFirstRank:
      return {"rank 0:"};
    case RankMeaning::kProcess:
      return {"of rank 0's process"};
  }
  return {};
}

TEST_F(OverRanksTables, HaveAPageThatSaysOfEveryQuantityWhatFollowsFromItsNeeds) {
  const std::map<std::string, std::string> meanings = table_of_page("| quantity | |");
  for (const Quantity& quantity : all_quantities()) {
    const auto found = meanings.find(quantity.name());
    ASSERT_NE(found, meanings.end()) << quantity.name();
    bool is_said = false;
    for (const std::string& words : words_of(meaning_of(quantity))) {
      is_said |= begins(found->second, words);
    }
    EXPECT_TRUE(is_said) << quantity.name() << " is not '" << found->second << "'";
  }
  EXPECT_EQ(meanings.size(), all_quantities().size());
}

std::string words_of(OverRanks over_ranks) {
  switch (over_ranks) {
    case OverRanks::kSum:
      return "added up | first |";
    case OverRanks::kSideBySide:
      return "side by side, in the order of the ranks | second |";
    case OverRanks::kAboutMean:
      return "moved from the rank's mean to that of all, then added up or side by side | second |";
    case OverRanks::kFromRows:
      return "from the individual gradients of all ranks";
  }
  return {};
}

TEST_F(OverRanksTables, HaveAPageThatSaysOfEveryNeedWhatItDeclares) {
  std::map<std::string, std::string> joined = table_of_page("| need | is | in the sum |");
  const auto expect = [&](const std::string& name, const std::string& words) {
    EXPECT_TRUE(begins(joined[name], words)) << name << ": " << joined[name];
    joined.erase(name);
  };
  for (const Answer* answer : answer_catalogue()) {
    expect(answer->kind().name, words_of(answer->kind().over_ranks));
  }
  expect("arrived_norm", "of the arrived gradients, added up | first |");
  for (const CurvatureSum& sum : curvature_sums()) expect(sum.name, words_of(OverRanks::kSum));
  for (const auto& [name, words] : joined) {
    EXPECT_FALSE(begins(words, "added up")) << name << " is not declared so";
  }
}

// ---- collectives --------------------------------------------------------------------------------

// Collectives of the cockpit at a step, and how many products that step took.
struct Traffic {
  int64_t collectives = 0, products = 0;
};

Traffic traffic_of(const std::vector<Quantity>& quantities) {
  constexpr int64_t kSteps = 3;
  Team team(2);
  const std::vector<Shard> batches = make_batches(kSteps, 8);
  Traffic traffic;
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(quantities);
    for (int64_t k = 0; k < kSteps; ++k) {
      const size_t before = member.ranks->calls().size();
      member.step(k, shard_of(batches[k], {4, 4}, rank));
      if (rank != 0 || k + 1 < kSteps) continue;
      const size_t of_update = member.net->parameters().size() + 1;
      traffic.collectives = int64_t(member.ranks->calls().size() - before - of_update);
    }
  });
  // Those of one matrix are shared.
  std::map<std::string, double> of_matrix;
  for (const Quantity& quantity : quantities) {
    if (!quantity.needs().spectrum) continue;
    const bool is_scaled = quantity.needs().spectrum->is_preconditioned;
    const Reading* products =
        team.members[0]->memory->find(kSteps - 1, quantity.name(), "", "products");
    if (products == nullptr) ADD_FAILURE() << quantity.name() << " has no products";
    if (products != nullptr) of_matrix[is_scaled ? "scaled" : "Hessian"] = products->number;
  }
  for (const auto& [matrix, products] : of_matrix) traffic.products += int64_t(products);
  return traffic;
}

TEST_F(OverRanksTables, AreMetByTwoCollectivesOfEveryPresetBesideProducts) {
  for (const PresetInfo& info : all_presets()) {
    const Traffic traffic = traffic_of(preset(info.name, DueSteps::every(1)));
    EXPECT_EQ(traffic.collectives, 2 + traffic.products) << info.name;
    EXPECT_EQ(traffic.products > 0, info.name == "full") << info.name;
  }
}

TEST_F(OverRanksTables, AreMetByTwoCollectivesOfTheWholeCatalogueBesideProducts) {
  const Traffic traffic = traffic_of(all_quantities());
  EXPECT_EQ(traffic.collectives, 2 + traffic.products);
  EXPECT_GT(traffic.products, 0);
}

// One at a time, so that none lives on what another has asked for.
TEST_F(OverRanksTables, HoldForEveryQuantityOnItsOwn) {
  const std::vector<Shard> batches = make_batches(2, 9);
  for (const Quantity& one : all_quantities()) {
    const RankMeaning meaning = meaning_of(one);
    const Traffic traffic = traffic_of({one});
    EXPECT_LE(traffic.collectives, 2 + traffic.products) << one.name();
    if (meaning == RankMeaning::kProcess || meaning == RankMeaning::kFirstRank) continue;
    Team team(2);
    team.alone.make_cockpit({one});
    for (int64_t k = 0; k < 2; ++k) team.alone.step(k, batches[k]);
    team.run([&](int64_t rank, Member& member) {
      member.make_cockpit({one});
      for (int64_t k = 0; k < 2; ++k) member.step(k, shard_of(batches[k], {4, 5}, rank));
    });
    for (const auto& [step, readings] : team.alone.memory->steps()) {
      for (const Reading& reading : readings) {
        const std::string& field = reading.field;
        if (field == "products" || field == "iterations" || field == "residual") continue;
        const Reading* other =
            team.members[0]->memory->find(step, reading.quantity, reading.group, reading.field);
        EXPECT_EQ(difference(reading, other, 1e-7), "") << one.name() << " at step " << step;
      }
    }
  }
}

// ---- some of the samples ------------------------------------------------------------------------

// Every rank gives its first two of four: samples 0, 1, 4 and 5 of all.
TEST_F(OverRanksTables, DealCurvatureOfSomeSamplesEvenlyWithoutAThirdCollective) {
  Team team(2);
  const Shard batch = make_batches(1, 8)[0];
  const Tensor order = torch::tensor({0, 1, 4, 5, 2, 3, 6, 7}, at::kLong);
  const Shard chosen_first = {batch.inputs.index_select(0, order),
                              batch.labels.index_select(0, order),
                              batch.ids.index_select(0, order)};
  const std::vector<Quantity> quantities = {quantity("hess_trace", {{"samples", 4}}),
                                            quantity("tic_diag", {{"samples", 4}})};
  team.alone.make_cockpit(quantities);
  team.alone.step(0, chosen_first);
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(quantities);
    member.step(0, shard_of(batch, {4, 4}, rank));
    const size_t of_update = member.net->parameters().size() + 1;
    EXPECT_EQ(member.ranks->calls().size() - of_update, 2u);
  });
  const MemorySink& together = *team.members[0]->memory;
  for (const char* name : {"hess_trace", "tic_diag"}) {
    const Reading* expected = team.alone.memory->find(0, name);
    ASSERT_NE(expected, nullptr) << name;
    EXPECT_EQ(difference(*expected, together.find(0, name), 1e-9), "");
  }
  EXPECT_FALSE(has_note(together, "are asked for"));
}

TEST_F(OverRanksTables, SayWhereTheSamplesOfCurvatureAreNotAsManyAsAskedFor) {
  Team team(2);
  const Shard batch = make_batches(1, 8)[0];
  team.run([&](int64_t rank, Member& member) {
    member.make_cockpit(
        {quantity("hess_trace", {{"samples", 6}}), quantity("hess_max_ev", {{"samples", 3}})});
    member.step(0, shard_of(batch, {2, 6}, rank));
  });
  const MemorySink& memory = *team.members[0]->memory;
  EXPECT_TRUE(has_note(memory, "of 5 samples where 6 are asked for"));
  EXPECT_TRUE(has_note(memory, "of 4 samples where 3 are asked for"));
  EXPECT_NE(memory.find(0, "hess_max_ev"), nullptr);
}

}  // namespace
}  // namespace flightdeck::tests
