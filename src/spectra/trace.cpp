// SPDX-License-Identifier: MIT
// Estimators of the trace: Hutchinson; Hutch++ (Meyer, Musco, Musco, Woodruff 2021); XTrace
// (Epperly, Tropp, Webber 2024).
#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "flightdeck/spectra.h"
#include "spectra/sketch.h"

namespace flightdeck {
namespace {

// Returns value and standard error from samples [m] of mean `value`, float64 on the CPU.
Estimate mean_of(const Tensor& samples, int64_t products) {
  const int64_t m = samples.size(0);
  Estimate estimate;
  estimate.value = samples.mean().item<double>();
  if (m > 1) {
    estimate.standard_error =
        samples.std(/*unbiased=*/true).item<double>() / std::sqrt(static_cast<double>(m));
  }
  estimate.products = products;
  estimate.is_finite = std::isfinite(estimate.value);
  return estimate;
}

Estimate not_finite(int64_t products) {
  Estimate estimate;
  estimate.products = products;
  estimate.is_finite = false;
  return estimate;
}

Tensor dots(const Tensor& a, const Tensor& b) { return small((a * b).sum(1)); }

Estimate exact(const LinearOperator& op, int64_t block) {
  Estimate estimate;
  estimate.value = small(diagonal_by_units(op, block)).sum().item<double>();
  estimate.standard_error = 0;
  estimate.products = op.dim();
  estimate.is_finite = std::isfinite(estimate.value);
  estimate.exact = estimate.is_finite;
  return estimate;
}

Estimate hutchinson(const LinearOperator& op, const TraceOptions& options, RandomLines& random) {
  Tensor samples = at::empty({options.products}, at::kDouble);
  for (int64_t first = 0; first < options.products; first += options.block) {
    const int64_t count = std::min(options.block, options.products - first);
    const Tensor probes = random.signs(count);
    samples.slice(0, first, first + count).copy_(dots(probes, product(op, probes)));
  }
  return mean_of(samples, options.products);
}

Estimate hutch_plus_plus(const LinearOperator& op,
                         const TraceOptions& options,
                         RandomLines& random) {
  const Sketch sketch = sketch_range(op, random.signs(options.products / 3), options.block);
  if (!sketch.is_finite) return not_finite(sketch.products);
  const Tensor q = sketch.lines;
  const double inside = dots(q, product_in_blocks(op, q, options.block)).sum().item<double>();
  const int64_t used = sketch.products + q.size(0);

  Tensor probes = random.signs(options.products - used);
  probes.addmm_(probes.mm(q.t()), q, /*beta=*/1, /*alpha=*/-1);
  const Tensor outside = dots(probes, product_in_blocks(op, probes, options.block));
  return mean_of(outside + inside, options.products);
}

// Takes for every i the trace on the range without product i, plus the quadratic form of probe i on
// the rest. As A probe_i lies in Q, all of it happens in small matrices.
Estimate x_trace(const LinearOperator& op, const TraceOptions& options, RandomLines& random) {
  const Sketch sketch = sketch_range(op, random.spheric(options.products / 2), options.block);
  if (!sketch.is_finite) return not_finite(sketch.products);
  const Tensor &q = sketch.lines, &r = sketch.range, &s = sketch.left_out;
  const int64_t m = r.size(1), dim = op.dim(), lost = q.size(0) == m ? m - 1 : q.size(0);
  Tensor h = small(q.mm(product_in_blocks(op, q, options.block).t()));
  h = (h + h.t()) * 0.5;
  const Tensor w = small(q.mm(sketch.probes.t()));  // [q, m]
  const Tensor u = w - s * (s * w).sum(0);          // probe_i inside the range without product i

  const Tensor inside = h.trace() - (s * h.mm(s)).sum(0);
  const Tensor outside = ((w - 2 * u) * r).sum(0) + (u * h.mm(u)).sum(0);
  // The part of a spheric probe outside the range has a random direction; its length is known.
  const Tensor lengths = static_cast<double>(dim) - u.square().sum(0);
  const Tensor samples = inside + outside * (static_cast<double>(dim - lost) / lengths);
  return mean_of(samples, sketch.products + q.size(0));
}

int64_t least_products(TraceMethod method) {
  switch (method) {
    case TraceMethod::kHutchinson:
      return 1;
    case TraceMethod::kXTrace:
      return 2;
    case TraceMethod::kHutchPlusPlus:
      return 3;
  }
  TORCH_INTERNAL_ASSERT(false, "unknown trace method");
}

void check_options(const LinearOperator& op, const TraceOptions& options) {
  TORCH_CHECK_VALUE(options.block > 0,
                    "trace: block is ",
                    options.block,
                    " but vectors are multiplied at least one at a time; pass 1 or more");
  const int64_t least = std::min(op.dim(), least_products(options.method));
  TORCH_CHECK_VALUE(options.products >= least,
                    "trace: ",
                    options.products,
                    " products are allowed but the method needs ",
                    least,
                    "; allow more, or take kHutchinson");
}

}  // namespace

Estimate trace(const LinearOperator& op, const TraceOptions& options) {
  const ArithmeticGuard guard;
  check_operator("trace", op);
  check_options(op, options);
  if (options.products >= op.dim()) return exact(op, options.block);
  RandomLines random(op, options.seed);
  switch (options.method) {
    case TraceMethod::kHutchinson:
      return hutchinson(op, options, random);
    case TraceMethod::kHutchPlusPlus:
      return hutch_plus_plus(op, options, random);
    case TraceMethod::kXTrace:
      return x_trace(op, options, random);
  }
  TORCH_INTERNAL_ASSERT(false, "unknown trace method");
}

}  // namespace flightdeck
