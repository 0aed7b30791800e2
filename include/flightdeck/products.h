// SPDX-License-Identifier: MIT
// Curvature matrices as operators: products with vectors on a fixed batch, whose graph is read once
// and used for any number of products.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/operator.h"
#include "flightdeck/parameters.h"

namespace flightdeck {

enum class CurvatureKind {
  kHessian,
  kGgn,              ///< generalised Gauss-Newton matrix
  kEmpiricalFisher,  ///< (1/N) sum_n g_n g_n^T
  kPchClip,          ///< positive-curvature Hessian, negative residuals dropped; block-diagonal
  kPchAbs,           ///< positive-curvature Hessian, absolute residuals; block-diagonal
};

struct ProductOptions {
  /// Groups of parameters (by position): only curvature within a group is kept. Empty means one
  /// group of all, except for the PCH, which is defined per parameter.
  std::vector<std::vector<size_t>> groups;
};

/// A curvature matrix of the mean loss over all given parameters, flattened and concatenated.
class CurvatureOperator : public LinearOperator {
 public:
  /// [V, D] -> one tensor [V, *shape] per parameter, and back.
  virtual std::vector<Tensor> split(const Tensor& vectors) const = 0;
  virtual Tensor join(const std::vector<Tensor>& parts) const = 0;
  /// Gradient of the mean loss, [D].
  virtual Tensor gradient() const = 0;
  virtual const std::vector<std::string>& remarks() const = 0;
};

/// Keeps the batch; parameters must not change while it is used. One thread at a time: a product
/// borrows the nodes of the graph.
[[nodiscard]] std::shared_ptr<const CurvatureOperator> curvature_operator(
    const Batch& batch, CurvatureKind kind, const ProductOptions& options = {});
/// The same of individual losses [N] of which nothing else is to be said.
[[nodiscard]] std::shared_ptr<const CurvatureOperator> curvature_operator(
    const Tensor& losses,
    const Parameters& parameters,
    CurvatureKind kind,
    const ProductOptions& options = {});

/// How explicit blocks are averaged over the batch.
enum class BatchAverage {
  kProducts,   ///< mean of Jᵀ H̄ J over the samples (Botev et al.)
  kJacobians,  ///< J̄ᵀ H̄ J̄ with mean Jacobians (Chen et al.)
};

/// When the PCH drops or turns what is negative: the authors' experiments took the batch average
/// first, which keeps less of what the samples disagree about.
enum class PchOrder {
  kAverageFirst,  ///< of the residual and of the loss Hessian, averaged over the samples
  kSampleFirst,   ///< of every sample's residual and loss Hessian, before they are averaged
};

struct AveragedBlocksOptions {
  CurvatureKind kind = CurvatureKind::kGgn;  ///< kGgn, kHessian, kPchClip or kPchAbs
  /// Of the Jacobians by an op's inputs: what travels on to the ops below.
  BatchAverage average = BatchAverage::kProducts;
  /// Of the Jacobians by the parameters; without a word the same.
  std::optional<BatchAverage> parameter_average;
  PchOrder pch_order = PchOrder::kAverageFirst;  ///< of kPchClip and kPchAbs
};

/// Hessian backpropagation with batch averages: one explicit block per parameter, for linear
/// layers, convolutions, elementwise activations, pooling and views, in chains or with branches
/// that sums join. Shared terms that are
/// kept are refused, but for the GGN. Where the loss is not convex in the outputs, the Hessian has
/// its whole curvature, the GGN the positive part, and the PCH what `pch_order` says.
struct AveragedBlock {
  std::string name;
  std::shared_ptr<const LinearOperator> block;
};
[[nodiscard]] std::vector<AveragedBlock> averaged_blocks(const Batch& batch,
                                                         const AveragedBlocksOptions& options = {});
[[nodiscard]] std::vector<AveragedBlock> averaged_blocks(const Tensor& losses,
                                                         const Parameters& parameters,
                                                         const AveragedBlocksOptions& options = {});

}  // namespace flightdeck
