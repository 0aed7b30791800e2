// SPDX-License-Identifier: MIT
// Curvature matrices of a whole data set, or of any part of it, streamed batch by batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/products.h"
#include "flightdeck/ranks.h"

namespace flightdeck {

/// Gives batch k: a new forward pass, with a graph. Called for k = 0, 1, ... in every product, with
/// gradient recording switched on; the same k has to give the same samples, in the same state of
/// the model (evaluation mode, no drawn augmentation).
using BatchSource = std::function<Batch(int64_t k)>;

/// How far a product is. With ranks, this one's part of it.
struct DataSetProgress {
  int64_t product = 0;  ///< calls of `multiply` before this one, those read from the folder too
  int64_t batches = 0;  ///< done in this one
  int64_t of = 0;       ///< batches in all
};

struct DataSetOptions {
  /// As in ProductOptions.
  std::vector<std::vector<size_t>> groups;
  /// Told after every batch. It may throw to end the computation; what was kept stays kept.
  std::function<void(const DataSetProgress&)> on_batch;
  /// A folder that keeps every finished product, so that a computation that ended can be begun
  /// again with the same words and goes on where it was: eigenpairs, trace, density and solutions
  /// are the same functions of the same products. Empty: none. One folder serves one computation.
  std::string folder;
  /// Batches after which the sum within a product is kept too; 0: never.
  int64_t keep_every = 0;
  /// Splits the work: rank r of W takes the batches r, r + W, ... of every product, and all get the
  /// sum. `multiply` and `gradient` are collective, one sum each (two where a folder is asked for
  /// products); what fails on one rank is thrown on all. Rank 0 keeps finished products, which
  /// computations of any W go on from; sums within a product are kept per rank and of use to as
  /// many ranks only.
  std::shared_ptr<Ranks> ranks;
};

/// The matrix of the mean loss over all samples of all batches, however they differ in size: the
/// operator of the batches put into one. Its products take one forward pass and one product of each
/// batch, and hold the graph of one batch at a time: give it many vectors at once. Throws if a
/// batch has another number of samples than before, or other parameters, naming it; and if the
/// folder belongs to other parameters or another matrix.
[[nodiscard]] std::shared_ptr<const CurvatureOperator> data_set_operator(
    int64_t batches, BatchSource source, CurvatureKind kind, const DataSetOptions& options = {});

}  // namespace flightdeck
