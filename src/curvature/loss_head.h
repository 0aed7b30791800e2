// SPDX-License-Identifier: MIT
// The part of the graph that is the loss: where the model's outputs enter it, and its Hessian with
// respect to them, as a product, as a symmetric factor and as would-be gradients.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>

#include "passes/linearisation.h"

namespace flightdeck {

// Stands for the Hessian of the individual losses with respect to one tensor of outputs. It is
// block-diagonal over the samples and, for known losses, over positions. All tensors have the
// outputs' shape.
class LossHessian {
 public:
  virtual ~LossHessian() = default;

  // Returns H t for stacks [V, *outputs].
  virtual Tensor multiply(const Tensor& tangents) const = 0;

  // Counts the columns of the exact factor S, where S Sᵀ = H.
  virtual int64_t columns() const = 0;
  // Returns columns begin..end-1, [end - begin, *outputs].
  virtual Tensor factor(int64_t begin, int64_t end) const = 0;
  // Draws M would-be gradients, [M, *outputs], with E[sum_m s_m s_mᵀ] = H.
  virtual Tensor sample(int64_t M, at::Generator& generator) const = 0;
};

// Writes a symmetric matrix as a difference of two that are positive semi-definite.
struct HessianParts {
  std::shared_ptr<const LossHessian> convex;
  std::shared_ptr<const LossHessian> concave;  // null for a convex loss
};

// Describes one place where the loss begins.
struct LossHead {
  size_t position;  // the node that produced the outputs
  size_t output;    // which of its outputs
  Layout layout;    // of the outputs
  Tensor gradient;  // of the individual losses with respect to the outputs
  std::shared_ptr<const LossHessian> hessian;  // its positive part
  std::shared_ptr<const LossHessian> concave;  // minus its negative part; null if there is none
};

struct Loss {
  std::vector<LossHead> heads;
  std::vector<std::string> remarks;

  // Returns the heads that are not convex, with what was cut off their Hessians.
  Loss concave() const;

  int64_t columns() const;  // of all heads together
  // Returns the seeds of columns begin..end-1 of the exact factor; heads follow one another.
  std::vector<Seed> factor(int64_t begin, int64_t end) const;
  std::vector<Seed> sample(int64_t M, at::Generator& generator) const;
  // Returns the gradient of each individual loss as one column.
  std::vector<Seed> gradients() const;
};

// Finds the loss. With `outputs` defined, everything above them is the loss. `scale` is what an
// individual loss is multiplied by to give the caller's scalar (1 for losses [N]).
Loss find_loss(Linearisation& linearisation,
               const Tensor& losses,
               const Tensor& outputs,
               double scale);

}  // namespace flightdeck
