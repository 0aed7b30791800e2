// SPDX-License-Identifier: MIT
#include "curvature/chain_oracle.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

// ---- one stage
// -----------------------------------------------------------------------------------

// Jacobians [N, out, in] of outputs [N, ...] by a tensor [N, ...] of which each sample reads its
// own line.
Tensor jacobians_by_sample(const Tensor& outputs, const Tensor& inputs) {
  const int64_t N = inputs.size(0);
  const Tensor all = jacobian(outputs, {inputs}).view({N, -1, N, inputs.numel() / N});
  return all.diagonal(0, 0, 2).permute({2, 0, 1}).contiguous();
}

// Jacobians [N, out, entries] by a tensor that all samples share.
Tensor jacobians_by_parameter(const Tensor& outputs, const Tensor& parameter) {
  return jacobian(outputs, {parameter}).view({outputs.size(0), -1, parameter.numel()});
}

// Second derivatives [N, in, in] of sum_k outputs_k * cotangents_k.
Tensor weighted_hessians(const Tensor& outputs, const Tensor& inputs, const Tensor& cotangents) {
  const Tensor slope = torch::autograd::grad({(outputs * cotangents).sum()},
                                             {inputs},
                                             /*grad_outputs=*/{},
                                             /*retain_graph=*/true,
                                             /*create_graph=*/true)[0];
  return jacobians_by_sample(slope, inputs);
}

// The positions of one sample's outputs [J, H, W] or [..., J]: which of its entries belong to
// position t and feature j.
Tensor positions_of(const Tensor& outputs, bool is_image) {
  const Tensor numbers = at::arange(outputs[0].numel(), at::kLong).view(outputs[0].sizes());
  const Tensor table = is_image ? numbers.flatten(1).t() : numbers.view({-1, outputs.size(-1)});
  return table.contiguous().to(outputs.device());
}

// Linear layers and convolutions. An output at position t and feature j is the product of the patch
// at t with line j of the weight, so the patch is the derivative of feature 0 by line 0.
void add_parameters(Stage& stage, const Tensor& weight, const Tensor& bias, const Tensor& outputs) {
  stage.positions = positions_of(outputs, /*is_image=*/weight.dim() == 4);
  stage.weight_jacobians = jacobians_by_parameter(outputs, weight);
  stage.bias_jacobians = jacobians_by_parameter(outputs, bias);
  const int64_t J = weight.size(0);
  stage.patches = stage.weight_jacobians.view({outputs.size(0), -1, J, weight.numel() / J})
                      .select(2, 0)
                      .index_select(1, stage.positions.select(1, 0));
}

Stage make_stage(const std::string& name,
                 nn::AnyModule& module,
                 const Tensor& inputs,
                 const Tensor& cotangents) {
  Stage stage;
  stage.name = name;
  const Tensor leaf = inputs.detach().requires_grad_(true);
  const Tensor outputs = module.forward(leaf);
  stage.jacobians = jacobians_by_sample(outputs, leaf);
  stage.residuals = weighted_hessians(outputs, leaf, cotangents);
  if (auto* linear = module.ptr()->as<nn::Linear>()) {
    add_parameters(stage, linear->weight, linear->bias, outputs);
  }
  if (auto* convolution = module.ptr()->as<nn::Conv2d>()) {
    TORCH_CHECK(convolution->options.groups() == 1, "chain oracle: a convolution has groups");
    add_parameters(stage, convolution->weight, convolution->bias, outputs);
  }
  return stage;
}

// ---- recursions
// ----------------------------------------------------------------------------------

// What a stage's second derivatives add to the curvature by its inputs.
Tensor kept_residuals(const Tensor& residuals, CurvatureKind kind) {
  switch (kind) {
    case CurvatureKind::kGgn:
      return at::zeros_like(residuals);
    case CurvatureKind::kHessian:
      return residuals;
    case CurvatureKind::kPchClip:
      return positive_part(residuals);
    case CurvatureKind::kPchAbs:
      return absolute_part(residuals);
    default:
      TORCH_CHECK(false, "chain oracle: there is no such recursion");
  }
}

Tensor congruences(const Tensor& jacobians, const Tensor& hessians) {
  return jacobians.transpose(1, 2).matmul(hessians).matmul(jacobians);
}

Tensor averaged(const Tensor& jacobians, const Tensor& hessian, BatchAverage average) {
  if (average == BatchAverage::kProducts) return mean_congruence(jacobians, hessian);
  const Tensor mean = jacobians.mean(0);
  return mean.t().matmul(hessian).matmul(mean);
}

// Adds one entry for each parameter of the stage, in front: stages are visited from the last on.
template <typename Entry, typename Make>
void prepend(std::vector<Entry>& list, const Stage& stage, const Make& make) {
  if (!stage.has_weight()) return;
  list.insert(list.begin(), make(stage.name + ".bias", stage.bias_jacobians));
  list.insert(list.begin(), make(stage.name + ".weight", stage.weight_jacobians));
}

// ---- Kronecker factors
// ---------------------------------------------------------------------------

Tensor input_factor(const Tensor& patches, WeightSharing sharing) {
  const double N = static_cast<double>(patches.size(0));
  const double T = static_cast<double>(patches.size(1));
  if (sharing == WeightSharing::kReduce) {
    const Tensor means = patches.mean(1);
    return means.t().matmul(means) / N;
  }
  const Tensor lines = patches.flatten(0, 1);
  const Tensor sum = lines.t().matmul(lines) / N;
  return sharing == WeightSharing::kExpand ? sum / T : sum;
}

// hessian [T * J, T * J] in the order of the outputs -> [J, J].
Tensor output_factor(const Tensor& hessian, const Tensor& positions, WeightSharing sharing) {
  const int64_t T = positions.size(0);
  const int64_t J = positions.size(1);
  const Tensor order = positions.flatten();
  const Tensor by_position =
      hessian.index_select(0, order).index_select(1, order).view({T, J, T, J});
  if (sharing == WeightSharing::kExpand) return by_position.diagonal(0, 0, 2).sum(2);
  return by_position.sum(at::IntArrayRef({0, 2}));
}

void prepend_factors(std::vector<FactorOracle>& list,
                     const Stage& stage,
                     const Tensor& mean_hessian,
                     WeightSharing sharing) {
  if (!stage.has_weight()) return;
  const Tensor output = output_factor(mean_hessian, stage.positions, sharing);
  // A bias has its whole block, however the positions of the weight are treated.
  const Tensor of_bias = output_factor(mean_hessian, stage.positions, WeightSharing::kPatchSums);
  list.insert(list.begin(), {stage.name + ".bias", of_bias, Tensor()});
  list.insert(list.begin(), {stage.name + ".weight", output, input_factor(stage.patches, sharing)});
}

// ---- the chains
// ----------------------------------------------------------------------------------

// The targets are drawn where the loss is formed, once for the model and once for the oracle.
constexpr uint64_t kLossSeed = 7;
constexpr int64_t N = 4;
constexpr int64_t kClasses = 3;

Tensor cross_entropy(const Tensor& outputs) {
  return cross_entropies(outputs, random_integers({N}, kClasses));
}

Tensor squared_error(const Tensor& outputs) {
  return mean_squared_errors(outputs, random(outputs.sizes()));
}

template <typename Activation>
ChainCase perceptron(const char* name, Activation activation, Tensor (*losses)(const Tensor&)) {
  const auto net = [activation] {
    return nn::Sequential(
        nn::Linear(5, 6), activation, nn::Linear(6, 4), activation, nn::Linear(4, kClasses));
  };
  return {name, net, {N, 5}, losses};
}

nn::Sequential pooled_net() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)),
                        nn::ReLU(),
                        nn::MaxPool2d(nn::MaxPool2dOptions(2)),
                        nn::Conv2d(nn::Conv2dOptions(3, 3, 2)),
                        nn::ReLU(),
                        nn::Flatten(),
                        nn::Linear(12, kClasses));
}

nn::Sequential strided_net() {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).stride(2).padding(1)),
                        nn::Sigmoid(),
                        nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(1)),
                        nn::Conv2d(nn::Conv2dOptions(3, 2, 2)),
                        nn::Tanh(),
                        nn::Flatten(),
                        nn::Linear(2, kClasses));
}

nn::Sequential position_wise_net() {
  return nn::Sequential(nn::Linear(4, 5), nn::Sigmoid(), nn::Linear(5, 2), nn::Flatten());
}

}  // namespace

ChainOracle::ChainOracle(nn::Sequential net, const Tensor& inputs, const Losses& losses) {
  std::vector<Tensor> values = {inputs.detach().requires_grad_(true)};
  for (nn::AnyModule& module : *net) values.push_back(module.forward(values.back()));
  const Tensor individual = losses(values.back());
  // Every sample reads its own lines, so the gradient of the sum holds those of all losses.
  const std::vector<Tensor> cotangents =
      torch::autograd::grad({individual.sum()}, values, {}, /*retain_graph=*/true);
  size_t i = 0;
  for (nn::AnyModule& module : *net) {
    stages_.push_back(make_stage(std::to_string(i), module, values[i], cotangents[i + 1]));
    ++i;
  }
  output_hessians_ = weighted_hessians(individual, values.back(), at::ones_like(individual));
}

std::vector<BlockOracle> ChainOracle::blocks(CurvatureKind kind) const {
  std::vector<BlockOracle> list;
  Tensor hessians = kind == CurvatureKind::kGgn ? positive_part(output_hessians_)
                                                : kept_residuals(output_hessians_, kind);
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    prepend(list, *stage, [&](const std::string& name, const Tensor& jacobians) {
      return BlockOracle{name, mean_congruence(jacobians, hessians)};
    });
    hessians = congruences(stage->jacobians, hessians) + kept_residuals(stage->residuals, kind);
  }
  return list;
}

std::vector<BlockOracle> ChainOracle::averaged_blocks(const AveragedBlocksOptions& options) const {
  // The mean over the samples of second derivatives, with what the kind keeps of them.
  const auto mean_kept = [&options](const Tensor& of_samples) {
    if (options.pch_order == PchOrder::kSampleFirst) {
      return kept_residuals(of_samples, options.kind).mean(0);
    }
    return kept_residuals(of_samples.mean(0), options.kind);
  };
  std::vector<BlockOracle> list;
  Tensor hessian = options.kind == CurvatureKind::kGgn ? positive_part(output_hessians_).mean(0)
                                                       : mean_kept(output_hessians_);
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    prepend(list, *stage, [&](const std::string& name, const Tensor& jacobians) {
      const BatchAverage average = options.parameter_average.value_or(options.average);
      return BlockOracle{name, averaged(jacobians, hessian, average)};
    });
    hessian = averaged(stage->jacobians, hessian, options.average) + mean_kept(stage->residuals);
  }
  return list;
}

std::vector<FactorOracle> ChainOracle::kflr(WeightSharing sharing) const {
  std::vector<FactorOracle> list;
  Tensor hessians = output_hessians_;
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    prepend_factors(list, *stage, hessians.mean(0), sharing);
    hessians = congruences(stage->jacobians, hessians);
  }
  return list;
}

std::vector<FactorOracle> ChainOracle::kfra(WeightSharing sharing) const {
  std::vector<FactorOracle> list;
  Tensor hessian = output_hessians_.mean(0);
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    prepend_factors(list, *stage, hessian, sharing);
    hessian = mean_congruence(stage->jacobians, hessian);
  }
  return list;
}

ChainTest::ChainTest() : model_{{}, {}, std::vector<NamedParameter>{}} {
  torch::manual_seed(20240229);
  net_ = on_device(GetParam().net());
  inputs_ = random(GetParam().input_shape);
  model_.outputs = net_->forward(inputs_);
  torch::manual_seed(kLossSeed);
  model_.losses = GetParam().losses(model_.outputs);
  model_.parameters = net_->named_parameters();
}

const ChainOracle& ChainTest::oracle() const {
  return kept(GetParam().name, [this] {
    torch::manual_seed(kLossSeed);
    return ChainOracle(net_, inputs_, GetParam().losses);
  });
}

const DenseCurvature& ChainTest::dense() const {
  return kept(GetParam().name,
              [this] { return dense_curvature(model_.losses, model_.outputs, model_.parameters); });
}

void PrintTo(const ChainCase& chain, std::ostream* stream) { *stream << chain.name; }

std::string name_of_chain(const ::testing::TestParamInfo<ChainCase>& instance) {
  return instance.param.name;
}

std::vector<ChainCase> perceptrons() {
  return {perceptron("relu", nn::ReLU(), cross_entropy),
          perceptron("sigmoid", nn::Sigmoid(), cross_entropy),
          perceptron("tanh_squared_error", nn::Tanh(), squared_error),
          perceptron("softplus", nn::Softplus(), cross_entropy),
          perceptron("gelu_squared_error", nn::GELU(), squared_error)};
}

std::vector<ChainCase> convolutional_chains() {
  return {{"pooled_net", pooled_net, {N, 2, 6, 6}, cross_entropy},
          {"strided_net", strided_net, {N, 2, 5, 5}, squared_error}};
}

std::vector<ChainCase> position_wise_chains() {
  return {{"position_wise_net", position_wise_net, {N, 3, 4}, squared_error}};
}

std::vector<ChainCase> all_chains() {
  std::vector<ChainCase> all = perceptrons();
  for (const auto& more : {convolutional_chains(), position_wise_chains()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace flightdeck::tests
