// SPDX-License-Identifier: MIT
#include "passes/small_models.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

constexpr int64_t kSamples = 5;

SmallModel with(nn::Sequential net, const Tensor& input) {
  SmallModel model;
  for (const auto& item : net->named_parameters()) {
    model.parameters.push_back({item.key(), item.value()});
  }
  model.losses = [net, input]() mutable { return losses_of(net->forward(input)); };
  return model;
}

SmallModel linear_model(int64_t samples) {
  return with(on_device(nn::Sequential(nn::Linear(6, 9), nn::Tanh(), nn::Linear(9, 3))),
              random({samples, 6}));
}

SmallModel convolution() {
  return with(on_device(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 9, 3).padding(1)),
                                       nn::ReLU(),
                                       nn::MaxPool2d(2),
                                       nn::Conv2d(nn::Conv2dOptions(9, 4, 2).groups(1)),
                                       nn::Flatten(),
                                       nn::Linear(16, 3))),
              random({kSamples, 2, 6, 6}));
}

SmallModel grouped() {
  return with(on_device(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(4, 18, 3).groups(2)),
                                       nn::Tanh(),
                                       nn::Conv2d(nn::Conv2dOptions(18, 18, 2).groups(18)))),
              random({kSamples, 4, 5, 5}));
}

SmallModel sequence() {
  return with(on_device(nn::Sequential(nn::Linear(4, 10),
                                       nn::LayerNorm(nn::LayerNormOptions({10})),
                                       nn::GELU(),
                                       nn::Linear(10, 3))),
              random({kSamples, 7, 4}));
}

// Embedding and output share their weight: forms of different kinds, with cross terms.
SmallModel tied() {
  const Tensor table = random_parameter({8, 6}), scale = random_parameter({6});
  const Tensor tokens = random_integers({kSamples, 4}, 8);
  return {{{"table", table}, {"scale", scale}}, [=] {
            const Tensor hidden = at::embedding(table, tokens).tanh() * scale;
            return losses_of(at::matmul(hidden, table.t()));
          }};
}

// Slices of one parameter, one of them used by nobody.
SmallModel packed() {
  const Tensor weight = random_parameter({9, 5});
  const Tensor input = random({kSamples, 5});
  return {{{"weight", weight}}, [=] {
            const Tensor hidden = at::linear(input, weight.slice(0, 0, 4)).tanh();
            return losses_of(hidden * at::linear(input, weight.slice(0, 5, 9)));
          }};
}

// The input of a layer is itself a parameter, expanded and not copied.
SmallModel learned_input() {
  const Tensor start = random_parameter({6}), weight = random_parameter({4, 6});
  const Tensor input = random({kSamples, 4});
  return {{{"start", start}, {"weight", weight}}, [=] {
            const Tensor hidden = at::linear(start.unsqueeze(0).expand({kSamples, 6}), weight);
            return losses_of(hidden * input);
          }};
}

// No rule for the op in the middle: one backward pass per sample.
SmallModel slow() {
  auto before = on_device(nn::Linear(4, 5)), after = on_device(nn::Linear(5, 3));
  const Tensor input = random({kSamples, 4});
  return {{{"before.weight", before->weight},
           {"before.bias", before->bias},
           {"after.weight", after->weight}},
          [=]() mutable {
            const Tensor sorted = std::get<0>(before(input).sort(1));
            return losses_of(after(sorted.cumprod(1)));
          }};
}

SmallModel unused() {
  SmallModel model = linear_model(kSamples);
  model.parameters.push_back({"unused", random_parameter({3, 2})});
  return model;
}

}  // namespace

void PrintTo(const SmallModelCase& model, std::ostream* stream) { *stream << model.name; }

const std::vector<SmallModelCase>& small_models() {
  static const std::vector<SmallModelCase> models = {
      {"Linear", [] { return linear_model(kSamples); }},
      {"LinearOfOneSample", [] { return linear_model(1); }},
      {"Convolution", convolution},
      {"GroupedConvolution", grouped},
      {"Sequence", sequence},
      {"TiedWeights", tied},
      {"PackedWeights", packed},
      {"LearnedInput", learned_input},
      {"Slow", slow},
      {"UnusedParameter", unused},
  };
  return models;
}

void SmallModelTest::SetUp() {
  torch::manual_seed(11);
  model_ = GetParam().make();
}

Tensor SmallModelTest::losses() const {
  torch::manual_seed(13);  // losses_of draws its coefficients
  return model_.losses();
}

Tensor SmallModelTest::weights() const {
  return at::linspace(0.5, 2.0, losses().size(0), doubles());
}

}  // namespace flightdeck::tests
