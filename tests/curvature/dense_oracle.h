// SPDX-License-Identifier: MIT
// Curvature matrices of small models, written out: by plain autograd, one entry at a time, and from
// there by their definitions.
#pragma once

#include <cstddef>
#include <vector>

#include "flightdeck/flightdeck.h"

namespace flightdeck::tests {

// Results are compared relative to the largest entry of what is expected. Second derivatives
// through a dozen layers lose six of sixteen digits at most; this leaves a factor of a hundred.
constexpr double kCurvatureTolerance = 1e-8;

// Jacobian [M, D] of a tensor with M entries by tensors with D entries in all; both flattened.
// An input that does not take part has zero columns.
Tensor jacobian(const Tensor& outputs, const std::vector<Tensor>& inputs);

// The parameters' tensors, their number of entries in all, and where each one's entries lie in
// the flattened and concatenated vector.
std::vector<Tensor> tensors_of(const Parameters& parameters);
int64_t entries_of(const Parameters& parameters);
std::vector<int64_t> offsets_of(const Parameters& parameters);  // size() + 1 numbers

// Positions of the group's entries in the concatenated vector, [D_group].
Tensor entries_of_group(const Parameters& parameters, const std::vector<size_t>& group);
// The part of a matrix [D, D] that lies within the group, [D_group, D_group].
Tensor block(const Tensor& matrix, const Parameters& parameters, const std::vector<size_t>& group);
// The matrix with everything outside the groups' blocks set to zero, [D, D].
Tensor within_groups(const Tensor& matrix,
                     const Parameters& parameters,
                     const std::vector<std::vector<size_t>>& groups);
// Every parameter in a group of its own.
std::vector<std::vector<size_t>> each_alone(const Parameters& parameters);

// Symmetric matrices [..., D, D] with their eigenvalues clipped at zero, or replaced by their
// magnitudes.
Tensor positive_part(const Tensor& matrices);
Tensor absolute_part(const Tensor& matrices);

// (1/N) sum_n J_nᵀ H J_n for jacobians [N, C, D] and one H [C, C] or N of them.
Tensor mean_congruence(const Tensor& jacobians, const Tensor& hessians);

// Everything the curvature of N samples is made of.
struct DenseCurvature {
  Tensor gradients;        // [N, D]: g_n
  Tensor hessians;         // [N, D, D]: of l_n
  Tensor jacobians;        // [N, C, D]: of the n-th sample's outputs
  Tensor output_hessians;  // [N, C, C]: of l_n by the n-th sample's outputs

  int64_t batch_size() const { return gradients.size(0); }
  int64_t dim() const { return gradients.size(1); }
  // The same for these samples only, in this order; empty means all.
  DenseCurvature select(const std::vector<int64_t>& samples) const;

  Tensor gradient() const { return gradients.mean(0); }  // of the mean loss, [D]
  Tensor hessian() const { return hessians.mean(0); }    // of the mean loss, [D, D]
  Tensor ggns() const;                                   // J_nᵀ H_n J_n, [N, D, D]
  Tensor ggn() const { return ggns().mean(0); }          // [D, D]
  Tensor empirical_fisher() const;                       // (1/N) sum_n g_n g_nᵀ
};

// `losses` [N] must come from `outputs`, whose entries lie sample after sample and of which a
// sample's loss reads only its own. The graph stays usable and `.grad` untouched.
DenseCurvature dense_curvature(const Tensor& losses,
                               const Tensor& outputs,
                               const Parameters& parameters);

}  // namespace flightdeck::tests
