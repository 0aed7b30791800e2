// SPDX-License-Identifier: MIT
// One batch: its losses and all that is said of them. Whatever is asked about the batch shares one
// reading of its graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/parameters.h"

namespace flightdeck {

/// What to do about training-mode batch normalisation, which couples the samples.
enum class BatchNormPolicy {
  kRefuse,              ///< throw, naming the layer
  kConstantStatistics,  ///< g_n with the batch's mean and variance held constant
  kSplitGradient,       ///< split the true gradient by sample: the rows still sum to it
};

/// How a scalar loss was reduced from its N summands. Read from the graph too: a plain sum that is
/// said to be a mean, or the other way round, is an error.
enum class Reduction { kMean, kSum };

/// What to do with a summand of the losses that has one value for all samples, such as a penalty on
/// parameters. Found by where samples sit in the graph, whatever ops it is made of.
enum class SharedTerms {
  kKeep,      ///< part of every individual loss, as autograd has it
  kLeaveOut,  ///< part of none; the coverage and a remark name each
};

/// How much memory the passes may take. Larger work is done in pieces with equal results, or, where
/// it says so, refused.
struct MemoryLimits {
  int64_t scratch_bytes = int64_t{64} << 20;  ///< of one operation
  /// Of the largest stack that is propagated; more columns are taken in several goes.
  int64_t stack_bytes = int64_t{512} << 20;
  /// Of a matrix over the entries of one sample, as KFRA and `averaged_blocks` propagate it; a
  /// larger one is refused.
  int64_t matrix_bytes = int64_t{4} << 30;
  /// Of the factors that a Vivit keeps for eigenvectors and Newton steps; larger ones are
  /// propagated again when needed.
  int64_t keep_bytes = int64_t{1} << 30;
};

struct BatchOptions {
  /// The model's outputs, where the loss is one the engine does not know. What lies between them
  /// and the losses is then the loss. Read by curvature alone.
  Tensor outputs;
  /// For a scalar loss: the number of samples it was reduced from, which sit in the leading
  /// dimension of what was reduced. A scalar that is no mean or sum over the samples (a root, a
  /// logarithm, a product of means) is refused. 0 has this and the reduction read from the graph,
  /// whose loss must be a known one: give it where samples sit elsewhere than in the leading
  /// dimension of the outputs.
  int64_t batch_size = 0;
  Reduction reduction = Reduction::kMean;  ///< of a scalar loss with `batch_size`
  /// Of rows and of all that is made of them. Products with the Hessian, the GGN and the Fisher
  /// matrix are those of the losses as they are, under any policy.
  BatchNormPolicy batch_norm = BatchNormPolicy::kRefuse;
  /// Of gradients and of the Hessian. The GGN has nothing of a term without outputs either way.
  SharedTerms shared_terms = SharedTerms::kKeep;
  /// Restricts every answer to these samples, in this order; empty means all. N is then their
  /// count.
  std::vector<int64_t> samples;
  MemoryLimits memory;
};

struct Capture;

/// Individual losses [N] (or a scalar loss), the parameters that are asked about
/// and what is to hold for every answer.
///
///   const Batch batch(losses, model->named_parameters());
///   const Curvature diagonal = curvature(batch.of({0, 1, 2, 3}), CurvatureNeed::kDiagGgn);
///   Watch watch(batch, Need::kNorms);
///   losses.mean().backward();
///
/// A copy is the same batch. The graph is read when it is first needed, and once for all copies and
/// choices of samples; what is wrong with it or with the options is thrown then. Batches keep the
/// graph alive, as the losses do. Several threads may share one, as far as they may share a graph.
class Batch {
 public:
  Batch(const Tensor& losses, const Parameters& parameters, BatchOptions options = {});

  /// The same batch with another choice of samples, counted in the whole batch; empty means all.
  [[nodiscard]] Batch of(std::vector<int64_t> samples) const;

  const Tensor& losses() const;
  const Parameters& parameters() const;
  const BatchOptions& options() const { return options_; }
  /// N, before any choice of samples.
  int64_t size() const;
  /// True if the samples were reduced to one number.
  bool is_scalar() const;
  /// The losses [N] as they are, without a graph. Those of a scalar are read from what its graph
  /// has kept, before a backward pass frees it; each has its share of terms that all samples share.
  /// Throws, naming the op, where a graph has not kept them.
  [[nodiscard]] Tensor individual_losses() const;

 private:
  friend std::shared_ptr<const Capture> capture_of(const Batch& batch);
  class State;

  std::shared_ptr<State> state_;
  BatchOptions options_;
};

}  // namespace flightdeck
