// SPDX-License-Identifier: MIT
#include "rows/product_scatter.h"

#include <cmath>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "base/shape.h"
#include "rows/form.h"

namespace flightdeck {
namespace {

// A difference of float32 sums keeps four digits where this share of them is left.
constexpr double kLeastLeft = 1e-2;

// A thread takes at least so many lines of a Gram matrix.
constexpr int64_t kLinesAtOnce = 32;

Scatter scatter_of(const Tensor& squared_norms, const Tensor& dots) {
  return {squared_norms - 2 * dots + dots.mean(), dots};
}

// Computes in double, where products of float32 factors are exact: the difference of two large sums
// then has all digits of the rows. Of float64 factors it has half of theirs, which rounding_error
// counts.
Scatter scatter_by_gram(const Tensor& a, const Tensor& b) {
  const Tensor gram = symmetric_product(a.to(at::kDouble), /*lines=*/true);
  gram.mul_(symmetric_product(b.to(at::kDouble), /*lines=*/true));
  return scatter_of(gram.diagonal(), gram.mean(1));
}

Scatter scatter_by_mean(const Tensor& given_a, const Tensor& given_b) {
  const Tensor a = given_a.to(at::kDouble), b = given_b.to(at::kDouble);
  const Tensor dots = at::mm(a, at::mm(a.t(), b)).mul_(b).sum(1).div_(double(a.size(0)));
  return scatter_of(a.square().sum(1).mul_(b.square().sum(1)), dots);
}

// Holds a factor's differences to its mean: their Gram matrix, their products with the mean and the
// mean's squared length, all on the CPU.
struct Differences {
  explicit Differences(const Tensor& factor) {
    const Tensor mean = factor.mean(0);
    const Tensor centred = factor - mean;
    gram = symmetric_product(centred, /*lines=*/true);
    along = at::mv(centred, mean);
    length = mean.to(at::kDouble).square().sum().item<double>();
  }

  Tensor gram, along;
  double length;
};

// Computes the same at half the cost, from the factors' differences to their means:
//   <g_n, g_m> = |a|²|b|² + |b|²(u_n + u_m) + |a|²(v_n + v_m) + X_nm
// with u, v the differences along the means a, b and X of second order. Of X no digits are lost
// unless factors differ and their products do not; no answer then. What is summed in the factors'
// own precision is combined in double, in one sweep.
template <typename Scalar>
Scatter scatter_by_differences(const Tensor& a, const Tensor& b) {
  const Differences of_a(a), of_b(b);
  const int64_t N = a.size(0);
  Scatter scatter = {at::empty({N}, at::kDouble), at::empty({N}, at::kDouble)};
  Tensor terms = at::empty({N}, at::kDouble);
  const auto* A = of_a.gram.data_ptr<Scalar>();
  const auto* B = of_b.gram.data_ptr<Scalar>();
  const auto* u = of_a.along.data_ptr<Scalar>();
  const auto* v = of_b.along.data_ptr<Scalar>();
  double* squares = scatter.deviations.data_ptr<double>();
  double* dots = scatter.dots.data_ptr<double>();
  double* sizes = terms.data_ptr<double>();
  at::parallel_for(0, N, kLinesAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const double u_n = u[n], v_n = v[n];
      const auto second_order = [&](int64_t m, double& both) {
        const double in_a = A[n * N + m], in_b = B[n * N + m];
        both = (in_a + u_n + u[m]) * (in_b + v_n + v[m]);
        return both + of_b.length * in_a + of_a.length * in_b;
      };
      double sum = 0, both = 0;
      for (int64_t m = 0; m < N; ++m) sum += second_order(m, both);
      dots[n] = sum / static_cast<double>(N);
      squares[n] = second_order(n, both);
      sizes[n] = std::abs(both) + of_b.length * A[n * N + n] + of_a.length * B[n * N + n];
    }
  });
  scatter = scatter_of(scatter.deviations, scatter.dots);
  const double left = scatter.deviations.sum().item<double>();
  if (!(left > kLeastLeft * terms.sum().item<double>())) return {};
  const auto linear = [](const Tensor& along) {
    const Tensor exact = along.to(at::kDouble);
    return exact + exact.mean();
  };
  scatter.dots = scatter.dots + of_b.length * linear(of_a.along) +
                 of_a.length * linear(of_b.along) + of_a.length * of_b.length;
  return scatter;
}

Scatter by_differences(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == at::kDouble ? scatter_by_differences<double>(a, b)
                                        : scatter_by_differences<float>(a, b);
}

// Makes variances of second moments [lines, J], less `share` times the squared `sum`, in place;
// returns the lines that lost digits. It runs on the CPU.
template <typename Scalar>
Tensor subtract_squared_mean(const Tensor& moments, const Tensor& sum, double share) {
  const int64_t lines = sum.size(0), J = sum.size(1);
  const auto factor = static_cast<Scalar>(share);
  const auto least = static_cast<Scalar>(kLeastLeft / (1 - kLeastLeft));
  const Tensor lost = at::empty({lines}, at::kBool);
  bool* is_lost = lost.data_ptr<bool>();
  auto* variances = moments.data_ptr<Scalar>();
  const auto* sums = sum.data_ptr<Scalar>();
  at::parallel_for(0, lines, kLinesAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Scalar* variance = variances + i * J;
      const Scalar* s = sums + i * J;
      int bad = 0;
      for (int64_t j = 0; j < J; ++j) {
        const Scalar mean = s[j] * s[j] * factor;
        const Scalar left = variance[j] - mean;
        bad |= left < least * mean;
        variance[j] = left < 0 ? 0 : left;
      }
      is_lost[i] = bad != 0;
    }
  });
  return lost.nonzero().squeeze(1);
}

// Computes moments of some lines of the parameter, from factors [N, lines] and [N, J], in double:
// products of float32 factors are exact there.
Moments exact_moments(const Tensor& given_a, const Tensor& given_b, double share) {
  const Tensor a = given_a.to(at::kDouble), b = given_b.to(at::kDouble);
  Moments moments = {at::mm(a.t(), b), at::mm(a.square().t(), b.square())};
  moments.variance.addcmul_(moments.sum, moments.sum, -1 / static_cast<double>(a.size(0)));
  moments.variance.clamp_min_(0).mul_(share);
  moments.sum.mul_(share);
  return moments;
}

}  // namespace

Scatter scatter_of_products(const Tensor& a, const Tensor& b) {
  const double N = static_cast<double>(b.size(0)), I = static_cast<double>(a.size(1)),
               J = static_cast<double>(b.size(1));
  // Either the rows of the Gram matrix are summed, or the mean is a direction like any other.
  const double by_gram_flops = 2.0 * N * N * (I + J);
  const double by_mean_flops = 4.0 * N * I * J;
  if (by_gram_flops >= by_mean_flops) return scatter_by_mean(a, b);
  Scatter scatter;
  if (a.is_cpu()) scatter = by_differences(a, b);
  return scatter.deviations.defined() ? scatter : scatter_by_gram(a, b);
}

// Looks on a CPU which lines cancelled and takes those again in double. A GPU takes all of them in
// double: to know which cancelled, the host would have to wait for it.
Moments moments_of_products(const Tensor& a, const Tensor& b, double share, int64_t scratch_bytes) {
  Moments moments;
  Tensor redo = at::arange(a.size(1), at::kLong);
  if (a.is_cpu()) {
    moments = {at::mm(a.t(), b * share), at::mm(a.square().t(), b.square().mul_(share))};
    const bool is_double = a.scalar_type() == at::kDouble;
    const auto subtract =
        is_double ? &subtract_squared_mean<double> : &subtract_squared_mean<float>;
    redo = subtract(moments.variance, moments.sum, 1 / (static_cast<double>(b.size(0)) * share));
    if (is_double) redo = redo.slice(0, 0, 0);
  } else {
    moments = {at::empty({a.size(1), b.size(1)}, b.options()),
               at::empty({a.size(1), b.size(1)}, b.options())};
  }
  const int64_t piece =
      rows_per_piece({2, b.size(1)}, b.options().dtype(at::kDouble), scratch_bytes);
  for (const Tensor& lines : redo.split(piece)) {
    if (lines.numel() == 0) break;
    const Tensor index = lines.to(a.device());
    const Moments exact = exact_moments(a.index_select(1, index), b, share);
    moments.sum.index_copy_(0, index, exact.sum.to(b.scalar_type()));
    moments.variance.index_copy_(0, index, exact.variance.to(b.scalar_type()));
  }
  return moments;
}

}  // namespace flightdeck
