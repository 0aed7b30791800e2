// SPDX-License-Identifier: MIT
#include "spectra/krylov.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "spectra/products.h"

namespace flightdeck {
namespace {

// Below this many units of rounding a rest is taken for zero: the span is invariant. A rest is the
// spread of the eigenvalues that a random line sees; the outermost may be some times further off.
constexpr double kKrylovNoise = 10;

}  // namespace

KrylovSpace::KrylovSpace(const LinearOperator& op, int64_t limit)
    : op_(op),
      basis_(op.dim(), op.options()),
      projection_(at::zeros({limit, limit}, at::kDouble)),
      precision_(precision_of(op.options().dtype().toScalarType())) {}

double KrylovSpace::negligible() const { return kKrylovNoise * precision_ * scale_; }

void KrylovSpace::add(const Tensor& lines) {
  const Tensor norms = norms_of(lines);
  for (int64_t v = 0; v < lines.size(0); ++v) {
    const double norm = norms[v].item<double>();
    if (norm > 0 && std::isfinite(norm)) basis_.append(lines[v] / norm, kKrylovNoise * precision_);
  }
  probe_with_pending();
}

void KrylovSpace::probe_with_pending() {
  probes_ = at::zeros({projection_.size(0), pending()}, at::kDouble);
  probes_.slice(0, multiplied_, basis_.size()).copy_(at::eye(pending(), at::kDouble));
}

bool KrylovSpace::expand(int64_t count) {
  // The product is copied, since an operator may return what it was given.
  Tensor rest = product(op_, basis_.lines(multiplied_, multiplied_ + count)).clone();
  products_ += count;
  const Tensor norms = norms_of(rest);
  if (!all_finite(norms)) return false;
  scale_ = std::max(scale_, norms.max().item<double>());

  const int64_t known = basis_.size();
  const Tensor columns = projection_.slice(1, multiplied_, multiplied_ + count);
  columns.slice(0, 0, known).copy_(basis_.remove_span(rest).t());
  for (int64_t i = 0; i < count; ++i) {
    const Basis::Appended appended = basis_.append(rest[i], negligible());
    // The coefficient of a line that was not added is zero, and may have no place.
    const int64_t places = std::min(appended.coefficients.size(0), projection_.size(0));
    columns.select(1, i).slice(0, 0, places) += appended.coefficients.slice(0, 0, places);
  }
  multiplied_ += count;
  return true;
}

Tensor KrylovSpace::block_below() const {
  return projection_.slice(0, multiplied_, basis_.size()).slice(1, 0, multiplied_);
}

Ritz KrylovSpace::ritz() const {
  Ritz ritz = small_eigenpairs(projection_.slice(0, 0, multiplied_).slice(1, 0, multiplied_));
  ritz.below = block_below().mm(ritz.coefficients);
  ritz.residuals = ritz.below.square().sum(0).sqrt();
  ritz.probed = ritz.coefficients.t().mm(probes_.slice(0, 0, multiplied_));
  ritz.unprobed = probes_.slice(0, multiplied_, basis_.size());
  return ritz;
}

void KrylovSpace::restart(const Tensor& values, const Tensor& coefficients) {
  const int64_t kept = values.size(0), waiting = pending();
  const Tensor below = block_below().mm(coefficients);
  const Tensor pairs = coefficients.t().to(op_.options()).mm(lines());
  basis_.replace(at::cat({pairs, basis_.lines(multiplied_, basis_.size())}));
  projection_.zero_();
  projection_.slice(0, 0, kept).slice(1, 0, kept).copy_(at::diag(values));
  projection_.slice(0, kept, kept + waiting).slice(1, 0, kept).copy_(below);
  multiplied_ = kept;
  probe_with_pending();
}

}  // namespace flightdeck
