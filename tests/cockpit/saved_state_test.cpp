// SPDX-License-Identifier: MIT
// What a cockpit keeps from step to step, saved and loaded.
#include "cockpit/loop.h"
#include "errors.h"
#include "flightdeck/cockpit.h"

namespace flightdeck::tests {
namespace {

class SavedStateTest : public SeededTest {};

std::vector<Quantity> stateful() {
  return {quantity("distance"),
          quantity("hess_max_ev"),
          quantity("grad_hist_1d", {{"adapt", "gradients"}}),
          quantity("grad_hist_2d", {{"adapt", "both"}})};
}

TEST_F(SavedStateTest, LetsAnotherCockpitGoOnToTheBit) {
  Loop loop;
  Listened first(loop.parameters(), stateful(), /*strict=*/true);
  for (int64_t step = 0; step < 3; ++step) loop.step(*first.cockpit, step);
  Listened second(loop.parameters(), stateful(), /*strict=*/true);
  second.cockpit->load(first.cockpit->save());

  // Both watch the same step; the second one has not seen those before.
  const Tensor losses = loop.losses();
  for (Listened* each : {&first, &second}) {
    const StepWatch watch = each->cockpit->watch(3, losses);
    losses.mean().backward({}, /*retain_graph=*/true);
  }
  for (const char* name : {"distance", "hess_max_ev"}) {
    EXPECT_EQ(second.memory->number(3, name), first.memory->number(3, name)) << name;
  }
  for (const char* name : {"grad_hist_1d", "grad_hist_2d"}) {
    const Reading *a = first.memory->find(3, name), *b = second.memory->find(3, name);
    ASSERT_TRUE(a != nullptr && b != nullptr) << name;
    EXPECT_EQ(a->counts, b->counts) << name;
    ASSERT_EQ(a->axes.size(), b->axes.size());
    for (size_t axis = 0; axis < a->axes.size(); ++axis) {
      EXPECT_EQ(a->axes[axis].low, b->axes[axis].low) << name;
      EXPECT_EQ(a->axes[axis].high, b->axes[axis].high) << name;
    }
  }
}

// Vectors that are warm from the steps before: cold ones would give other numbers.
TEST_F(SavedStateTest, KeepsTheVectorsOfPowerIterations) {
  Loop loop;
  StepOptions told;
  std::vector<std::pair<Tensor, UpdateFormula>> formulas;
  for (const NamedParameter& parameter : loop.parameters()) {
    UpdateFormula formula;
    formula.rate = 0.1;
    formulas.emplace_back(parameter.tensor, formula);
  }
  told.update_formulas = formulas;
  const std::vector<Quantity> warm = {quantity("weight_spectra"),
                                      quantity("sharpness", {{"max_products", 3}})};
  Listened first(loop.parameters(), warm, /*strict=*/true);
  for (int64_t step = 0; step < 3; ++step) loop.step(*first.cockpit, step, told);
  Listened second(loop.parameters(), warm, /*strict=*/true), cold(loop.parameters(), warm, true);
  second.cockpit->load(first.cockpit->save());
  const Tensor losses = loop.losses();
  for (Listened* each : {&first, &second, &cold}) {
    const StepWatch watch = each->cockpit->watch(3, losses, told);
    losses.mean().backward({}, /*retain_graph=*/true);
  }
  for (const char* name : {"weight_spectra", "sharpness"}) {
    EXPECT_EQ(second.memory->number(3, name), first.memory->number(3, name)) << name;
    EXPECT_NE(cold.memory->number(3, name), first.memory->number(3, name)) << name;
  }
}

TEST_F(SavedStateTest, KeepsAFailedQuantityOff) {
  const auto failing = [] {
    return Quantity("failing").compute(
        [](const StepView&) -> Value { TORCH_CHECK(false, "it broke"); });
  };
  Loop loop;
  Listened first(loop.parameters(), {failing(), quantity("loss")});
  loop.step(*first.cockpit, 0);
  Listened second(loop.parameters(), {failing(), quantity("loss")});
  second.cockpit->load(first.cockpit->save());
  loop.step(*second.cockpit, 1);
  second.cockpit->flush();
  EXPECT_TRUE(second.warnings.empty());
  EXPECT_NE(second.memory->find(1, "loss"), nullptr);
}

TEST_F(SavedStateTest, OfOtherQuantitiesOrParametersIsRefused) {
  Loop loop;
  Listened one(loop.parameters(), {quantity("loss")});
  Listened other(loop.parameters(), {quantity("loss"), quantity("grad_norm")});
  expect_error([&] { other.cockpit->load(one.cockpit->save()); }, {"has no quantity 'grad_norm'"});
  torch::nn::Sequential net(torch::nn::Linear(6, 4));
  net->to(torch::kDouble);
  Listened narrow(net->named_parameters(), {quantity("loss")});
  expect_error([&] { one.cockpit->load(narrow.cockpit->save()); },
               {"has the shape [4, 6] but the model's has [5, 6]"});
  loop.step(*one.cockpit, 0);
  expect_error([&] { one.cockpit->load(one.cockpit->save()); }, {"load before it"});
}

TEST_F(SavedStateTest, OfMoreQuantitiesOrParametersIsRefused) {
  Loop loop;
  Listened full(loop.parameters(), preset("full"));
  Listened economy(loop.parameters(), preset("economy"));
  expect_error([&] { economy.cockpit->load(full.cockpit->save()); },
               {"has a quantity '", "which this cockpit does not have", "it was saved of"});
  Listened all(loop.parameters(), {quantity("loss")});
  Listened some(loop.net[0]->named_parameters(), {quantity("loss")});
  expect_error([&] { some.cockpit->load(all.cockpit->save()); }, {"has no parameter 'weight'"});
  const Parameters parameters = loop.parameters();
  Listened first(std::vector<NamedParameter>{parameters[0]}, {quantity("loss")});
  expect_error([&] { first.cockpit->load(all.cockpit->save()); },
               {"has a parameter '0.bias'", "does not watch"});
}

TEST_F(SavedStateTest, OfOtherSettingsOrTypesIsRefused) {
  Loop loop;
  Listened plain(loop.parameters(), {quantity("hess_max_ev")});
  Listened ggn(loop.parameters(), {quantity("hess_max_ev", {{"curvature", "ggn"}})});
  expect_error([&] { plain.cockpit->load(ggn.cockpit->save()); },
               {"'hess_max_ev'", "'curvature=ggn'", "this cockpit's has ''"});
  const auto saved = plain.cockpit->save();
  loop.net->to(torch::kFloat);
  Listened single(loop.parameters(), {quantity("hess_max_ev")});
  expect_error([&] { single.cockpit->load(saved); }, {"'0.weight'", "Double", "Float"});
}

TEST_F(SavedStateTest, ThatIsRefusedLeavesTheCockpitAsItWas) {
  Loop loop;
  Listened first(loop.parameters(), {quantity("distance")}, /*strict=*/true);
  loop.step(*first.cockpit, 0);
  Listened second(loop.parameters(), {quantity("distance"), quantity("loss")}, /*strict=*/true);
  expect_error([&] { second.cockpit->load(first.cockpit->save()); }, {"has no quantity 'loss'"});
  loop.step(*second.cockpit, 1);
  EXPECT_EQ(second.memory->number(1, "distance"), 0);  // from where it was made
}

}  // namespace
}  // namespace flightdeck::tests
