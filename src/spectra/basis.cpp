// SPDX-License-Identifier: MIT
#include "spectra/basis.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "spectra/products.h"

namespace flightdeck {
namespace {

// A pass that leaves this share of the norm has lost no more than a bit to cancellation.
constexpr double kKeptShare = 0.7;
// Two passes are enough for a line that is independent; a third that still shrinks it meets noise.
constexpr int kPasses = 3;
constexpr int64_t kFirstCapacity = 4;

}  // namespace

Basis::Basis(int64_t dim, const at::TensorOptions& options)
    : storage_(at::empty({std::min(dim, kFirstCapacity), dim}, options)) {}

Basis::Basis(const Tensor& lines) : storage_(lines), size_(lines.size(0)) {}

void Basis::replace(const Tensor& lines) {
  storage_ = lines;
  size_ = lines.size(0);
}

Tensor Basis::remove_span(Tensor& vectors) const {
  if (vectors.size(0) == 0 || size_ == 0) return at::zeros({vectors.size(0), size_}, at::kDouble);
  const Tensor coefficients = scalar_products(vectors, lines());
  if (is_long(vectors)) {
    for (int64_t v = 0; v < vectors.size(0); ++v) {
      vectors[v].addmv_(lines().t(), coefficients[v], /*beta=*/1, /*alpha=*/-1);
    }
  } else {
    vectors.addmm_(coefficients, lines(), /*beta=*/1, /*alpha=*/-1);
  }
  return small(coefficients);
}

Basis::Appended Basis::append(const Tensor& line, double negligible) {
  Tensor rest = line.reshape({1, dim()}).clone();
  Tensor coefficients = at::zeros({size_ + 1}, at::kDouble);
  double norm = norms_of(rest).item<double>();
  bool is_settled = size_ == 0;
  for (int pass = 0; pass < kPasses && !is_settled && norm > negligible; ++pass) {
    coefficients.slice(0, 0, size_) += remove_span(rest)[0];
    const double before = norm;
    norm = norms_of(rest).item<double>();
    is_settled = norm > kKeptShare * before;
  }
  const bool added = is_settled && norm > negligible && std::isfinite(norm) && !is_complete();
  if (added) {
    reserve(size_ + 1);
    storage_[size_].copy_(rest[0] / norm);
    coefficients[size_] = norm;
    ++size_;
  }
  return {coefficients, added};
}

void Basis::reserve(int64_t count) {
  if (count <= storage_.size(0)) return;
  const int64_t capacity = std::min(dim(), std::max(count, 2 * storage_.size(0)));
  Tensor larger = at::empty({capacity, dim()}, storage_.options());
  larger.slice(0, 0, size_).copy_(lines());
  storage_ = larger;
}

}  // namespace flightdeck
