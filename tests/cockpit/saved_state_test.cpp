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

}  // namespace
}  // namespace flightdeck::tests
