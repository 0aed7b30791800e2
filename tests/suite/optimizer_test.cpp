// SPDX-License-Identifier: MIT
#include "suite/optimizer.h"

#include <cmath>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "errors.h"
#include "suite/allocations.h"
#include "suite/learning_rate.h"
#include "suite/optimizers/adam.h"
#include "suite/optimizers/sgd.h"

namespace flightdeck::suite {
namespace {

// Three parameters with gradients that depend on the step alone; the last has none.
struct Trained {
  std::vector<Tensor> parameters;
  std::shared_ptr<torch::optim::Optimizer> optimizer;

  explicit Trained(const OptimizerEntry& entry, const Hyperparameters& given = {}) {
    torch::manual_seed(3);
    for (const int64_t size : {6, 40, 2}) {
      parameters.push_back(torch::randn({size, 3}).requires_grad_());
    }
    optimizer = entry.make(parameters, given);
    for (size_t i = 0; i < 2; ++i) parameters[i].mutable_grad() = torch::empty_like(parameters[i]);
  }
  void step(int64_t count, double seed) {
    for (int64_t i = 0; i < count; ++i) {
      torch::NoGradGuard without_gradients;
      for (size_t k = 0; k < 2; ++k) {
        parameters[k].mutable_grad().copy_(parameters[k]).mul_(3.0).add_(seed + double(i)).sin_();
      }
      optimizer->step();
    }
  }
};

std::string saved(const torch::optim::Optimizer& optimizer) {
  std::ostringstream stream;
  torch::save(optimizer, stream);
  return stream.str();
}

void load(torch::optim::Optimizer& optimizer, const std::string& bytes) {
  std::istringstream stream(bytes);
  torch::load(optimizer, stream);
}

// RMSProp with a velocity too.
Hyperparameters unusual(const OptimizerEntry& entry) {
  return entry.name == "rmsprop" ? Hyperparameters{{"momentum", 0.5}} : Hyperparameters{};
}

TEST(Optimizers, WorkWithTheirDefaults) {
  for (const OptimizerEntry& entry : first_order_optimizers()) {
    ASSERT_EQ(entry.hyperparameters.front().name, "learning_rate") << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    Tensor parameter = torch::ones({1}).requires_grad_();
    parameter.mutable_grad() = torch::full({1}, 2.0);
    entry.make({parameter})->step();
    EXPECT_LT(parameter.item<double>(), 1.0) << entry.name;
    for (const Hyperparameter& each : entry.hyperparameters) {
      EXPECT_NO_THROW(entry.complete({{each.name, each.value}})) << entry.name << " " << each.name;
    }
  }
}

// ---- Table 6.2 ----------------------------------------------------------------------------------

struct TableRow {
  std::string hyperparameter;
  double value;
  std::string search;
};

const char* const kRateSpace = "log-uniform in [0.0001, 1]";
const char* const kComplement = "1 - value log-uniform in [0.0001, 1]";
const TableRow kBeta1{"beta1", 0.9, "log-uniform in [0.5, 0.999]"};
const TableRow kBeta2{"beta2", 0.999, "log-uniform in [0.8, 0.999]"};
const TableRow kFinalRate{"final_rate", 0.1, "log-uniform in [0.001, 0.5]"};
const TableRow kGamma{"gamma", 1e-3, "log-uniform in [0.0001, 0.1]"};
const TableRow kSlowRate{"slow_rate", 0.5, kRateSpace};
const TableRow kFastSteps{"fast_steps", 5, "uniform over whole numbers in [1, 20]"};

TableRow rate(double value) { return {"learning_rate", value, kRateSpace}; }
TableRow epsilon(double value) { return {"epsilon", value, "fixed"}; }

TEST(Optimizers, HaveTheDefaultsAndSearchSpacesOfTheComparison) {
  const std::map<std::string, std::vector<TableRow>> table = {
      {"amsbound", {rate(1e-3), kFinalRate, kBeta1, kBeta2, kGamma, epsilon(1e-8)}},
      {"amsgrad", {rate(1e-2), kBeta1, kBeta2, epsilon(1e-8)}},
      {"adabelief", {rate(1e-3), kBeta1, kBeta2, epsilon(1e-14)}},
      {"adabound", {rate(1e-3), kFinalRate, kBeta1, kBeta2, kGamma, epsilon(1e-8)}},
      {"adadelta", {rate(1e-3), epsilon(1e-8), {"decay", 1 - 0.05, kComplement}}},
      {"adagrad", {rate(1e-2), epsilon(1e-7)}},
      {"adam", {rate(1e-3), kBeta1, kBeta2, epsilon(1e-8)}},
      {"lookahead_momentum",
       {kSlowRate, rate(1e-2), kFastSteps, {"momentum", 1 - 0.01, kComplement}}},
      {"lookahead_radam", {kSlowRate, rate(1e-3), kBeta1, kBeta2, epsilon(1e-7), kFastSteps}},
      {"momentum", {rate(1e-2), {"momentum", 1 - 0.01, kComplement}}},
      {"nag", {rate(1e-2), {"momentum", 1 - 0.01, kComplement}}},
      {"nadam", {rate(1e-3), kBeta1, kBeta2, epsilon(1e-7)}},
      {"radam", {rate(1e-3), kBeta1, kBeta2, epsilon(1e-7)}},
      {"rmsprop", {rate(1e-3), epsilon(1e-10), {"decay", 1 - 0.1, kComplement}}},
      {"sgd", {rate(1e-2)}}};
  for (const auto& [name, rows] : table) {
    std::map<std::string, TableRow> expected;
    for (const TableRow& row : rows) expected[row.hyperparameter] = row;
    for (const Hyperparameter& actual : find_optimizer(name).hyperparameters) {
      const auto found = expected.find(actual.name);
      if (found == expected.end()) {  // beyond the table
        EXPECT_EQ(to_string(actual.search), "fixed") << name << " " << actual.name;
        continue;
      }
      EXPECT_DOUBLE_EQ(actual.value, found->second.value) << name << " " << actual.name;
      EXPECT_EQ(to_string(actual.search), found->second.search) << name << " " << actual.name;
      expected.erase(found);
    }
    EXPECT_TRUE(expected.empty()) << name;
  }
}

// Both ends of a distribution belong to it, and all it has lies between them.
std::vector<double> ends_of(const Search& search) {
  if (search.kind == Search::Kind::kFixed) return {};
  if (search.kind == Search::Kind::kOneOf) return search.choices;
  if (search.is_complement) return {1 - search.low, 1 - search.high};
  return {search.low, search.high};
}

TEST(Search, StaysWithinTheAllowedRange) {
  for (const OptimizerEntry& entry : all_optimizers()) {
    for (const Hyperparameter& each : entry.hyperparameters) {
      for (const double value : ends_of(each.search)) {
        EXPECT_NO_THROW(entry.complete({{each.name, value}}))
            << entry.name << " " << each.name << " " << value;
      }
    }
  }
}

TEST(Search, SaysWhatItDrawsFrom) {
  EXPECT_EQ(to_string(Search()), "fixed");
  EXPECT_EQ(to_string(Search{Search::Kind::kLogUniform, 1e-4, 1, true}),
            "1 - value log-uniform in [0.0001, 1]");
  EXPECT_EQ(to_string(Search{Search::Kind::kWholeUniform, 1, 20, false}),
            "uniform over whole numbers in [1, 20]");
  EXPECT_EQ(to_string(Search{Search::Kind::kOneOf, 0, 0, false, {0.1, 1}}), "one of 0.1, 1");
}

// ---- state --------------------------------------------------------------------------------------

TEST(Optimizers, GoOnToTheBitFromASavedState) {
  for (const OptimizerEntry& entry : first_order_optimizers()) {
    Trained whole(entry, unusual(entry));
    whole.step(7, 0.5);
    const std::string bytes = saved(*whole.optimizer);
    Trained resumed(entry);
    for (size_t i = 0; i < 3; ++i) resumed.parameters[i].data().copy_(whole.parameters[i]);
    set_learning_rate(*resumed.optimizer, 77.0);
    load(*resumed.optimizer, bytes);
    EXPECT_EQ(learning_rate(*resumed.optimizer), learning_rate(*whole.optimizer)) << entry.name;
    whole.step(8, 9.0);
    resumed.step(8, 9.0);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(torch::equal(whole.parameters[i], resumed.parameters[i])) << entry.name << i;
    }
  }
}

TEST(Optimizers, RefuseAStateThatIsNotTheirs) {
  Trained adam(find_optimizer("adam")), momentum(find_optimizer("momentum"));
  adam.step(2, 0.0);
  momentum.step(2, 0.0);
  const std::string bytes = saved(*adam.optimizer), before = saved(*momentum.optimizer);
  tests::expect_mentions(tests::error_of([&] { load(*momentum.optimizer, bytes); }),
                         {"archive is of adam", "this is momentum"});
  const auto wider =
      find_optimizer("adam").make({torch::ones({6, 3}), torch::ones({41, 3}), torch::ones({2, 3})});
  tests::expect_mentions(tests::error_of([&] { load(*wider, bytes); }),
                         {"'mean'", "[40, 3]", "[41, 3]"});
  EXPECT_TRUE(wider->state().empty());
  const auto fewer = find_optimizer("adam").make({torch::ones({6, 3})});
  tests::expect_mentions(tests::error_of([&] { load(*fewer, bytes); }), {"3 parameters", "1"});
  fewer->add_param_group(torch::optim::OptimizerParamGroup({torch::ones({2})}));
  tests::expect_mentions(tests::error_of([&] { load(*fewer, bytes); }),
                         {"1 parameter groups", "2"});
  torch::optim::SGD other(adam.parameters, 0.1);
  tests::expect_mentions(tests::error_of([&] { load(*momentum.optimizer, saved(other)); }),
                         {"load optimizer", "'groups'"});
  EXPECT_EQ(saved(*momentum.optimizer).size(), before.size());
}

TEST(Optimizers, LeaveParametersWithoutGradientsAlone) {
  for (const OptimizerEntry& entry : first_order_optimizers()) {
    Trained trained(entry);
    const Tensor before = trained.parameters[2].detach().clone();
    trained.step(6, 0.0);
    EXPECT_TRUE(torch::equal(trained.parameters[2], before)) << entry.name;
    EXPECT_EQ(trained.optimizer->state().size(), 2u) << entry.name;
    // Its first step is its own first, not the optimizer's seventh.
    trained.parameters[2].mutable_grad() = torch::ones_like(before);
    trained.optimizer->step();
    const Tensor alone = before.clone().requires_grad_();
    alone.mutable_grad() = torch::ones_like(before);
    entry.make({alone})->step();
    EXPECT_TRUE(torch::equal(trained.parameters[2], alone)) << entry.name;
  }
}

TEST(Optimizers, TellAutogradThatParametersChanged) {
  for (const OptimizerEntry& entry : first_order_optimizers()) {
    Trained trained(entry);
    const auto before = trained.parameters[0]._version();
    trained.step(1, 0.0);
    EXPECT_GT(trained.parameters[0]._version(), before) << entry.name;
  }
}

TEST(Optimizers, AllocateNothingAfterTheirFirstStep) {
  Trained reference(find_optimizer("adam"));
  torch::optim::Adam torchs(reference.parameters);
  torchs.step();
  const int64_t counted = tests::allocations();
  torchs.step();
  EXPECT_GT(tests::allocations(), counted);  // they are seen

  for (const OptimizerEntry& entry : first_order_optimizers()) {
    Trained trained(entry, unusual(entry));
    trained.step(1, 0.0);
    const int64_t before = tests::allocations();
    for (int step = 0; step < 12; ++step) trained.optimizer->step();
    EXPECT_EQ(tests::allocations(), before) << entry.name;
  }
}

TEST(Optimizers, CallAClosureForTheLoss) {
  Tensor parameter = torch::ones({2}).requires_grad_();
  Sgd optimizer({parameter}, SgdOptions());
  const Tensor loss = optimizer.step([&] {
    const Tensor value = parameter.square().sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<float>(), 2.0f);
  EXPECT_NEAR(parameter[0].item<float>(), 1.0 - 1e-2 * 2.0, 1e-6);
}

TEST(Optimizers, KeepTheOptionsOfGroups) {
  Tensor first = torch::ones({1}).requires_grad_(), second = torch::ones({1}).requires_grad_();
  first.mutable_grad() = torch::ones({1});
  second.mutable_grad() = torch::ones({1});
  auto options = std::make_unique<SgdOptions>();
  options->learning_rate = 0.5;
  Sgd optimizer(std::vector<torch::optim::OptimizerParamGroup>{
      torch::optim::OptimizerParamGroup({first}),
      torch::optim::OptimizerParamGroup({second}, std::move(options))});
  Tensor third = torch::ones({1}).requires_grad_();
  third.mutable_grad() = torch::ones({1});
  auto later = std::make_unique<SgdOptions>();
  later->learning_rate = 0.25;
  optimizer.add_param_group(torch::optim::OptimizerParamGroup({third}, std::move(later)));
  optimizer.step();
  EXPECT_NEAR(first.item<float>(), 0.99, 1e-6);
  EXPECT_NEAR(second.item<float>(), 0.5, 1e-6);
  EXPECT_NEAR(third.item<float>(), 0.75, 1e-6);
}

TEST(Optimizers, RefuseWhatTheyCannotDo) {
  AdamOptions options;
  options.beta1 = 1.0;
  tests::expect_mentions(tests::error_of([&] { Adam adam({torch::ones({1})}, options); }),
                         {"adam: beta1 is 1", "[0, 1)"});
  Tensor parameter = torch::ones({2, 2}).requires_grad_();
  parameter.mutable_grad() = torch::ones({2, 2}).to_sparse();
  Adam adam({parameter}, AdamOptions());
  tests::expect_mentions(tests::error_of([&] { adam.step(); }), {"adam", "sparse"});
}

// ---- values -------------------------------------------------------------------------------------

TEST(Optimizers, RefuseValuesOutsideTheRange) {
  const auto message = [](const std::string& name, const Hyperparameters& given) {
    return tests::error_of([&] { find_optimizer(name).complete(given); });
  };
  tests::expect_mentions(message("sgd", {{"learning_rate", -0.1}}),
                         {"sgd", "learning_rate is -0.1", "[0, inf)"});
  tests::expect_mentions(message("momentum", {{"momentum", 1.0}}), {"momentum is 1", "[0, 1)"});
  tests::expect_mentions(message("adam", {{"epsilon", 0.0}}), {"epsilon is 0", "(0, inf)"});
  tests::expect_mentions(message("adam", {{"beta2", std::nan("")}}), {"beta2 is nan", "[0, 1)"});
  tests::expect_mentions(message("adam", {{"learning_rate", INFINITY}}), {"inf"});
  tests::expect_mentions(message("adam", {{"momentum", 0.9}}),
                         {"of adam called 'momentum'", "beta1"});
  tests::expect_mentions(message("lookahead_radam", {{"fast_steps", 2.5}}),
                         {"fast_steps is 2.5", "whole numbers of (0, inf)"});
  tests::expect_mentions(message("lookahead_momentum", {{"slow_rate", 1.5}}), {"(0, 1]"});
  tests::expect_mentions(message("adm", {}), {"no optimizer 'adm'", "did you mean 'adam'"});
}

TEST(SetLearningRate, ReachesEveryGroup) {
  for (const OptimizerEntry& entry : all_optimizers()) {
    const auto optimizer = entry.make({torch::ones({1})});
    optimizer->add_param_group(torch::optim::OptimizerParamGroup({torch::ones({2})}));
    set_learning_rate(*optimizer, 0.25);
    for (const auto& group : optimizer->param_groups()) {
      EXPECT_EQ(group.options().get_lr(), 0.25) << entry.name;
    }
    EXPECT_EQ(learning_rate(*optimizer), 0.25) << entry.name;
  }
}

}  // namespace
}  // namespace flightdeck::suite
