// SPDX-License-Identifier: MIT
// Newton steps by Hessian backpropagation and conjugate gradients, parameter by parameter or, with
// `row_blocks`, for some lines of each at a time: [damping I + (1 - damping) C] d = g,
// x <- x - rate d. C is the curvature of the objective, its penalty included: by exact products
// with the batch's matrix, or an explicit batch average.
#pragma once

#include <memory>

#include <torch/autograd.h>

#include "flightdeck/products.h"
#include "flightdeck/spectra.h"
#include "suite/optimizers/curvature/newton_step.h"

namespace flightdeck::suite {

/// damping I + (1 - damping) (C + l2 I)
class LimitedOperator : public LinearOperator {
 public:
  LimitedOperator(std::shared_ptr<const LinearOperator> curvature, double damping, double l2)
      : curvature_(std::move(curvature)), damping_(damping), l2_(l2) {}
  int64_t dim() const override { return curvature_->dim(); }
  at::TensorOptions options() const override { return curvature_->options(); }
  Tensor multiply(const Tensor& vectors) const override {
    return curvature_->multiply(vectors)
        .mul(1.0 - damping_)
        .add_(vectors, damping_ + (1.0 - damping_) * l2_);
  }

 private:
  std::shared_ptr<const LinearOperator> curvature_;
  double damping_, l2_;
};

class HbpOptions : public NewtonStepOptions {
 public:
  double averaged = 0;  ///< 0: exact products; 1: mean of products; 2: mean Jacobians
  /// As `averaged`, for the Jacobians by parameters; 0: the same.
  double parameter_averaged = 0;
  double sample_first = 0;  ///< 1: the PCH of averages drops what is negative sample by sample
  double row_blocks = 1;    ///< blocks that the lines of every parameter are solved in, each apart
  double cg_tolerance = 0.1;
  double cg_iterations = 200;

  HbpOptions() {
    learning_rate = 0.1;
    damping = 1e-3;
  }

  std::vector<Field> fields() override {
    Field limit = positive("damping", "limits the step: share of the gradient in it", damping);
    limit.about.high = 1.0;
    limit.about.includes_high = true;
    Field average = whole(not_negative(
        "averaged", "0: exact products; 1: mean of products; 2: mean Jacobians", averaged));
    Field of_parameters =
        whole(not_negative("parameter_averaged",
                           "as averaged, for the Jacobians by parameters; 0: same",
                           parameter_averaged));
    for (Field* field : {&average, &of_parameters}) {
      field->about.high = 2.0;
      field->about.includes_high = true;
    }
    return {
        searched(rate_field(learning_rate), one_of({0.05, 0.1, 0.2})),
        searched(limit, one_of({1e-4, 1e-3, 1e-2})),
        average,
        of_parameters,
        yes_or_no("sample_first",
                  "1: averaged PCH drops what is negative before the average, not after",
                  sample_first),
        whole(positive(
            "row_blocks", "blocks of lines of a parameter, each solved apart", row_blocks)),
        positive("cg_tolerance", "residual at which a solve ends, of the gradient", cg_tolerance),
        whole(positive("cg_iterations", "at most so many for each parameter", cg_iterations)),
        weight_decay_field(weight_decay)};
  }
  std::vector<std::vector<Tensor>> measure(const Observation& observation) const override {
    TORCH_CHECK_VALUE(observation.objective.losses.requires_grad(),
                      name(),
                      ": the observed losses have no graph; observe them as the model gave them");
    const std::vector<Tensor> gradients = gradients_of(observation);
    const Blocks blocks =
        averaged == 0 ? exact_blocks(observation, gradients) : averaged_blocks(observation);
    at::NoGradGuard without_gradients;
    std::vector<std::vector<Tensor>> all(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!gradients[i].defined() || blocks[i] == nullptr) continue;
      const Tensor right = gradients[i].add(observation.parameters[i].tensor, observation.l2[i]);
      all[i] = {solve_by_lines(blocks[i], observation.l2[i], right)};
    }
    return all;
  }

 protected:
  virtual CurvatureKind kind() const = 0;

 private:
  using Blocks = std::vector<std::shared_ptr<const LinearOperator>>;

  // Returns null for a parameter that the losses do not depend on.
  Blocks exact_blocks(const Observation& observation, const std::vector<Tensor>& gradients) const {
    Blocks blocks(gradients.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!gradients[i].defined()) continue;
      blocks[i] = curvature_operator(
          observation.batch(std::vector<NamedParameter>{observation.parameters[i]}), kind());
    }
    return blocks;
  }
  Blocks averaged_blocks(const Observation& observation) const {
    AveragedBlocksOptions asked;
    asked.kind = kind();
    asked.average = average_of(averaged);
    if (parameter_averaged != 0) asked.parameter_average = average_of(parameter_averaged);
    asked.pch_order = sample_first != 0 ? PchOrder::kSampleFirst : PchOrder::kAverageFirst;
    Blocks blocks;
    for (const AveragedBlock& each : flightdeck::averaged_blocks(observation.batch(), asked)) {
      blocks.push_back(each.block);
    }
    return blocks;
  }
  static BatchAverage average_of(double number) {
    return number == 1 ? BatchAverage::kProducts : BatchAverage::kJacobians;
  }
  static std::vector<Tensor> gradients_of(const Observation& observation) {
    std::vector<Tensor> tensors;
    for (const NamedParameter& parameter : observation.parameters) {
      tensors.push_back(parameter.tensor);
    }
    at::AutoGradMode with_gradients(true);
    return torch::autograd::grad({observation.objective.losses.mean()},
                                 tensors,
                                 {},
                                 /*retain_graph=*/true,
                                 /*create_graph=*/false,
                                 /*allow_unused=*/true);
  }
  // Solves each block of lines alone, as if all between the blocks were zero.
  Tensor solve_by_lines(const std::shared_ptr<const LinearOperator>& whole,
                        double l2,
                        const Tensor& right) const {
    const Tensor flat = right.reshape({-1});
    std::vector<Tensor> parts;
    for (const auto& [begin, end] : line_blocks(right, static_cast<int64_t>(row_blocks))) {
      const auto part = std::make_shared<SubBlockOperator>(whole, begin, end);
      parts.push_back(solve(LimitedOperator(part, damping, l2), flat.slice(0, begin, end)));
    }
    return at::cat(parts).view(right.sizes());
  }
  Tensor solve(const LinearOperator& matrix, const Tensor& right) const {
    SolveOptions options;
    options.tolerance = cg_tolerance;
    options.max_iterations = static_cast<int64_t>(cg_iterations);
    return conjugate_gradients(matrix, right.reshape({1, -1}), options).vectors.view(right.sizes());
  }
};

}  // namespace flightdeck::suite
