// SPDX-License-Identifier: MIT
// Scalar losses of which nothing is said: size, reduction and individual losses are in the graph.
#include "errors.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kSamples = 6;

struct Data {
  Tensor outputs, labels, targets, bits;
};

// A loss as training loops have it, and the losses [N] that it is the mean (or the sum) of.
struct Head {
  const char* name;
  std::function<Tensor(const Data&)> scalar, individual;
  bool is_sum = false;
};

void PrintTo(const Head& head, std::ostream* stream) { *stream << head.name; }

Tensor per_sample(const Tensor& values) { return values.reshape({kSamples, -1}).mean(1); }
Tensor added_up(const Tensor& values) { return values.reshape({kSamples, -1}).sum(1); }

Tensor cross_entropy(const Data& data, const F::CrossEntropyFuncOptions& options) {
  return F::cross_entropy(data.outputs, data.labels, options);
}

F::CrossEntropyFuncOptions entropy_options() { return F::CrossEntropyFuncOptions(); }

Tensor class_weights(const Data& data) {
  return at::tensor({0.5, 1.0, 3.0}, at::kDouble).to(data.outputs.device());
}

const std::vector<Head>& heads() {
  static const std::vector<Head> all = {
      {"CrossEntropy",
       [](const Data& d) { return cross_entropy(d, {}); },
       [](const Data& d) { return cross_entropy(d, entropy_options().reduction(torch::kNone)); }},
      {"SummedCrossEntropy",
       [](const Data& d) { return cross_entropy(d, entropy_options().reduction(torch::kSum)); },
       [](const Data& d) { return cross_entropy(d, entropy_options().reduction(torch::kNone)); },
       /*is_sum=*/true},
      {"MeanOfUnreducedCrossEntropies",
       [](const Data& d) {
         return cross_entropy(d, entropy_options().reduction(torch::kNone)).mean();
       },
       [](const Data& d) { return cross_entropy(d, entropy_options().reduction(torch::kNone)); }},
      {"WeightedCrossEntropy",
       [](const Data& d) { return cross_entropy(d, entropy_options().weight(class_weights(d))); },
       [](const Data& d) {
         const Tensor weights = class_weights(d);
         const Tensor each =
             cross_entropy(d, entropy_options().weight(weights).reduction(torch::kNone));
         return each * kSamples / weights.index_select(0, d.labels).sum();
       }},
      {"SquaredError",
       [](const Data& d) { return F::mse_loss(d.outputs, d.targets); },
       [](const Data& d) { return per_sample((d.outputs - d.targets).square()); }},
      {"SummedSquaredError",
       [](const Data& d) {
         return F::mse_loss(d.outputs, d.targets, F::MSELossFuncOptions().reduction(torch::kSum));
       },
       [](const Data& d) { return added_up((d.outputs - d.targets).square()); },
       /*is_sum=*/true},
      {"AbsoluteError",
       [](const Data& d) { return F::l1_loss(d.outputs, d.targets); },
       [](const Data& d) { return per_sample((d.outputs - d.targets).abs()); }},
      {"SmoothAbsoluteError",
       [](const Data& d) { return F::smooth_l1_loss(d.outputs, d.targets); },
       [](const Data& d) {
         return per_sample(F::smooth_l1_loss(
             d.outputs, d.targets, F::SmoothL1LossFuncOptions().reduction(torch::kNone)));
       }},
      {"HuberLoss",
       [](const Data& d) { return F::huber_loss(d.outputs, d.targets); },
       [](const Data& d) {
         return per_sample(F::huber_loss(
             d.outputs, d.targets, F::HuberLossFuncOptions().reduction(torch::kNone)));
       }},
      {"BinaryCrossEntropy",
       [](const Data& d) { return F::binary_cross_entropy(d.outputs.sigmoid(), d.bits); },
       [](const Data& d) {
         const Tensor p = d.outputs.sigmoid();
         return per_sample(-(d.bits * p.log() + (1 - d.bits) * (1 - p).log()));
       }},
      {"BinaryCrossEntropyOfLogits",
       [](const Data& d) { return F::binary_cross_entropy_with_logits(d.outputs, d.bits); },
       [](const Data& d) {
         const Tensor p = d.outputs.sigmoid();
         return per_sample(-(d.bits * p.log() + (1 - d.bits) * (1 - p).log()));
       }},
      {"MaskedCrossEntropy",
       [](const Data& d) {
         const Tensor mask = d.bits.select(1, 0);
         const Tensor each = cross_entropy(d, entropy_options().reduction(torch::kNone));
         return (each * mask).mean();
       },
       [](const Data& d) {
         return cross_entropy(d, entropy_options().reduction(torch::kNone)) * d.bits.select(1, 0);
       }},
      {"TwoTermsAndAConstant",
       [](const Data& d) {
         return cross_entropy(d, {}) + F::mse_loss(d.outputs, d.targets) * 0.3 + 2.0;
       },
       [](const Data& d) {
         return cross_entropy(d, entropy_options().reduction(torch::kNone)) +
                per_sample((d.outputs - d.targets).square()) * 0.3 + 2.0;
       }},
  };
  return all;
}

class ReadingALoss : public testing::TestWithParam<Head> {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    model_ = on_device(nn::Linear(4, 3));
    model_->to(at::kDouble);
    data_.outputs = model_(random({kSamples, 4}));
    data_.labels = random_integers({kSamples}, 3);
    data_.targets = random({kSamples, 3});
    data_.bits = random({kSamples, 3}).gt(0).to(at::kDouble);
    data_.bits.select(1, 0).fill_(1).select(0, 2).fill_(0);
  }

  nn::Linear model_ = nullptr;
  Data data_;
};

TEST_P(ReadingALoss, FindsWhatItWasReducedFrom) {
  const Tensor loss = GetParam().scalar(data_);
  const Tensor expected = GetParam().individual(data_);
  const Parameters parameters(model_->named_parameters());
  const Batch batch(loss, parameters);
  EXPECT_EQ(batch.size(), kSamples);
  EXPECT_EQ(batch.options().reduction, GetParam().is_sum ? Reduction::kSum : Reduction::kMean);
  expect_close(batch.individual_losses(), expected.detach(), "individual losses", 1e-12);
  const Gradients read = gradients(batch, Need::kIndividual);
  expect_matches_oracle(read, differentiate(expected, parameters), Need::kIndividual, {});
}

INSTANTIATE_TEST_SUITE_P(Heads, ReadingALoss, testing::ValuesIn(heads()), [](const auto& info) {
  return std::string(info.param.name);
});

class ReadingAScalarLoss : public SeededTest {};

TEST_F(ReadingAScalarLoss, TakesSequencesForSamplesNotTheirPositions) {
  nn::Linear model = on_device(nn::Linear(4, 5));
  const Tensor outputs = model(random({3, 7, 4}));
  const Tensor labels = random_integers({3, 7}, 5);
  const Tensor loss = F::cross_entropy(outputs.reshape({21, 5}), labels.reshape({21}));
  const Batch batch(loss, Parameters(model->named_parameters()));
  EXPECT_EQ(batch.size(), 3);
  const Tensor each = F::cross_entropy(outputs.reshape({21, 5}),
                                       labels.reshape({21}),
                                       F::CrossEntropyFuncOptions().reduction(torch::kNone));
  expect_close(batch.individual_losses(), each.reshape({3, 7}).mean(1).detach(), "losses", 1e-10);
}

TEST_F(ReadingAScalarLoss, GivesEverySampleThePenaltyThatAllShare) {
  nn::Linear model = on_device(nn::Linear(4, 5));
  const Tensor outputs = model(random({3, 4}));
  const Tensor targets = random({3, 5});
  const Tensor penalty = model->weight.square().sum() * 0.1;
  const Batch batch(F::mse_loss(outputs, targets) + penalty, Parameters(model->named_parameters()));
  EXPECT_EQ(batch.size(), 3);
  const Tensor expected = (outputs - targets).square().mean(1) + penalty;
  expect_close(batch.individual_losses(), expected.detach(), "losses", 1e-10);
}

TEST_F(ReadingAScalarLoss, FindsTheSamplesOfANetworkWithBatchNormalisation) {
  auto net = on_device(nn::Sequential(nn::Linear(4, 3), nn::BatchNorm1d(3), nn::Linear(3, 5)));
  const Tensor outputs = net->forward(random({6, 4}));
  const Tensor labels = random_integers({6}, 5);
  const Tensor loss = F::cross_entropy(outputs, labels);
  const Parameters parameters(net->named_parameters());
  const Batch batch(loss, parameters);
  EXPECT_EQ(batch.size(), 6);
  const Tensor each =
      F::cross_entropy(outputs, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
  expect_close(batch.individual_losses(), each.detach(), "losses", 1e-10);
  for (const int64_t said : {0, 6}) {
    BatchOptions options;
    options.batch_size = said;
    expect_error([&] { (void)gradients(Batch(loss, parameters, options), Need::kNorms); },
                 {"1.weight", "kConstantStatistics", "kSplitGradient"});
    options.batch_norm = BatchNormPolicy::kConstantStatistics;
    const Gradients held = gradients(Batch(loss, parameters, options), Need::kIndividual);
    options.batch_size = 0;
    const Gradients expected = gradients(Batch(each, parameters, options), Need::kIndividual);
    expect_close(held.at("0.weight").individual, expected.at("0.weight").individual, "rows", 1e-10);
  }
}

TEST_F(ReadingAScalarLoss, SaysWhichOpHasNotKeptTheLosses) {
  nn::Linear model = on_device(nn::Linear(4, 5));
  const Tensor loss = model(random({3, 4})).sin().sum(1).mean();
  const Batch batch(loss, Parameters(model->named_parameters()));
  EXPECT_EQ(batch.size(), 3);
  expect_error([&] { (void)batch.individual_losses(); }, {"MeanBackward0", "losses [N]"});
}

// How smoothing is put together differs from version to version of LibTorch.
TEST_F(ReadingAScalarLoss, IsRightOrRefusedByNameForSmoothedLabels) {
  nn::Linear model = on_device(nn::Linear(4, 5));
  const Tensor outputs = model(random({3, 4}));
  const Tensor labels = random_integers({3}, 5);
  const auto options = F::CrossEntropyFuncOptions().label_smoothing(0.1);
  const Batch batch(F::cross_entropy(outputs, labels, options),
                    Parameters(model->named_parameters()));
  EXPECT_EQ(batch.size(), 3);
  Tensor read;
  try {
    read = batch.individual_losses();
  } catch (const c10::Error& error) {
    expect_mentions(error.what_without_backtrace(), {"MeanBackward0|SumBackward0", "losses [N]"});
    return;
  }
  auto each = options;
  each.reduction(torch::kNone);
  expect_close(read, F::cross_entropy(outputs, labels, each).detach(), "losses", 1e-10);
}

TEST_F(ReadingAScalarLoss, LeavesTheSizeOpenWhereItsTermsDiffer) {
  nn::Linear model = on_device(nn::Linear(4, 5));
  const Tensor loss =
      F::mse_loss(model(random({3, 4})), random({3, 5})) + model(random({2, 4})).sin().mean();
  const Parameters parameters(model->named_parameters());
  expect_error([&] { (void)gradients(Batch(loss, parameters), Need::kNorms); }, {"batch_size"});
}

}  // namespace
}  // namespace flightdeck::tests
