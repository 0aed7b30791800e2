// SPDX-License-Identifier: MIT
// Curvature matrices as operators: products with vectors on a fixed batch, whose graph is read once
// and used for any number of products.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/gradients.h"
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
  /// The mean is over these samples; empty means all.
  std::vector<int64_t> samples;
  /// Groups of parameters (by position): only curvature within a group is kept. Empty means one
  /// group of all, except for the PCH, which is defined per parameter.
  std::vector<std::vector<size_t>> blocks;
  /// The model's outputs, where the loss is one the engine does not know (GGN and PCH).
  Tensor outputs;
  SharedTerms shared_terms = SharedTerms::kKeep;  ///< as in CurvatureOptions; of the gradient too
  int64_t batch_size = 0;                         ///< for a scalar loss
  Reduction reduction = Reduction::kMean;         ///< of that scalar loss
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

/// Keeps the graph behind `losses` alive; parameters must not change while it is used. One thread
/// at a time: a product borrows the nodes of the graph.
std::shared_ptr<const CurvatureOperator> curvature_operator(const Tensor& losses,
                                                            const Parameters& parameters,
                                                            CurvatureKind kind,
                                                            const ProductOptions& options = {});

/// How explicit blocks are averaged over the batch.
enum class BatchAverage {
  kProducts,   ///< mean of Jᵀ H̄ J over the samples (Botev et al.)
  kJacobians,  ///< J̄ᵀ H̄ J̄ with mean Jacobians (Chen et al.)
};

struct AveragedBlocksOptions {
  CurvatureKind kind = CurvatureKind::kGgn;  ///< kGgn, kHessian, kPchClip or kPchAbs
  BatchAverage average = BatchAverage::kProducts;
  Tensor outputs;
  SharedTerms shared_terms = SharedTerms::kKeep;  ///< kept ones are refused, but for the GGN
  int64_t batch_size = 0;
  Reduction reduction = Reduction::kMean;
  /// A backpropagated matrix larger than this is refused.
  int64_t matrix_bytes = int64_t{2} << 30;
};

/// Hessian backpropagation with batch averages: one explicit block per parameter, for chains of
/// linear layers, convolutions, elementwise activations, pooling and views.
struct AveragedBlock {
  std::string name;
  std::shared_ptr<const LinearOperator> block;
};
std::vector<AveragedBlock> averaged_blocks(const Tensor& losses,
                                           const Parameters& parameters,
                                           const AveragedBlocksOptions& options = {});

}  // namespace flightdeck
