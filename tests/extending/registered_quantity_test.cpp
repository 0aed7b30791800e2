// SPDX-License-Identifier: MIT
// Quantities and presets that a program adds to the catalogue.
#include <algorithm>
#include <atomic>
#include <thread>

#include "errors.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

Quantity grad_max(const std::string& name) {
  return Quantity(name)
      .summary("Largest entry of the mean gradient")
      .needs(Need::kMean)
      .cost(Cost::kFirstOrder)
      .compute([](const StepView& step) -> Value {
        Tensor largest = at::zeros({}, doubles());
        for (const ParameterGradients& one : step.gradients().parameters) {
          largest = at::maximum(largest, one.mean.abs().max());
        }
        return largest;
      });
}

bool is_listed(const std::string& name) {
  const std::vector<Quantity> all = all_quantities();
  return std::any_of(
      all.begin(), all.end(), [&](const Quantity& one) { return one.name() == name; });
}

TEST(RegisteredQuantity, IsFoundListedAndWatched) {
  register_quantity(grad_max("user_grad_max"));
  EXPECT_TRUE(is_listed("user_grad_max"));
  EXPECT_EQ(quantity("user_grad_max").summary(), "Largest entry of the mean gradient");

  const Tensor w = random_parameter({4});
  auto sink = std::make_shared<MemorySink>();
  Cockpit cockpit(Parameters({{"w", w}}), {quantity("user_grad_max")});
  cockpit.add_sink(sink);
  const Tensor losses = random({3, 4}).mv(w);
  {
    const StepWatch watch = cockpit.watch(0, losses);
    losses.mean().backward();
  }
  cockpit.finish();
  EXPECT_NEAR(sink->number(0, "user_grad_max"), number(w.grad().abs().max()), 1e-12);
}

TEST(RegisteredQuantity, MayHaveSettings) {
  register_quantity([](Settings& settings) {
    const int64_t power = settings.integer("power", 2, "what losses are raised to", 1);
    return Quantity("user_moment")
        .summary("A moment of the losses")
        .compute([power](const StepView& s) { return Value(s.losses().pow(power).mean()); });
  });
  EXPECT_EQ(quantity("user_moment", {{"power", 3}}).settings_text(), "power=3");
  ASSERT_EQ(quantity("user_moment").setting_infos().size(), 1u);
  EXPECT_EQ(quantity("user_moment").setting_infos()[0].default_text, "2");
  expect_error([] { return quantity("user_moment", {{"pwoer", 3}}); }, {"user_moment", "pwoer"});
}

TEST(RegisteredQuantity, HasANameOfItsOwn) {
  expect_error([] { register_quantity(grad_max("loss")); },
               {"register_quantity",
                "'loss'",
                "already",
                quantity("loss").summary(),
                "Largest entry of the mean gradient"});
  register_quantity(grad_max("user_twice"));
  expect_error([] { register_quantity(grad_max("user_twice")); }, {"'user_twice'", "already"});
  expect_error([] { register_quantity(grad_max("grad max")); }, {"'grad max'", "underscores"});
  expect_error([] { return quantity("user_twcie"); }, {"did you mean 'user_twice'"});
}

TEST(RegisteredQuantity, MayBePartOfAPreset) {
  register_quantity(grad_max("user_of_preset"));
  register_preset({"user_preset", "the loss and more", {"loss", "user_of_preset"}});
  EXPECT_EQ(preset("user_preset").size(), 2u);
  EXPECT_EQ(all_presets().back().name, "user_preset");
  expect_error(
      [] {
        register_preset({"full", "all of mine", {}});
      },
      {"register_preset", "'full'", "histogram", "all of mine"});
}

TEST(RegisteredQuantity, MayBeAddedFromManyThreads) {
  constexpr int kThreads = 8, kEach = 20;
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < kEach; ++k) {
        const std::string name = "user_thread_" + std::to_string(k);
        try {
          register_quantity(grad_max(name));
        } catch (const c10::Error&) {
          ++refused;
        }
        EXPECT_EQ(quantity(name).name(), name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, (kThreads - 1) * kEach);
}

}  // namespace
}  // namespace flightdeck::tests
