// SPDX-License-Identifier: MIT
// Estimators of the diagonal: Hutchinson's with random signs (Bekas, Kokiopoulou, Saad 2007), and
// XDiag (Epperly, Tropp, Webber 2024).
#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

#include "flightdeck/spectra.h"
#include "spectra/sketch.h"

namespace flightdeck {
namespace {

// Sums samples per entry, in double: a variance is the difference of two sums.
class Moments {
 public:
  explicit Moments(const LinearOperator& op)
      : sum_(at::zeros({op.dim()}, op.options().dtype(at::kDouble))), squares_(sum_.clone()) {}

  void add(const Tensor& samples) {  // [V, D]
    const Tensor exact = samples.to(at::kDouble);
    sum_ += exact.sum(0);
    squares_ += exact.square().sum(0);
    count_ += samples.size(0);
  }

  // `inside` [D] is added to every sample; undefined means zero.
  DiagonalEstimate estimate(const Tensor& inside, at::ScalarType type, int64_t products) const {
    const double n = static_cast<double>(count_);
    const Tensor mean = sum_ / n;
    DiagonalEstimate estimate;
    estimate.value = (inside.defined() ? mean + inside : mean).to(type);
    const Tensor variance = (squares_ / n - mean.square()).clamp_min(0) / (n - 1);
    estimate.standard_error = variance.sqrt().to(type);
    if (count_ == 1) estimate.standard_error.fill_(std::numeric_limits<double>::quiet_NaN());
    estimate.products = products;
    estimate.is_finite = all_finite(estimate.value);
    return estimate;
  }

 private:
  Tensor sum_, squares_;  // [D]
  int64_t count_ = 0;
};

DiagonalEstimate exact(const LinearOperator& op, int64_t block) {
  DiagonalEstimate estimate;
  estimate.value = diagonal_by_units(op, block);
  estimate.standard_error = at::zeros_like(estimate.value);
  estimate.products = op.dim();
  estimate.is_finite = all_finite(estimate.value);
  estimate.exact = estimate.is_finite;
  return estimate;
}

DiagonalEstimate hutchinson(const LinearOperator& op,
                            const DiagonalOptions& options,
                            RandomLines& random) {
  Moments moments(op);
  for (int64_t first = 0; first < options.products; first += options.block) {
    const Tensor probes = random.signs(std::min(options.block, options.products - first));
    moments.add(probes * product(op, probes));
  }
  return moments.estimate(Tensor(), op.options().dtype().toScalarType(), options.products);
}

DiagonalEstimate not_finite(const LinearOperator& op, int64_t products) {
  DiagonalEstimate estimate;
  estimate.value = at::full({op.dim()}, std::numeric_limits<double>::quiet_NaN(), op.options());
  estimate.standard_error = estimate.value.clone();
  estimate.products = products;
  estimate.is_finite = false;
  return estimate;
}

// Takes for every i the diagonal of A on the range without product i, plus Hutchinson's estimate of
// the rest from probe i, whose product has just one direction outside that range.
DiagonalEstimate x_diag(const LinearOperator& op,
                        const DiagonalOptions& options,
                        RandomLines& random) {
  const Sketch sketch = sketch_range(op, random.signs(options.products / 2), options.block);
  if (!sketch.is_finite) return not_finite(op, sketch.products);
  const Tensor &q = sketch.lines, &s = sketch.left_out;
  const Tensor images = product_in_blocks(op, q, options.block);
  const Tensor turn = s.t().to(q.options());                                      // [m, q]
  const Tensor lengths = (s * sketch.range).sum(0).unsqueeze(1).to(q.options());  // [m, 1]
  Moments moments(op);
  moments.add(turn.mm(q) * (sketch.probes * lengths - turn.mm(images)));
  const Tensor inside = (q * images).to(at::kDouble).sum(0);
  return moments.estimate(inside, q.scalar_type(), sketch.products + q.size(0));
}

void check_options(const LinearOperator& op, const DiagonalOptions& options) {
  TORCH_CHECK_VALUE(options.block > 0,
                    "diagonal: block is ",
                    options.block,
                    " but vectors are multiplied at least one at a time; pass 1 or more");
  const int64_t least =
      std::min<int64_t>(op.dim(), options.method == DiagonalMethod::kXDiag ? 2 : 1);
  TORCH_CHECK_VALUE(options.products >= least,
                    "diagonal: ",
                    options.products,
                    " products are allowed but the method needs ",
                    least,
                    "; allow more");
}

}  // namespace

DiagonalEstimate diagonal(const LinearOperator& op, const DiagonalOptions& options) {
  const ArithmeticGuard guard;
  check_operator("diagonal", op);
  check_options(op, options);
  if (options.products >= op.dim()) return exact(op, options.block);
  RandomLines random(op, options.seed);
  return options.method == DiagonalMethod::kXDiag ? x_diag(op, options, random)
                                                  : hutchinson(op, options, random);
}

}  // namespace flightdeck
