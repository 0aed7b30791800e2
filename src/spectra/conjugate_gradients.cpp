// SPDX-License-Identifier: MIT
// Conjugate gradients for many right-hand sides at once. Every line has its own step lengths and
// leaves when it is done, so that products go to lines that need them.
#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/ATen.h>

#include "flightdeck/spectra.h"
#include "spectra/products.h"

namespace flightdeck {
namespace {

// Returns <a_i, b_i> per line, float64 on the CPU.
Tensor dots(const Tensor& a, const Tensor& b) { return small((a * b).sum(1)); }

class ConjugateGradients {
 public:
  ConjugateGradients(const LinearOperator& op, const Tensor& b, const SolveOptions& options)
      : op_(op), options_(options), b_(b), b_norms_(norms_of(b)) {
    const int64_t lines = b.size(0);
    // The start is zero, so every relative residual begins at one. Dividing gives NaN where the
    // right-hand side is zero or not finite.
    solution_.residuals = b_norms_ / b_norms_;
    solution_.iterations.assign(lines, 0);
    solution_.converged.assign(lines, false);
    solution_.negative_curvature.assign(lines, false);
  }

  Solution run() {
    begin();
    for (int64_t i = 0; i < options_.max_iterations && active_.size(0) > 0; ++i) step();
    return solution_;
  }

 private:
  void begin() {
    active_ = at::arange(b_.size(0));
    x_ = at::zeros_like(b_);
    r_ = b_.clone();
    if (options_.start.defined()) {
      x_ = options_.start.detach().to(b_.options()).reshape(b_.sizes()).clone();
      r_ = true_residuals(at::arange(b_.size(0)));
    }
    solution_.vectors = x_.clone();
    const Tensor norms = norms_of(r_);
    leave(norms.isfinite().logical_not(), [this](int64_t) { solution_.is_finite = false; });
    record_residuals();
    // A zero right-hand side has the solution zero, wherever the start was.
    leave(b_norms_.index_select(0, active_) == 0, [this](int64_t line) {
      solution_.vectors[line].zero_();
      solution_.residuals[line] = 0;
      solution_.converged[line] = true;
    });
    leave(relative_residuals() <= options_.tolerance,
          [this](int64_t line) { solution_.converged[line] = true; });
    p_ = precondition(r_);
    rz_ = dots(r_, p_);
    leave_preconditioner();
  }

  void step() {
    images_ = product(op_, p_);
    solution_.products += p_.size(0);
    curvature_ = dots(p_, images_);
    leave(curvature_.isfinite().logical_not(), [this](int64_t) { solution_.is_finite = false; });
    leave(curvature_ <= 0, [this](int64_t line) { solution_.negative_curvature[line] = true; });
    if (active_.size(0) == 0) return;

    const Tensor length = column(rz_ / curvature_);
    x_ = x_ + p_ * length;
    r_ = r_ - images_ * length;
    each([this](int64_t line) { ++solution_.iterations[line]; });
    record_solutions();
    const Tensor replaced = check_claims();
    if (active_.size(0) == 0) return;

    const Tensor z = precondition(r_);
    const Tensor rz = dots(r_, z);
    // A line whose residual was replaced starts anew: its old direction is not conjugate to it.
    p_ = z + p_ * column((rz / rz_).masked_fill(replaced, 0));
    rz_ = rz;
    leave_preconditioner();
  }

  // Computes b - A x for the lines that claim to have converged, as recurrences drift. Those that
  // have leave; the others go on from there. Returns which of the remaining ones were replaced.
  Tensor check_claims() {
    Tensor claims = relative_residuals() <= options_.tolerance;
    const Tensor index = claims.nonzero().squeeze(1);
    if (index.size(0) == 0) return claims;
    r_.index_copy_(0, index.to(r_.device()), true_residuals(index));
    record_residuals();
    const Tensor done = claims.logical_and(relative_residuals() <= options_.tolerance);
    claims = claims.index_select(0, done.logical_not().nonzero().squeeze(1));
    leave(done, [this](int64_t line) { solution_.converged[line] = true; });
    return claims;
  }

  Tensor true_residuals(const Tensor& index) {  // positions among the active lines
    const Tensor on_device = index.to(b_.device());
    const Tensor lines = active_.index_select(0, index).to(b_.device());
    solution_.products += index.size(0);
    return b_.index_select(0, lines) - product(op_, x_.index_select(0, on_device));
  }

  Tensor precondition(const Tensor& residuals) const {
    const LinearOperator* inverse = options_.preconditioner;
    if (inverse == nullptr || residuals.size(0) == 0) return residuals.clone();
    return product(*inverse, residuals);
  }

  void leave_preconditioner() {
    leave(rz_.isfinite().logical_not(), [this](int64_t) { solution_.is_finite = false; });
    leave(rz_ <= 0, [this](int64_t line) { solution_.negative_curvature[line] = true; });
  }

  Tensor relative_residuals() const { return solution_.residuals.index_select(0, active_); }

  void record_residuals() {
    solution_.residuals.index_copy_(0, active_, norms_of(r_) / b_norms_.index_select(0, active_));
  }

  void record_solutions() {
    record_residuals();
    solution_.vectors.index_copy_(0, active_.to(x_.device()), x_);
  }

  Tensor column(const Tensor& numbers) const { return numbers.to(b_.options()).unsqueeze(1); }

  template <typename Function>
  void each(Function&& function) const {
    for (int64_t i = 0; i < active_.size(0); ++i) function(active_[i].item<int64_t>());
  }

  // Calls the function for the active lines in a mask and takes them out of the state.
  template <typename Function>
  void leave(const Tensor& mask, Function&& function) {
    const Tensor going = mask.nonzero().squeeze(1);
    if (going.size(0) == 0) return;
    for (int64_t i = 0; i < going.size(0); ++i) {
      function(active_[going[i].item<int64_t>()].item<int64_t>());
    }
    const Tensor staying = mask.logical_not().nonzero().squeeze(1);
    const int64_t before = active_.size(0);
    for (Tensor* state : {&x_, &r_, &p_, &images_, &rz_, &curvature_, &active_}) {
      if (!state->defined() || state->size(0) != before) continue;
      *state = state->index_select(0, staying.to(state->device()));
    }
  }

  const LinearOperator& op_;
  const SolveOptions& options_;
  const Tensor b_;
  const Tensor b_norms_;
  Solution solution_;
  // These are of the lines still active, [a] or [a, D].
  Tensor active_, x_, r_, p_, images_, rz_, curvature_;
};

}  // namespace

bool Solution::all_converged() const {
  return std::all_of(converged.begin(), converged.end(), [](bool yes) { return yes; });
}

Solution conjugate_gradients(const LinearOperator& op,
                             const Tensor& right_hand_sides,
                             const SolveOptions& options) {
  const ArithmeticGuard guard;
  check_operator("conjugate gradients", op);
  const bool is_line = right_hand_sides.dim() == 1;
  const Tensor b = is_line ? right_hand_sides.unsqueeze(0) : right_hand_sides;
  TORCH_CHECK_VALUE(b.dim() == 2 && b.size(1) == op.dim(),
                    "conjugate gradients: the right-hand sides have shape ",
                    right_hand_sides.sizes(),
                    " but the operator's vectors have ",
                    op.dim(),
                    " entries; pass [V, D]");
  TORCH_CHECK_VALUE(!options.start.defined() || options.start.numel() == b.numel(),
                    "conjugate gradients: the start has shape ",
                    options.start.defined() ? options.start.sizes() : at::IntArrayRef(),
                    " but the right-hand sides have ",
                    right_hand_sides.sizes(),
                    "; pass one start per right-hand side");
  TORCH_CHECK_VALUE(options.preconditioner == nullptr || options.preconditioner->dim() == op.dim(),
                    "conjugate gradients: the preconditioner acts on ",
                    options.preconditioner == nullptr ? 0 : options.preconditioner->dim(),
                    " entries but the operator on ",
                    op.dim(),
                    "; pass one for the same vectors");
  return ConjugateGradients(op, b.detach().to(op.options()), options).run();
}

}  // namespace flightdeck
