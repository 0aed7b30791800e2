// SPDX-License-Identifier: MIT
// Sends tangents of parameters forward and what they become back: the two sweeps behind every
// curvature-vector product.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "curvature/context.h"
#include "flightdeck/products.h"

namespace flightdeck {

// Tells what elementwise activations add to the curvature.
enum class Bending {
  kNone,   // nothing: Gauss-Newton
  kExact,  // all second derivatives: Hessian
  kClip,   // the positive part of those of elementwise ops
  kAbs,    // their absolute value
};

// Returns what a product with this kind of matrix takes along.
Bending bending_of(CurvatureKind kind);

class TangentPass {
 public:
  // `weights` [N]: the objective is sum_n weights_n l_n (a scalar loss has one weight).
  TangentPass(CurvatureContext& context, Tensor weights);

  // Returns the gradient of the objective, one tensor per parameter (undefined: zero).
  const std::vector<Tensor>& gradients();

  // Returns J v at the outputs of each loss head. Parameters with undefined vectors do not move.
  // `keeps` the tangents in between, for a way back that bends.
  std::vector<Tensor> outputs_tangents(const std::vector<Tensor>& vectors, bool keeps);

  // Returns the tangents of the caller's losses, [V, *losses].
  Tensor losses_tangents(const std::vector<Tensor>& vectors, bool keeps);

  // Goes back from seeds to the parameters in `wanted`, adding what the ops bend on the way along
  // the tangents of the last forward sweep.
  std::vector<Tensor> back(const std::vector<Seed>& seeds,
                           const std::vector<bool>& wanted,
                           Bending bending);

  // Forgets the tangents.
  void clear() { tangents_.assign(tangents_.size(), {}); }

 private:
  void forward(const std::vector<Tensor>& vectors, bool to_losses, bool keeps);
  variable_list input_tangents(size_t position) const;
  variable_list bends(size_t position, const std::vector<bool>& wanted, Bending bending);
  variable_list bend_elementwise(size_t position, const variable_list& tangents, Bending bending);
  void check_positive_part(size_t position, const variable_list& tangents) const;
  std::vector<bool> leads_to(const std::vector<bool>& wanted) const;
  const std::vector<variable_list>& node_gradients();

  CurvatureContext& context_;
  Tensor weights_;
  std::vector<variable_list> tangents_;        // per node and output
  std::vector<variable_list> node_gradients_;  // of the objective, per node and output
  std::vector<Tensor> gradients_;
  std::map<size_t, Tensor> curved_;  // phi'' times gradient of elementwise nodes
};

}  // namespace flightdeck
