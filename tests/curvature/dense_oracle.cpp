// SPDX-License-Identifier: MIT
#include "curvature/dense_oracle.h"

#include <numeric>
#include <tuple>

#include <torch/torch.h>

namespace flightdeck::tests {
namespace {

// One line of a Jacobian. An output that is constant has no graph.
Tensor derivative(const Tensor& output, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> parts(inputs.size());
  if (output.requires_grad()) {
    parts = torch::autograd::grad({output},
                                  inputs,
                                  /*grad_outputs=*/{},
                                  /*retain_graph=*/true,
                                  /*create_graph=*/false,
                                  /*allow_unused=*/true);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!parts[i].defined()) parts[i] = at::zeros_like(inputs[i]);
    parts[i] = parts[i].detach().flatten();
  }
  return at::cat(parts);
}

// The derivative with a graph of its own, for the second one.
Tensor differentiable(const Tensor& output, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> parts = torch::autograd::grad({output},
                                                    inputs,
                                                    /*grad_outputs=*/{},
                                                    /*retain_graph=*/true,
                                                    /*create_graph=*/true,
                                                    /*allow_unused=*/true);
  for (size_t i = 0; i < inputs.size(); ++i) {
    parts[i] = parts[i].defined() ? parts[i].flatten() : at::zeros_like(inputs[i]).flatten();
  }
  return at::cat(parts);
}

Tensor with_eigenvalues(const Tensor& matrices, Tensor (*change)(const Tensor&)) {
  const auto [values, vectors] = at::linalg_eigh(matrices);
  return (vectors * change(values).unsqueeze(-2)).matmul(vectors.transpose(-2, -1));
}

// The blocks (n, n) of a matrix of N by N blocks, [N, rows / N, columns / N].
Tensor diagonal_blocks(const Tensor& matrix, int64_t count) {
  const Tensor blocks = matrix.view({count, matrix.size(0) / count, count, matrix.size(1) / count});
  return blocks.diagonal(0, 0, 2).permute({2, 0, 1}).contiguous();
}

}  // namespace

Tensor jacobian(const Tensor& outputs, const std::vector<Tensor>& inputs) {
  const Tensor flat = outputs.flatten();
  std::vector<Tensor> lines;
  for (int64_t m = 0; m < flat.numel(); ++m) lines.push_back(derivative(flat[m], inputs));
  return at::stack(lines);
}

std::vector<Tensor> tensors_of(const Parameters& parameters) {
  std::vector<Tensor> tensors;
  for (const NamedParameter& parameter : parameters) tensors.push_back(parameter.tensor);
  return tensors;
}

std::vector<int64_t> offsets_of(const Parameters& parameters) {
  std::vector<int64_t> offsets = {0};
  for (const NamedParameter& parameter : parameters) {
    offsets.push_back(offsets.back() + parameter.tensor.numel());
  }
  return offsets;
}

int64_t entries_of(const Parameters& parameters) { return offsets_of(parameters).back(); }

Tensor entries_of_group(const Parameters& parameters, const std::vector<size_t>& group) {
  const std::vector<int64_t> offsets = offsets_of(parameters);
  std::vector<Tensor> entries;
  for (size_t i : group) entries.push_back(at::arange(offsets[i], offsets[i + 1], at::kLong));
  return at::cat(entries).to(parameters[0].tensor.device());
}

Tensor block(const Tensor& matrix, const Parameters& parameters, const std::vector<size_t>& group) {
  const Tensor entries = entries_of_group(parameters, group);
  return matrix.index_select(0, entries).index_select(1, entries);
}

Tensor within_groups(const Tensor& matrix,
                     const Parameters& parameters,
                     const std::vector<std::vector<size_t>>& groups) {
  Tensor kept = at::zeros_like(matrix);
  for (const std::vector<size_t>& group : groups) {
    const Tensor member = at::zeros({matrix.size(0)}, matrix.options());
    member.index_fill_(0, entries_of_group(parameters, group), 1.0);
    kept += matrix * member.outer(member);
  }
  return kept;
}

std::vector<std::vector<size_t>> each_alone(const Parameters& parameters) {
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < parameters.size(); ++i) groups.push_back({i});
  return groups;
}

Tensor positive_part(const Tensor& matrices) {
  return with_eigenvalues(matrices, [](const Tensor& values) { return values.clamp_min(0.0); });
}

Tensor absolute_part(const Tensor& matrices) {
  return with_eigenvalues(matrices, [](const Tensor& values) { return values.abs(); });
}

Tensor mean_congruence(const Tensor& jacobians, const Tensor& hessians) {
  return jacobians.transpose(1, 2).matmul(hessians).matmul(jacobians).mean(0);
}

DenseCurvature DenseCurvature::select(const std::vector<int64_t>& samples) const {
  if (samples.empty()) return *this;
  const Tensor index = at::tensor(samples, at::kLong).to(gradients.device());
  return {gradients.index_select(0, index),
          hessians.index_select(0, index),
          jacobians.index_select(0, index),
          output_hessians.index_select(0, index)};
}

Tensor DenseCurvature::ggns() const {
  return jacobians.transpose(1, 2).matmul(output_hessians).matmul(jacobians);
}

Tensor DenseCurvature::empirical_fisher() const {
  return gradients.t().matmul(gradients) / static_cast<double>(batch_size());
}

DenseCurvature dense_curvature(const Tensor& losses,
                               const Tensor& outputs,
                               const Parameters& parameters) {
  const std::vector<Tensor> inputs = tensors_of(parameters);
  const int64_t N = losses.size(0);
  DenseCurvature dense;
  std::vector<Tensor> gradients, hessians;
  for (int64_t n = 0; n < N; ++n) {
    const Tensor gradient = differentiable(losses[n], inputs);
    gradients.push_back(gradient.detach());
    hessians.push_back(jacobian(gradient, inputs));
  }
  dense.gradients = at::stack(gradients);
  dense.hessians = at::stack(hessians);
  dense.jacobians = jacobian(outputs, inputs).view({N, -1, entries_of(parameters)});
  // A loss reads its own outputs only, so the Hessian of the sum consists of those of the losses.
  const Tensor by_outputs = differentiable(losses.sum(), {outputs});
  dense.output_hessians = diagonal_blocks(jacobian(by_outputs, {outputs}), N);
  return dense;
}

}  // namespace flightdeck::tests
