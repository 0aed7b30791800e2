// SPDX-License-Identifier: MIT
#include "suite/batches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "errors.h"
#include "suite/evaluate.h"
#include "suite/optimizer.h"
#include "tests/suite/data.h"

namespace flightdeck::suite {
namespace {

BatchOptions batches_of(int64_t size) {
  BatchOptions options;
  options.batch_size = size;
  return options;
}

TEST(Batches, CoverEachSampleOncePerEpoch) {
  const DataSet data = synthetic("mnist", 50);
  BatchOptions options = batches_of(8);
  options.drop_last = false;
  Batches batches(data, Part::kTrain, options);
  ASSERT_EQ(batches.per_epoch(), 7);
  std::vector<int64_t> first_order;
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    std::multiset<int64_t> seen;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < 7; ++i) {
      EXPECT_EQ(batches.epoch(), epoch);
      EXPECT_EQ(batches.position(), i);
      const Batch batch = batches.next();
      ASSERT_EQ(batch.inputs.size(0), i < 6 ? 8 : 2);
      EXPECT_TRUE(torch::equal(batch.targets, data.train.targets.index_select(0, batch.indices)));
      EXPECT_TRUE(torch::equal(batch.inputs,
                               data.prepare(data.train.inputs.index_select(0, batch.indices))));
      for (int64_t n = 0; n < batch.indices.size(0); ++n) {
        seen.insert(batch.indices[n].item<int64_t>());
        order.push_back(batch.indices[n].item<int64_t>());
      }
    }
    EXPECT_EQ(seen.size(), 50u);
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 50u);
    EXPECT_NE(order, first_order);  // reshuffled
    first_order = order;
  }
}

TEST(Batches, NameSamplesByTheirPlaceInTheFileWhateverSplitAndLimit) {
  const DataSet data = synthetic("mnist", 40);
  const DataSet whole = synthetic("mnist", 0);
  std::map<int64_t, Tensor> file;
  for (const Samples* part : {&whole.train, &whole.valid}) {
    for (int64_t n = 0; n < part->size(); ++n)
      file[part->places[n].item<int64_t>()] = part->inputs[n];
  }
  EXPECT_EQ(static_cast<int64_t>(file.size()), whole.train.size() + whole.valid.size());
  EXPECT_EQ(file.rbegin()->first, static_cast<int64_t>(file.size()) - 1);  // each place once
  const BatchOptions options = batches_of(8);
  Batches batches(data, Part::kTrain, options);
  for (int i = 0; i < 10; ++i) {
    const Batch batch = batches.next();
    const Tensor stored = data.train.inputs.index_select(0, batch.indices);
    for (int64_t n = 0; n < 8; ++n) {
      EXPECT_TRUE(torch::equal(stored[n], file.at(batch.ids[n].item<int64_t>())));
    }
  }
  Batches tested(data, Part::kTest, options);
  const Batch batch = tested.next();
  EXPECT_TRUE(torch::equal(batch.ids, batch.indices));  // the test file is not split
}

TEST(Batches, DropTheRest) {
  Batches batches(synthetic("mnist", 50), Part::kTrain, batches_of(8));
  EXPECT_EQ(batches.per_epoch(), 6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(batches.next().inputs.size(0), 8);
  EXPECT_EQ(batches.epoch(), 1);
}

TEST(Batches, OfAnEpochDependOnItsNumberAndTheSeedAlone) {
  const DataSet data = synthetic("cifar10", 40);
  Batches running(data, Part::kTrain, batches_of(10));
  for (int i = 0; i < 4; ++i) running.next();
  Batches started(data, Part::kTrain, batches_of(10));
  started.next();
  started.start_epoch(1);
  const Batch one = running.next(), other = started.next();
  EXPECT_TRUE(torch::equal(one.indices, other.indices));
  EXPECT_TRUE(torch::equal(one.inputs, other.inputs));
  BatchOptions options = batches_of(10);
  options.seed = 1;
  EXPECT_FALSE(torch::equal(Batches(data, Part::kTrain, options).next().indices, other.indices));
}

TEST(Batches, AreAugmentedInTrainingOnly) {
  const DataSet data = synthetic("cifar10", 40);
  const auto is_clean = [&](Part part) {
    const Batch batch = Batches(data, part, batches_of(10)).next();
    EXPECT_EQ(batch.inputs.sizes(), (std::vector<int64_t>{10, 3, 32, 32}));
    const Tensor stored = data.part(part).inputs.index_select(0, batch.indices);
    return torch::equal(batch.inputs, data.prepare(stored));
  };
  EXPECT_FALSE(is_clean(Part::kTrain));
  EXPECT_TRUE(is_clean(Part::kTrainEval));
  EXPECT_TRUE(is_clean(Part::kValid));
  EXPECT_TRUE(is_clean(Part::kTest));
}

TEST(Batches, StayInOrderWithoutShuffle) {
  BatchOptions options = batches_of(20);
  options.shuffle = false;
  Batches batches(synthetic("bytes", 40), Part::kTest, options);
  EXPECT_TRUE(torch::equal(batches.next().indices, torch::arange(20)));
  const Batch second = batches.next();
  EXPECT_TRUE(torch::equal(second.indices, torch::arange(20, 40)));
  EXPECT_EQ(second.inputs.scalar_type(), torch::kLong);
}

TEST(Batches, OfStreamsGoOnWhereTheLastBatchEnded) {
  const DataSet data = synthetic("tolstoi", 23);
  BatchOptions options = batches_of(4);
  options.streams = true;
  Batches batches(data, Part::kTrain, options);
  ASSERT_EQ(batches.per_epoch(), 5);
  Batch last = batches.next();
  EXPECT_TRUE(torch::equal(last.indices, torch::tensor({0, 5, 10, 15})));
  for (int i = 1; i < 5; ++i) {
    const Batch batch = batches.next();
    // The last target of a sample is the first input of the next one.
    EXPECT_TRUE(torch::equal(last.targets.select(1, -1), batch.inputs.select(1, 0)));
    last = batch;
  }
}

TEST(Batches, RefuseABatchLargerThanTheData) {
  const DataSet data = synthetic("mnist", 50);
  tests::expect_mentions(tests::error_of([&] { Batches(data, Part::kValid, batches_of(51)); }),
                         {"51", "50 samples", "valid"});
  tests::expect_mentions(tests::error_of([&] { Batches(data, Part::kValid, batches_of(0)); }),
                         {"batch size is 0"});
}

TEST(Evaluate, AddsThePenaltyToTheMeanOfFullBatches) {
  const Problem problem = find_problem("svhn_3c3d");
  torch::manual_seed(0);
  const Model model = problem.build();
  const DataSet data = synthetic("svhn", 40);
  const Score score = evaluate(problem, model, data, Part::kTest, 16);
  EXPECT_EQ(score.samples, 32);
  const torch::NoGradGuard no_grad;
  const Tensor logits = model.forward(data.prepare(data.test.inputs.slice(0, 0, 32)));
  const Tensor labels = data.test.targets.slice(0, 0, 32);
  const double R = problem.penalty(*model.module).item<double>();
  EXPECT_NEAR(score.penalty, R, 1e-6);
  EXPECT_NEAR(score.loss, cross_entropies(logits, labels).mean().item<double>() + R, 1e-5);
  EXPECT_NEAR(score.accuracy, problem.accuracy(logits, labels).item<double>(), 1e-6);
}

TEST(Evaluate, SwitchesDropoutOffAndTheModeBack) {
  const Problem problem = find_problem("cifar100_allcnnc");
  const Model model = problem.build();
  const DataSet data = synthetic("cifar100", 8);
  const double first = evaluate(problem, model, data, Part::kTest, 8).loss;
  EXPECT_EQ(evaluate(problem, model, data, Part::kTest, 8).loss, first);
  EXPECT_TRUE(model.module->is_training());
}

TEST(Evaluate, CountsASmallPartWholeAndStopsWhenAsked) {
  const Problem problem = find_problem("mnist_logreg");
  const Model model = problem.build();
  const DataSet data = synthetic("mnist", 40);
  EXPECT_EQ(evaluate(problem, model, data, Part::kTest, 128).samples, 40);
  int asked = 0;
  const Score score =
      evaluate(problem, model, data, Part::kTest, 10, [&asked] { return ++asked < 3; });
  EXPECT_EQ(score.samples, 20);
  EXPECT_NEAR(score.loss, std::log(10.0), 1e-5);
}

TEST(Evaluate, NamesTheMistakesWithTheLargestLossesFirst) {
  const std::string name = "mnist_logreg";
  const Problem& problem = find_problem(name);
  const DataSet data = synthetic("mnist", 80);
  torch::manual_seed(3);
  const Model model = problem.build();
  std::optional<Mistakes> mistakes;
  const Score score = evaluate(problem, model, data, Part::kTest, 40, {}, &mistakes);
  ASSERT_TRUE(mistakes);
  EXPECT_NEAR(static_cast<double>(mistakes->count), 80 * (1 - score.accuracy), 1e-3);
  ASSERT_EQ(static_cast<int64_t>(mistakes->worst.size()),
            std::min(mistakes->count, Mistakes::kMostNamed));
  const torch::NoGradGuard no_grad;
  const Tensor outputs = model.forward(data.prepare(data.test.inputs));
  const Tensor losses = problem.losses(outputs, data.test.targets);
  double before = std::numeric_limits<double>::infinity();
  for (const Mistake& mistake : mistakes->worst) {
    EXPECT_EQ(mistake.label, data.test.targets[mistake.id].item<int64_t>());
    EXPECT_EQ(mistake.prediction, outputs[mistake.id].argmax().item<int64_t>());
    EXPECT_NE(mistake.prediction, mistake.label);
    EXPECT_NEAR(mistake.loss, losses[mistake.id].item<double>(), 1e-5);
    EXPECT_LE(mistake.loss, before);
    before = mistake.loss;
  }
}

TEST(Evaluate, HasNoAccuracyWithoutClasses) {
  const Problem problem = find_problem("quadratic_deep");
  const Score score = evaluate(problem, problem.build(), load_data("quadratic"), Part::kTest, 128);
  EXPECT_TRUE(std::isnan(score.accuracy));
  EXPECT_EQ(score.samples, 896);
}

// A linear model lowers the loss of unseen data of every set with classes.
TEST(SyntheticData, CanBeLearnt) {
  const std::map<std::string, double> rates = {
      {"mnist", 0.05}, {"cifar10", 0.01}, {"cifar100", 0.05}, {"svhn", 0.01}};
  for (const auto& [name, rate] : rates) {
    DataOptions options;
    options.synthetic = true;
    options.augment = false;
    const DataSet data = load_data(name, options);
    torch::manual_seed(0);
    const int64_t pixels = data.train.inputs[0].numel();
    torch::nn::Linear layer(pixels, data.classes);
    Problem problem = find_problem("mnist_logreg");
    const Model model = {layer.ptr(),
                         [&layer](const Tensor& inputs) { return layer(inputs.flatten(1)); }};
    const auto optimizer =
        find_optimizer("sgd").make(layer->parameters(), {{"learning_rate", rate}});
    const double before = evaluate(problem, model, data, Part::kTest, 128).loss;
    Batches batches(data, Part::kTrain, batches_of(128));
    for (int step = 0; step < 60; ++step) {
      const Batch batch = batches.next();
      optimizer->zero_grad();
      problem.losses(model.forward(batch.inputs), batch.targets).mean().backward();
      optimizer->step();
    }
    const Score after = evaluate(problem, model, data, Part::kTest, 128);
    EXPECT_LT(after.loss, 0.9 * before) << name;
    EXPECT_GT(after.accuracy, 2.0 / static_cast<double>(data.classes)) << name;
  }
}

}  // namespace
}  // namespace flightdeck::suite
