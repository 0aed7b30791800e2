// SPDX-License-Identifier: MIT
// The low-rank structure of the GGN: its whole nontrivial spectrum, eigenvectors, and the gradient
// and curvature of every sample along them, from a Gram matrix that is gathered layer by layer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/gradients.h"
#include "flightdeck/parameters.h"

namespace flightdeck {

struct VivitOptions {
  /// Samples of the GGN; empty means all. Gradients are always of `gradient_samples`.
  std::vector<int64_t> samples;
  std::vector<int64_t> gradient_samples;  ///< empty means all
  int64_t mc_samples = 0;  ///< 0: exact loss Hessian; M > 0: that many would-be gradients
  uint64_t seed = 0;
  /// Groups of parameters (by position), each with a GGN of its own; empty means one group of all.
  /// Parameters left out of all groups are left out of everything.
  std::vector<std::vector<size_t>> groups;
  Tensor outputs;  ///< the model's outputs, where the loss is one the engine does not know
  BatchNormPolicy batch_norm = BatchNormPolicy::kRefuse;
  SharedTerms shared_terms = SharedTerms::kKeep;  ///< of the gradients
  int64_t batch_size = 0;                         ///< for a scalar loss
  Reduction reduction = Reduction::kMean;         ///< of that scalar loss
  bool gradients = true;  ///< individual gradients too: gammas and Newton steps need them
  /// Factors up to this size are kept for eigenvectors and Newton steps; larger ones are
  /// propagated again when needed.
  int64_t keep_bytes = int64_t{1} << 30;
  int64_t stack_bytes = int64_t{512} << 20;   ///< as in CurvatureOptions
  int64_t scratch_bytes = int64_t{64} << 20;  ///< as in CurvatureOptions
  /// Eigenvalues up to this fraction of the largest count as zero (dtype's rounding if negative).
  double rank_tolerance = -1;
};

/// Reads the graph once. Groups are numbered as in the options. Eigenvalues ascend, as everywhere
/// in LibTorch: the largest one is the last.
class Vivit {
 public:
  Vivit(const Tensor& losses, const Parameters& parameters, const VivitOptions& options = {});
  ~Vivit();
  Vivit(Vivit&&) noexcept;
  Vivit& operator=(Vivit&&) noexcept;

  size_t groups() const;
  int64_t rank(size_t group = 0) const;  ///< number of nontrivial eigenvalues

  Tensor gram(size_t group = 0) const;  ///< VᵀV [R, R]; line k * N + n is column k of sample n
  Tensor gradient_gram(size_t group = 0) const;     ///< <g_n, g_m> [N, N]
  Tensor gram_eigenvalues(size_t group = 0) const;  ///< all R, trivial ones included, ascending
  Tensor eigenvalues(size_t group = 0) const;       ///< the nontrivial ones, ascending, [rank]

  /// The `count` leading eigenvectors in parameter space, one tensor [count, *shape] per parameter
  /// of the group; the last is the leading one. Throws if count exceeds the rank.
  std::vector<Tensor> eigenvectors(int64_t count, size_t group = 0) const;

  /// Along the `count` leading eigenvectors: gradient g_n·e_k [N, count] and curvature
  /// e_k·G_n e_k [N_ggn, count] of each sample. Means over n are those of the mini-batch.
  Tensor gammas(int64_t count, size_t group = 0) const;
  Tensor lambdas(int64_t count, size_t group = 0) const;
  /// Squared mean over unbiased variance of gammas or lambdas, per direction, [count].
  static Tensor signal_to_noise(const Tensor& per_sample);

  /// -sum_k gamma_k / (lambda_k + damping_k) e_k over the `count` leading directions (all if
  /// negative), one tensor per parameter of the group. `damping` has one entry, or one per
  /// direction. With `trivial`, the rest of the gradient is added with the (one) damping:
  /// then the result is -(G + damping I)^-1 g.
  std::vector<Tensor> newton_step(const Tensor& damping,
                                  int64_t count = -1,
                                  bool trivial = false,
                                  size_t group = 0) const;

  const std::vector<std::string>& remarks() const;

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace flightdeck
