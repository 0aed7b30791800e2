// SPDX-License-Identifier: MIT
// Problems, data sets and optimizers that a program adds to the suite.
#include <algorithm>

#include "errors.h"
#include "suite/batches.h"
#include "suite/data/source.h"
#include "suite/optimizer.h"
#include "suite/problem.h"
#include "tensors.h"

namespace flightdeck::suite {
namespace {

DataSource stripes(const std::string& name) {
  DataSource source;
  source.name = name;
  source.summary = "points with a stripe";
  source.classes = 2;
  source.valid_share = 0.25;
  source.generate = [](uint64_t seed) {
    Generator generator = generator_of(seed, /*purpose=*/7);
    const auto draw = [&](int64_t n) {
      const Tensor points = uniforms(generator, 3 * n, -1, 1).view({n, 3});
      return Samples{points, (points.sum(1) > 0).to(at::kLong)};
    };
    return Parts{draw(80), {}, draw(20)};
  };
  source.prepare = [](const Tensor& points) { return points; };
  return source;
}

Problem striped(const std::string& name, const std::string& data_set) {
  Problem problem;
  problem.name = name;
  problem.summary = "logistic regression on stripes";
  problem.data_set = data_set;
  problem.batch_size = 10;
  problem.epochs = 2;
  problem.classes = 2;
  problem.losses = &cross_entropies;
  problem.build = [] {
    torch::nn::Linear layer(3, 2);
    return Model{layer.ptr(), [layer](const Tensor& x) mutable { return layer(x); }};
  };
  problem.random_batch = [](int64_t N) {
    return Batch{torch::randn({N, 3}), torch::randint(2, {N}, torch::kLong), {}, {}};
  };
  return problem;
}

OptimizerEntry plain(const std::string& name) {
  OptimizerEntry entry;
  entry.name = name;
  entry.summary = "gradient descent of LibTorch";
  Hyperparameter rate;
  rate.name = "learning_rate";
  rate.value = 0.5;
  entry.hyperparameters = {rate};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    return std::make_shared<torch::optim::SGD>(
        std::move(parameters), torch::optim::SGDOptions(values.at("learning_rate")));
  };
  return entry;
}

template <typename Entry>
bool has(const std::vector<Entry>& entries, const std::string& name) {
  return std::any_of(
      entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
}

TEST(RegisteredProblem, TrainsOnRegisteredDataByARegisteredOptimizer) {
  register_data_source(stripes("user_stripes"));
  register_problem(striped("user_striped", "user_stripes"));
  register_optimizer(plain("user_plain"));
  EXPECT_TRUE(has(all_problems(), "user_striped"));
  EXPECT_TRUE(has(all_optimizers(), "user_plain"));
  const std::vector<std::string> sets = data_set_names();
  EXPECT_NE(std::find(sets.begin(), sets.end(), "user_stripes"), sets.end());
  EXPECT_TRUE(describe_data("user_stripes").is_found);

  torch::manual_seed(3);
  const Problem problem = find_problem("user_striped");
  const DataSet data = load_data(problem.data_set);
  EXPECT_EQ(data.train.size(), 60);
  EXPECT_EQ(data.valid.size(), 20);
  const Model model = problem.build();
  const auto optimizer = find_optimizer("user_plain").make(model.module->parameters());
  const Tensor inputs = data.prepare(data.train.inputs);
  double first = 0, last = 0;
  for (int k = 0; k < 50; ++k) {
    optimizer->zero_grad();
    const Tensor loss = problem.losses(model.forward(inputs), data.train.targets).mean();
    loss.backward();
    optimizer->step();
    last = loss.item<double>();
    if (k == 0) first = last;
  }
  EXPECT_LT(last, 0.7 * first);
}

TEST(RegisteredProblem, StaysWhereItIsWhenOthersCome) {
  register_problem(striped("user_first", "two_d"));
  const Problem* first = &find_problem("user_first");
  for (int k = 0; k < 50; ++k) register_problem(striped("user_more_" + std::to_string(k), "two_d"));
  EXPECT_EQ(&find_problem("user_first"), first);
}

TEST(RegisteredProblem, HasANameAndAllFunctions) {
  tests::expect_error([] { register_problem(striped("mnist_mlp", "mnist")); },
                      {"register_problem", "'mnist_mlp'", "already", "perceptron", "stripes"});
  tests::expect_error([] { register_problem(striped("mine/1", "mnist")); }, {"'mine/1'"});
  tests::expect_error([] { register_data_source(stripes("mnist")); },
                      {"register_data_source", "data set 'mnist'", "stripe"});
  tests::expect_error([] { register_optimizer(plain("adam")); },
                      {"register_optimizer", "'adam'", "LibTorch"});
  Problem lacking = striped("user_lacking", "mnist");
  lacking.random_batch = nullptr;
  tests::expect_error([&] { register_problem(lacking); }, {"user_lacking", "random_batch"});
  OptimizerEntry odd = plain("user_odd");
  odd.hyperparameters[0].name = "rate";
  tests::expect_error([&] { register_optimizer(odd); }, {"user_odd", "'rate'", "learning_rate"});
  DataSource files = stripes("user_files");
  files.files = {"points"};
  tests::expect_error([&] { register_data_source(files); }, {"user_files", "read"});
  tests::expect_error([] { find_problem("user_strpied"); }, {"did you mean 'user_striped'"});
}

TEST(RegisteredData, MayHaveFilesAlone) {
  DataSource files = stripes("user_files_alone");
  files.files = {"points"};
  files.generate = nullptr;
  files.read = [](const std::string&) { return Parts(); };
  register_data_source(files);
  DataOptions options;
  options.synthetic = true;
  tests::expect_error([&] { load_data("user_files_alone", options); },
                      {"user_files_alone", "no synthetic data"});
}

}  // namespace
}  // namespace flightdeck::suite
