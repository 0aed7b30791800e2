// SPDX-License-Identifier: MIT
// The low-rank structure of the GGN: its whole nontrivial spectrum, eigenvectors, and the gradient
// and curvature of every sample along them, from a Gram matrix that is gathered layer by layer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/operator.h"
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

/// Which of the nontrivial eigenpairs are meant: a number of leading ones, or any others.
class Directions {
 public:
  /// The `count` leading ones; all of them if negative.
  Directions(int64_t count);
  /// Those at these positions, counted from the leading one as 0, in the order given.
  [[nodiscard]] static Directions at(std::vector<int64_t> positions);
  /// Those with low <= eigenvalue <= high, the largest first.
  [[nodiscard]] static Directions within(double low, double high);
  /// Those whose eigenvalue `is_wanted`, the largest first. It is asked once for each.
  [[nodiscard]] static Directions where(std::function<bool(double eigenvalue)> is_wanted);

  /// Positions among descending eigenvalues [rank]. Throws if there is no such eigenpair, or if one
  /// is named twice.
  [[nodiscard]] std::vector<int64_t> positions(const Tensor& eigenvalues) const;

 private:
  using Choose = std::function<std::vector<int64_t>(const Tensor& eigenvalues)>;
  explicit Directions(Choose choose) : choose_(std::move(choose)) {}
  Choose choose_;
};

struct NoiseDampingOptions {
  double damping = 0;  ///< added in every direction
  double caution = 1;  ///< standard errors of the curvature that are added to it
};

/// A damping for each direction that grows with what the samples disagree about:
///
///   damping + curvature_k Var[slope_k] / slope_k² + caution sqrt(Var[curvature_k])
///
/// slope_k and curvature_k are the means of gammas [N, count] and lambdas [N_ggn, count] over the
/// samples, Var the unbiased estimates of the variances of these means. With caution 0 and damping
/// 0, the step slope_k / (curvature_k + damping_k) is the Newton step times the factor
/// slope_k² / (slope_k² + Var[slope_k]), which of all factors gives the least expected loss of the
/// quadratic model. Infinite where the mean slope is zero and the slopes are not. Needs two
/// samples.
[[nodiscard]] Tensor noise_damping(const Tensor& gammas,
                                   const Tensor& lambdas,
                                   const NoiseDampingOptions& options = {});

/// Keeps the batch. Groups are numbered as in the options. Eigenvalues descend, and all that
/// belongs to them is in their order: the leading one is the first. Where `Directions` are asked
/// for, a number means as many leading ones.
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

  /// Eigenvectors in parameter space, one tensor [count, *shape] per parameter of the group. Throws
  /// if more are asked for than the rank.
  [[nodiscard]] std::vector<Tensor> eigenvectors(const Directions& which, size_t group = 0) const;

  /// Along these eigenvectors: gradient g_n·e_k [N, count] and curvature e_k·G_n e_k
  /// [N_ggn, count] of each sample. Means over n are those of the mini-batch.
  [[nodiscard]] Tensor gammas(const Directions& which, size_t group = 0) const;
  [[nodiscard]] Tensor lambdas(const Directions& which, size_t group = 0) const;
  /// Squared mean over unbiased variance of gammas or lambdas, per direction, [count].
  [[nodiscard]] static Tensor signal_to_noise(const Tensor& per_sample);

  /// -sum_k gamma_k / (lambda_k + damping_k) e_k over these directions (all without a word), one
  /// tensor per parameter of the group. `damping` has one entry, or one per direction. With
  /// `trivial`, the rest of the gradient is added, divided by the one damping, or by one entry more
  /// after those of the directions. With one damping and all directions the result is then
  /// -(G + damping I)^-1 g.
  [[nodiscard]] std::vector<Tensor> newton_step(const Tensor& damping,
                                                const Directions& which = -1,
                                                bool trivial = false,
                                                size_t group = 0) const;

  /// (G + damping I)^-1 over the group's parameters, flattened and concatenated in its order: any
  /// number of vectors at a time, at the price of the low rank (Woodbury's identity in the
  /// eigenbasis of the Gram matrix). Every eigenvalue counts, however small. Keeps what this Vivit
  /// keeps; a preconditioner for conjugate_gradients, too.
  [[nodiscard]] std::shared_ptr<const LinearOperator> inverse(double damping,
                                                              size_t group = 0) const;

  const std::vector<std::string>& remarks() const;

  class State;

 private:
  std::shared_ptr<State> state_;  // shared with inverses
};

}  // namespace flightdeck
