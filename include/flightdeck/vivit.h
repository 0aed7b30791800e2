// SPDX-License-Identifier: MIT
// The low-rank structure of the GGN: its whole nontrivial spectrum, eigenvectors, and the gradient
// and curvature of every sample along them, from a Gram matrix that is gathered layer by layer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/parameters.h"

namespace flightdeck {

/// Which columns stand for the Hessian of the loss.
enum class LossColumns {
  kExact,    ///< all columns of its exact factor
  kSampled,  ///< would-be gradients
};

struct VivitOptions {
  LossColumns columns = LossColumns::kExact;
  int64_t mc_samples = 1;  ///< M would-be gradients per sample for kSampled
  uint64_t seed = 0;       ///< of their own generator; PyTorch's is not touched
  /// The GGN is of the batch's choice of samples, gradients are always of these; empty means all.
  std::vector<int64_t> gradient_samples;
  /// Groups of parameters (by position), each with a GGN of its own; empty means one group of all.
  /// Parameters left out of all groups are left out of everything.
  std::vector<std::vector<size_t>> groups;
  bool gradients = true;  ///< individual gradients too: gammas and Newton steps need them
  /// Eigenvalues up to this fraction of the largest count as zero (dtype's rounding if negative).
  double rank_tolerance = -1;
};

/// Keeps the batch. Groups are numbered as in the options. Eigenvalues descend, and all that
/// belongs to them is in their order: the leading one is the first.
class [[nodiscard]] Vivit {
 public:
  explicit Vivit(const Batch& batch, const VivitOptions& options = {});
  Vivit(const Tensor& losses, const Parameters& parameters, const VivitOptions& options = {});
  ~Vivit();
  Vivit(Vivit&&) noexcept;
  Vivit& operator=(Vivit&&) noexcept;

  size_t groups() const;
  int64_t rank(size_t group = 0) const;  ///< number of nontrivial eigenvalues

  [[nodiscard]] Tensor gram(
      size_t group = 0) const;  ///< VᵀV [R, R]; line k * N + n is column k of sample n
  [[nodiscard]] Tensor gradient_gram(size_t group = 0) const;     ///< <g_n, g_m> [N, N]
  [[nodiscard]] Tensor gram_eigenvalues(size_t group = 0) const;  ///< all R, trivial ones included
  [[nodiscard]] Tensor eigenvalues(size_t group = 0) const;       ///< the nontrivial ones, [rank]

  /// The `count` leading eigenvectors in parameter space, one tensor [count, *shape] per parameter
  /// of the group. Throws if count exceeds the rank.
  [[nodiscard]] std::vector<Tensor> eigenvectors(int64_t count, size_t group = 0) const;

  /// Along the `count` leading eigenvectors: gradient g_n·e_k [N, count] and curvature
  /// e_k·G_n e_k [N_ggn, count] of each sample. Means over n are those of the mini-batch.
  [[nodiscard]] Tensor gammas(int64_t count, size_t group = 0) const;
  [[nodiscard]] Tensor lambdas(int64_t count, size_t group = 0) const;
  /// Squared mean over unbiased variance of gammas or lambdas, per direction, [count].
  [[nodiscard]] static Tensor signal_to_noise(const Tensor& per_sample);

  /// -sum_k gamma_k / (lambda_k + damping_k) e_k over the `count` leading directions (all if
  /// negative), one tensor per parameter of the group. `damping` has one entry, or one per
  /// direction. With `trivial`, the rest of the gradient is added with the (one) damping:
  /// then the result is -(G + damping I)^-1 g.
  [[nodiscard]] std::vector<Tensor> newton_step(const Tensor& damping,
                                                int64_t count = -1,
                                                bool trivial = false,
                                                size_t group = 0) const;

  const std::vector<std::string>& remarks() const;

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace flightdeck
