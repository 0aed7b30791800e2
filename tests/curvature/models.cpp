// SPDX-License-Identifier: MIT
#include "curvature/models.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t N = 4;
constexpr int64_t kClasses = 3;
constexpr int64_t kSteps = 3;  // positions of a sequence

// ---- losses
// --------------------------------------------------------------------------------------

Tensor labels() { return random_integers({N}, kClasses); }

Tensor plain_cross_entropy(const Tensor& outputs) { return cross_entropies(outputs, labels()); }

Tensor weighted_cross_entropy(const Tensor& outputs) {
  const Tensor weight = at::tensor({0.5, 1.0, 3.0}, at::kDouble).to(test_device());
  return F::cross_entropy(
      outputs, labels(), F::CrossEntropyFuncOptions().weight(weight).reduction(torch::kNone));
}

Tensor smoothed_cross_entropy(const Tensor& outputs) {
  return F::cross_entropy(
      outputs, labels(), F::CrossEntropyFuncOptions().label_smoothing(0.2).reduction(torch::kNone));
}

Tensor log_likelihood(const Tensor& outputs) {
  return F::nll_loss(
      outputs.log_softmax(1), labels(), F::NLLLossFuncOptions().reduction(torch::kNone));
}

Tensor squared_error(const Tensor& outputs) {
  return mean_squared_errors(outputs, random(outputs.sizes()));
}

Tensor summed_squared_error(const Tensor& outputs) {
  return F::mse_loss(
             outputs, random(outputs.sizes()), F::MSELossFuncOptions().reduction(torch::kNone))
      .sum(1);
}

Tensor binary_cross_entropy(const Tensor& outputs) {
  return F::binary_cross_entropy_with_logits(
             outputs,
             random(outputs.sizes()).sigmoid(),
             F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone))
      .mean(1);
}

// Outputs [N, T, C]; the loss of a sample is the mean over its positions.
Tensor cross_entropy_of_positions(const Tensor& outputs) {
  return cross_entropies(outputs.flatten(0, 1), random_integers({N * kSteps}, kClasses))
      .view({N, kSteps})
      .mean(1);
}

// The same with every other position left out.
Tensor cross_entropy_of_some_positions(const Tensor& outputs) {
  const Tensor targets = random_integers({N * kSteps}, kClasses);
  targets.slice(0, 0, N * kSteps, 2).fill_(-100);
  return F::cross_entropy(outputs.flatten(0, 1),
                          targets,
                          F::CrossEntropyFuncOptions().ignore_index(-100).reduction(torch::kNone))
      .view({N, kSteps})
      .sum(1);
}

using Loss = Tensor (*)(const Tensor& outputs);

Model finish(const Tensor& outputs, Loss loss, const Parameters& parameters) {
  return {loss(outputs), outputs, parameters};
}

// ---- models
// --------------------------------------------------------------------------------------

std::function<Model()> sequential(std::function<nn::Sequential()> make,
                                  std::vector<int64_t> input_shape,
                                  Loss loss) {
  return [=] {
    nn::Sequential net = on_device(make());
    return finish(net->forward(random(input_shape)), loss, net->named_parameters());
  };
}

// Three linear layers with an activation between them.
template <typename Activation>
std::function<Model()> perceptron(Activation activation, Loss loss) {
  const auto make = [activation] {
    return nn::Sequential(
        nn::Linear(5, 6), activation, nn::Linear(6, 5), activation, nn::Linear(5, kClasses));
  };
  return sequential(make, {N, 5}, loss);
}

nn::Sequential pooled_convolutions() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)),
                        nn::ReLU(),
                        nn::MaxPool2d(nn::MaxPool2dOptions(2)),
                        nn::Conv2d(nn::Conv2dOptions(3, 3, 2).padding(1)),
                        nn::ReLU(),
                        nn::AvgPool2d(nn::AvgPool2dOptions(2)),
                        nn::Flatten(),
                        nn::Linear(12, kClasses));
}

nn::Sequential strided_convolutions() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 4, 3).stride(2).padding(1)),
                        nn::Sigmoid(),
                        nn::Conv2d(nn::Conv2dOptions(4, 4, 2).dilation(2).groups(2)),
                        nn::Tanh(),
                        nn::Flatten(),
                        nn::Linear(16, kClasses));
}

nn::Sequential group_normalized() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 4, 2)),
                        nn::GroupNorm(2, 4),
                        nn::Sigmoid(),
                        nn::Flatten(),
                        nn::Linear(16, kClasses));
}

nn::Sequential transposed_convolution() {
  return nn::Sequential(
      nn::Linear(4, 8),
      nn::Tanh(),
      nn::Unflatten(nn::UnflattenOptions(1, {2, 2, 2})),
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 3, 2).stride(2).padding(1)),
      nn::Flatten());
}

Model residual_net() {
  auto stem = on_device(nn::Linear(4, 5));
  auto branch = on_device(nn::Linear(5, 5));
  auto head = on_device(nn::Linear(5, kClasses));
  const Tensor hidden = stem(random({N, 4}));
  return finish(head(hidden + branch(hidden.relu()).relu()),
                squared_error,
                ParameterList().add("stem", stem).add("branch", branch).add("head", head));
}

Model convolutional_residual_net() {
  auto stem = on_device(nn::Conv2d(nn::Conv2dOptions(1, 3, 3).padding(1)));
  auto branch = on_device(nn::Conv2d(nn::Conv2dOptions(3, 3, 3).padding(1).bias(false)));
  auto head = on_device(nn::Linear(3, kClasses));
  const Tensor hidden = stem(random({N, 1, 4, 4}));
  const Tensor pooled = (hidden + branch(at::silu(hidden))).mean({2, 3});
  return finish(head(pooled),
                plain_cross_entropy,
                ParameterList().add("stem", stem).add("branch", branch).add("head", head));
}

// An Elman net, unrolled by hand: every step uses the same weights.
Model recurrent_net() {
  auto input = on_device(nn::Linear(3, 4));
  auto recurrence = on_device(nn::Linear(nn::LinearOptions(4, 4).bias(false)));
  auto head = on_device(nn::Linear(4, kClasses));
  const Tensor sequence = random({N, kSteps, 3});
  Tensor hidden = at::zeros({N, 4}, doubles());
  for (int64_t t = 0; t < kSteps; ++t) {
    hidden = (input(sequence.select(1, t)) + recurrence(hidden)).tanh();
  }
  return finish(
      head(hidden),
      plain_cross_entropy,
      ParameterList().add("input", input).add("recurrence", recurrence).add("head", head));
}

// The same with a loss at every step.
Model recurrent_tagger() {
  auto cell = on_device(nn::GRUCell(3, 3));
  auto head = on_device(nn::Linear(3, kClasses));
  const Tensor sequence = random({N, kSteps, 3});
  Tensor hidden = at::zeros({N, 3}, doubles());
  std::vector<Tensor> states;
  for (int64_t t = 0; t < kSteps; ++t) {
    hidden = cell(sequence.select(1, t), hidden);
    states.push_back(hidden);
  }
  return finish(head(at::stack(states, 1)),
                cross_entropy_of_positions,
                ParameterList().add("cell", cell).add("head", head));
}

Model attention_block() {
  constexpr int64_t kWidth = 4;
  auto query = on_device(nn::Linear(kWidth, kWidth));
  auto key = on_device(nn::Linear(kWidth, kWidth));
  auto value = on_device(nn::Linear(kWidth, kWidth));
  auto norm = on_device(nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  auto head = on_device(nn::Linear(kWidth, kClasses));
  const Tensor tokens = random({N, kSteps, kWidth});
  const Tensor scores = at::bmm(query(tokens), key(tokens).transpose(1, 2)) / 2.0;
  const Tensor mixed = at::bmm(scores.softmax(2), value(tokens));
  return finish(head(norm(tokens + mixed).mean(1)),
                plain_cross_entropy,
                ParameterList()
                    .add("query", query)
                    .add("key", key)
                    .add("value", value)
                    .add("norm", norm)
                    .add("head", head));
}

Model bag_of_embeddings() {
  auto embedding = on_device(nn::Embedding(7, 4));
  auto head = on_device(nn::Linear(4, kClasses));
  return finish(head(embedding(random_integers({N, kSteps}, 7)).mean(1)),
                plain_cross_entropy,
                ParameterList().add("embedding", embedding).add("head", head));
}

template <Loss loss>
Model position_wise_net() {
  auto first = on_device(nn::Linear(4, 5));
  auto second = on_device(nn::Linear(5, kClasses));
  return finish(second(first(random({N, kSteps, 4})).sigmoid()),
                loss,
                ParameterList().add("first", first).add("second", second));
}

// Decodes with the transposed weight of the encoder.
Model tied_autoencoder() {
  const Tensor weight = random_parameter({3, 6});
  const Tensor inner = random_parameter({3});
  const Tensor outer = random_parameter({6});
  const Tensor code = at::linear(random({N, 6}), weight, inner).sigmoid();
  return finish(at::linear(code, weight.t(), outer),
                squared_error,
                ParameterList().add("weight", weight).add("inner", inner).add("outer", outer));
}

Model gated_unit() {
  auto content = on_device(nn::Linear(4, 5));
  auto gate = on_device(nn::Linear(4, 5));
  auto head = on_device(nn::Linear(5, kClasses));
  const Tensor input = random({N, 4});
  return finish(head(content(input).tanh() * gate(input).sigmoid()),
                binary_cross_entropy,
                ParameterList().add("content", content).add("gate", gate).add("head", head));
}

Model multiplicative_skip() {
  auto stem = on_device(nn::Linear(4, 5));
  auto scale = on_device(nn::Linear(5, 5));
  auto head = on_device(nn::Linear(5, kClasses));
  const Tensor hidden = stem(random({N, 4}));
  return finish(head(hidden * (1.0 + scale(hidden).tanh())),
                plain_cross_entropy,
                ParameterList().add("stem", stem).add("scale", scale).add("head", head));
}

// Each token goes to one of two experts, weighed by the router, and back to its place.
Model mixture_of_experts() {
  constexpr int64_t kWidth = 3;
  auto stem = on_device(nn::Linear(2, kWidth));
  auto router = on_device(nn::Linear(kWidth, 2));
  auto head = on_device(nn::Linear(kWidth, kClasses));
  const Tensor experts = random_parameter({2, kWidth, kWidth});
  const Tensor tokens = stem(random({N, kSteps, 2})).view({-1, kWidth});
  const auto [weights, chosen] = router(tokens).softmax(1).topk(1, 1);
  Tensor mixed = tokens;
  for (int64_t e = 0; e < 2; ++e) {
    const Tensor own = chosen.squeeze(1).eq(e).nonzero().squeeze(1);
    const Tensor made = at::linear(tokens.index({own}), experts[e]).tanh();
    mixed = mixed.index_add(0, own, made * weights.index({own}));
  }
  return finish(head(mixed.view({N, kSteps, kWidth}).mean(1)),
                plain_cross_entropy,
                ParameterList()
                    .add("stem", stem)
                    .add("router", router)
                    .add("experts", experts)
                    .add("head", head));
}

Model batch_norm_in_evaluation() {
  auto first = on_device(nn::Linear(4, 5));
  auto norm = on_device(nn::BatchNorm1d(5));
  auto head = on_device(nn::Linear(5, kClasses));
  norm->running_mean.normal_();
  norm->running_var.uniform_(0.5, 2.0);
  norm->eval();
  return finish(head(norm(first(random({N, 4}))).tanh()),
                plain_cross_entropy,
                ParameterList().add("first", first).add("norm", norm).add("head", head));
}

std::vector<ModelCase> table() {
  const auto logistic = [] { return nn::Sequential(nn::Linear(5, kClasses)); };
  constexpr bool kPiecewiseLinear = true;
  return {
      {"logistic_regression", sequential(logistic, {N, 5}, plain_cross_entropy), kPiecewiseLinear},
      {"relu_perceptron", perceptron(nn::ReLU(), plain_cross_entropy), kPiecewiseLinear},
      {"sigmoid_perceptron", perceptron(nn::Sigmoid(), plain_cross_entropy)},
      {"tanh_perceptron_squared_error", perceptron(nn::Tanh(), squared_error)},
      {"gelu_perceptron_binary", perceptron(nn::GELU(), binary_cross_entropy)},
      {"silu_perceptron_class_weights", perceptron(nn::SiLU(), weighted_cross_entropy)},
      {"softplus_perceptron_label_smoothing", perceptron(nn::Softplus(), smoothed_cross_entropy)},
      {"elu_perceptron_log_likelihood", perceptron(nn::ELU(), log_likelihood)},
      {"tanh_perceptron_summed_error", perceptron(nn::Tanh(), summed_squared_error)},
      {"pooled_convolutions",
       sequential(pooled_convolutions, {N, 2, 6, 6}, plain_cross_entropy),
       kPiecewiseLinear},
      {"strided_convolutions", sequential(strided_convolutions, {N, 2, 7, 7}, squared_error)},
      {"group_norm", sequential(group_normalized, {N, 2, 3, 3}, plain_cross_entropy)},
      {"transposed_convolution", sequential(transposed_convolution, {N, 4}, squared_error)},
      {"residual_net", residual_net, kPiecewiseLinear},
      {"convolutional_residual_net", convolutional_residual_net},
      {"recurrent_net", recurrent_net},
      {"recurrent_tagger", recurrent_tagger},
      {"attention_block", attention_block},
      {"bag_of_embeddings", bag_of_embeddings, kPiecewiseLinear},
      {"position_wise_net", position_wise_net<cross_entropy_of_positions>},
      {"ignored_positions", position_wise_net<cross_entropy_of_some_positions>},
      {"tied_autoencoder", tied_autoencoder},
      {"gated_unit", gated_unit},
      {"multiplicative_skip", multiplicative_skip},
      {"mixture_of_experts", mixture_of_experts},
      {"batch_norm_in_evaluation", batch_norm_in_evaluation},
  };
}

}  // namespace

Tensor cross_entropies(const Tensor& outputs, const Tensor& labels) {
  return F::cross_entropy(outputs, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

Tensor mean_squared_errors(const Tensor& outputs, const Tensor& targets) {
  return F::mse_loss(outputs, targets, F::MSELossFuncOptions().reduction(torch::kNone))
      .flatten(1)
      .mean(1);
}

void PrintTo(const ModelCase& model, std::ostream* stream) { *stream << model.name; }

std::string name_of_model(const ::testing::TestParamInfo<ModelCase>& instance) {
  return instance.param.name;
}

const std::vector<ModelCase>& models() {
  static const std::vector<ModelCase> all = table();
  return all;
}

const ModelCase& model_named(const std::string& name) {
  for (const ModelCase& model : models()) {
    if (model.name == name) return model;
  }
  TORCH_CHECK(false, "there is no model named ", name);
}

Model make_model(const ModelCase& model) {
  torch::manual_seed(20240229);
  return model.make();
}

ModelTest::ModelTest() : model_(make_model(GetParam())) {}

const DenseCurvature& ModelTest::dense() const {
  return kept(GetParam().name,
              [this] { return dense_curvature(model_.losses, model_.outputs, model_.parameters); });
}

}  // namespace flightdeck::tests
