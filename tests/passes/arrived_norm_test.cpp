// SPDX-License-Identifier: MIT
// Need::kArrivedNorm: the norm of what the caller's own backward pass brings to each parameter.
#include <map>

#include "errors.h"
#include "oracle.h"
#include "passes/small_models.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class ArrivedNorm : public SmallModelTest {
 protected:
  // Watches `loss` of the losses; expects the norms of `.grad` divided by `weight`.
  void expect_norms(const std::function<Tensor(const Tensor&)>& loss,
                    double weight,
                    GradientOptions options = {},
                    const std::vector<int64_t>& samples = {}) {
    clear_gradients(parameters());
    const Tensor watched = losses();
    const Batch batch = Batch(watched, parameters()).of(samples);
    Watch watch(batch, Need::kArrivedNorm | Need::kNorms, options);
    loss(watched).backward();
    expect_norms_of_grad(watch.finish(), weight);
  }

  void expect_norms_of_grad(const Gradients& answers, double weight) {
    const std::vector<Tensor> arrived = gradients_of(parameters());
    double total = 0;
    for (size_t p = 0; p < arrived.size(); ++p) {
      const double norm = arrived[p].defined() ? arrived[p].norm().item<double>() / weight : 0;
      const Tensor& answer = answers.parameters[p].arrived_norm;
      ASSERT_TRUE(answer.defined()) << parameters()[p].name;
      EXPECT_EQ(answer.dim(), 0);
      EXPECT_NEAR(answer.item<double>(), norm, 1e-12 * (1 + norm)) << parameters()[p].name;
      total += norm * norm;
    }
    EXPECT_NEAR(answers.total.arrived_norm.item<double>(), std::sqrt(total), 1e-12 * (1 + total));
  }

  Tensor penalty() const {
    Tensor sum = at::zeros({}, doubles());
    for (const auto& [name, tensor] : parameters()) sum = sum + tensor.square().sum();
    return sum;
  }
};

TEST_P(ArrivedNorm, IsThatOfTheMeanLoss) {
  expect_norms([](const Tensor& losses) { return losses.mean(); }, 1);
  const auto N = static_cast<double>(losses().size(0));
  expect_norms([](const Tensor& losses) { return losses.sum(); }, N);
  expect_norms([](const Tensor& losses) { return losses.mean() * -1024.0; }, 1024);
  const double sum = weights().sum().item<double>();
  expect_norms([this](const Tensor& losses) { return (losses * weights()).sum(); }, sum);
}

TEST_P(ArrivedNorm, BelongsToTheWholeBatchWhateverSamplesAreChosen) {
  expect_norms([](const Tensor& losses) { return losses.mean(); }, 1, {}, {0});
}

TEST_P(ArrivedNorm, SeesWhatThePenaltyAdds) {
  expect_norms([this](const Tensor& losses) { return losses.mean() + 0.3 * penalty(); }, 1);
  expect_norms([this](const Tensor& losses) { return losses.sum() + 0.3 * penalty(); },
               static_cast<double>(losses().size(0)));
}

TEST_P(ArrivedNorm, IsTheNormOfTheMeanWithoutAWatch) {
  const Gradients answers = gradients(losses(), parameters(), Need::kArrivedNorm | Need::kMean);
  for (const ParameterGradients& answer : answers.parameters) {
    EXPECT_NEAR(answer.arrived_norm.item<double>(), answer.mean.norm().item<double>(), 1e-13);
  }
  const Gradients alone = gradients(losses(), parameters(), Need::kArrivedNorm);
  EXPECT_FALSE(alone.parameters[0].mean.defined());
  expect_close(alone.concatenated(&ParameterGradients::arrived_norm),
               answers.concatenated(&ParameterGradients::arrived_norm),
               "alone");
}

TEST_P(ArrivedNorm, IsKnownWhenGradientsAreReused) {
  GradientOptions options;
  options.reuse_gradients = true;
  expect_norms([](const Tensor& losses) { return losses.sum(); },
               static_cast<double>(losses().size(0)),
               options);
  const double sum = weights().sum().item<double>();
  expect_norms([this](const Tensor& losses) { return (losses * weights()).sum(); }, sum, options);
  options.histograms = {Bins()};
  expect_norms([](const Tensor& losses) { return losses.mean() * 3.0; }, 3, options);
}

TEST_P(ArrivedNorm, ReachesTheCallerThatStreams) {
  std::map<std::string, Tensor> norms;
  GradientOptions options;
  options.on_parameter = [&](ParameterGradients& answer) {
    EXPECT_TRUE(answer.norms.defined());
    norms[answer.name] = answer.arrived_norm;
  };
  const Tensor watched = losses();
  Watch watch(watched, parameters(), Need::kArrivedNorm | Need::kNorms, options);
  watched.mean().backward();
  Gradients answers = watch.finish();
  for (ParameterGradients& answer : answers.parameters) {
    ASSERT_TRUE(norms.count(answer.name)) << answer.name;
    EXPECT_FALSE(answer.arrived_norm.defined());
    answer.arrived_norm = norms[answer.name];
  }
  expect_norms_of_grad(answers, 1);
}

TEST_P(ArrivedNorm, IsThatOfTheFirstBackwardThroughTheLosses) {
  losses().mul(7).sum().backward();  // before the watch: not its business
  clear_gradients(parameters());
  const Tensor other = losses(), watched = losses();
  Watch watch(watched, parameters(), Need::kArrivedNorm);
  other.mul(5).sum().backward();
  clear_gradients(parameters());
  watched.mean().backward({}, /*retain_graph=*/true);
  const std::vector<Tensor> arrived = gradients_of(parameters());
  watched.mul(9).sum().backward();
  const Gradients answers = watch.finish();
  for (size_t p = 0; p < arrived.size(); ++p) {
    const double norm = arrived[p].defined() ? arrived[p].norm().item<double>() : 0;
    EXPECT_NEAR(answers.parameters[p].arrived_norm.item<double>(), norm, 1e-12 * (1 + norm));
  }
}

TEST_P(ArrivedNorm, AloneCollectsNoRows) {
  clear_gradients(parameters());
  const Tensor watched = losses();
  Watch watch(watched, parameters(), Need::kArrivedNorm);
  watched.mean().backward();
  const Gradients answers = watch.finish();
  expect_norms_of_grad(answers, 1);
  for (const ParameterCoverage& covered : answers.coverage.parameters) {
    EXPECT_TRUE(covered.uses.empty()) << covered.name;
  }
}

FLIGHTDECK_WITH_SMALL_MODELS(ArrivedNorm);

TEST(ArrivedNorms, OfAScalarLossFollowItsReduction) {
  torch::manual_seed(2);
  auto layer = on_device(nn::Linear(4, 3));
  const Tensor input = random({6, 4});
  const Parameters parameters = layer->named_parameters();
  for (const Reduction reduction : {Reduction::kMean, Reduction::kSum}) {
    const Tensor losses = losses_of(layer(input));
    const Tensor loss = reduction == Reduction::kMean ? losses.mean() : losses.sum();
    BatchOptions options;
    options.batch_size = 6;
    options.reduction = reduction;
    clear_gradients(parameters);
    Watch watch(Batch(loss, parameters, options), Need::kArrivedNorm);
    loss.mul(4.0).backward();
    const double weight = reduction == Reduction::kMean ? 4 : 24;
    const Gradients answers = watch.finish();
    EXPECT_NEAR(answers.parameters[0].arrived_norm.item<double>(),
                layer->weight.grad().norm().item<double>() / weight,
                1e-12);
  }
}

TEST(ArrivedNorms, AreThoseOfTheTrueGradientUnderConstantStatistics) {
  torch::manual_seed(2);
  auto net = on_device(nn::Sequential(nn::Linear(4, 3), nn::BatchNorm1d(3), nn::Linear(3, 2)));
  const Tensor losses = losses_of(net->forward(random({6, 4})));
  BatchOptions options;
  options.batch_norm = BatchNormPolicy::kConstantStatistics;
  const Batch batch(losses, net->named_parameters(), options);
  Watch watch(batch, Need::kArrivedNorm | Need::kMean);
  losses.sum().backward();
  const Gradients answers = watch.finish();
  for (const auto& item : net->named_parameters()) {
    EXPECT_NEAR(answers.at(item.key()).arrived_norm.item<double>(),
                item.value().grad().norm().item<double>() / 6,
                1e-12);
  }
}

TEST(ArrivedNorms, OfSparseGradientsAddUpRepeatedLines) {
  torch::manual_seed(2);
  auto table = on_device(nn::Embedding(nn::EmbeddingOptions(7, 3).sparse(true)));
  const Tensor losses = losses_of(table(random_integers({4, 5}, 7)));
  Watch watch(losses, table->named_parameters(), Need::kArrivedNorm);
  losses.mean().backward();
  EXPECT_NEAR(watch.finish().parameters[0].arrived_norm.item<double>(),
              table->weight.grad().to_dense().norm().item<double>(),
              1e-12);
}

}  // namespace
}  // namespace flightdeck::tests
