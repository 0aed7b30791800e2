// SPDX-License-Identifier: MIT
// Curvature that is defined layer by layer, for chains of modules: Kronecker factors, the
// positive-curvature Hessian and Hessian backpropagation with batch averages. Every Jacobian and
// every second derivative of a stage is written out by plain autograd.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "curvature/models.h"

namespace flightdeck::tests {

// One module of a chain on a fixed batch.
struct Stage {
  std::string name;         // its position in the chain, as in the parameters' names
  Tensor jacobians;         // [N, out, in]: by its inputs
  Tensor residuals;         // [N, in, in]: sum_k (second derivative of output k) * dl/d(output k)
  Tensor weight_jacobians;  // [N, out, entries]; undefined where it has no weight
  Tensor bias_jacobians;    // [N, out, entries]; undefined where it has no bias
  Tensor patches;           // [N, T, I]: what the weight meets at each position
  Tensor positions;         // [T, J]: where the outputs of each position lie among all of them

  bool has_weight() const { return weight_jacobians.defined(); }
};

struct BlockOracle {
  std::string name;  // of the parameter
  Tensor block;      // [D, D]
};

struct FactorOracle {
  std::string name;  // of the parameter
  Tensor output;     // [J, J]
  Tensor input;      // [I, I]; undefined for a bias
};

class ChainOracle {
 public:
  using Losses = std::function<Tensor(const Tensor& outputs)>;
  // Convolutions must have one group.
  ChainOracle(torch::nn::Sequential net, const Tensor& inputs, const Losses& losses);

  // The mean over the samples of every parameter's exact block: kGgn, kHessian or a PCH.
  std::vector<BlockOracle> blocks(CurvatureKind kind) const;
  // The same by the recursion that keeps one matrix for all samples.
  std::vector<BlockOracle> averaged_blocks(const AveragedBlocksOptions& options) const;
  std::vector<BlockOracle> averaged_blocks(CurvatureKind kind, BatchAverage average) const {
    AveragedBlocksOptions options;
    options.kind = kind;
    options.average = average;
    return averaged_blocks(options);
  }

  // Kronecker factors from the exact Hessian of each sample's loss, or from the batch average.
  std::vector<FactorOracle> kflr(WeightSharing sharing) const;
  std::vector<FactorOracle> kfra(WeightSharing sharing) const;

 private:
  std::vector<Stage> stages_;
  Tensor output_hessians_;  // [N, C, C]
};

// A chain and its loss, made anew with the same numbers each time.
struct ChainCase {
  std::string name;
  std::function<torch::nn::Sequential()> net;
  std::vector<int64_t> input_shape;
  std::function<Tensor(const Tensor& outputs)> losses;
};

// A test of one chain.
class ChainTest : public ::testing::TestWithParam<ChainCase> {
 protected:
  ChainTest();

  const ChainOracle& oracle() const;
  const DenseCurvature& dense() const;

  torch::nn::Sequential net_ = nullptr;
  Tensor inputs_;
  Model model_;
};

void PrintTo(const ChainCase& chain, std::ostream* stream);
std::string name_of_chain(const ::testing::TestParamInfo<ChainCase>& instance);

// Chains of linear layers and activations, and chains with convolutions and pooling.
std::vector<ChainCase> perceptrons();
std::vector<ChainCase> convolutional_chains();
// Linear layers that are used at every position of a sequence.
std::vector<ChainCase> position_wise_chains();
std::vector<ChainCase> all_chains();

}  // namespace flightdeck::tests
