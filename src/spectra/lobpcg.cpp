// SPDX-License-Identifier: MIT
// Locally optimal blocks: each step is a Rayleigh-Ritz problem on the pairs X, their last change P
// and their residuals R. One pair more than wanted per end rides along, so that gaps are known.
// What it began from is forgotten on the way: whether an eigenvalue was missed is for lanczos() to
// say.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ATen.h>

#include "spectra/basis.h"
#include "spectra/eigen_methods.h"
#include "spectra/products.h"
#include "spectra/ritz.h"

namespace flightdeck {
namespace {

constexpr double kLobpcgNoise = 100;

// Estimates |value - eigenvalue|, where no eigenvalue was missed: min(r, r²/gap) with the residual
// r and the distance to the nearest other eigenvalue, which lies within residuals[j] of values[j].
double estimated_error(const Ritz& ritz, int64_t i) {
  const auto values = ritz.values.accessor<double, 1>();
  const auto residuals = ritz.residuals.accessor<double, 1>();
  double gap = ritz.size() > 1 ? std::numeric_limits<double>::infinity() : 0;
  for (int64_t j = 0; j < ritz.size(); ++j) {
    if (j != i) gap = std::min(gap, std::abs(values[i] - values[j]) - residuals[j]);
  }
  const double r = residuals[i];
  return gap > r ? r * (r / gap) : r;
}

// Holds lines and what the operator makes of them.
struct Images {
  Tensor lines;     // [m, D]
  Tensor products;  // [m, D]
};

Images combine(const Tensor& coefficients, const Images& images) {  // [k, m]
  const Tensor c = coefficients.to(images.lines.options());
  return {c.mm(images.lines), c.mm(images.products)};
}

class LobpcgRun {
 public:
  LobpcgRun(const LinearOperator& op, const EigenOptions& options)
      : op_(op),
        options_(options),
        wanted_(op, options),
        noise_(kLobpcgNoise * precision_of(op.options().dtype().toScalarType())) {}

  Eigenpairs run() {
    begin();
    while (is_finite_ && step()) {
    }
    Eigenpairs pairs = collect(op_, wanted_, ritz_, x_.lines);
    pairs.is_finite = is_finite_;
    pairs.products = products_;
    pairs.iterations = iterations_;
    return pairs;
  }

 private:
  void begin() {
    Basis basis(op_.dim(), op_.options());
    fill(basis, options_.start);
    RandomLines random(op_, options_.seed);
    while (basis.size() < lobpcg_block(options_)) {
      fill(basis, random.normal(lobpcg_block(options_) - basis.size()));
    }
    p_ = {at::empty({0, op_.dim()}, op_.options()), at::empty({0, op_.dim()}, op_.options())};
    improve({basis.lines(), multiply(basis.lines())}, 0);
  }

  void fill(Basis& basis, const Tensor& lines) const {
    for (int64_t v = 0; v < lines.size(0) && basis.size() < options_.max_products; ++v) {
      basis.append(lines[v] / lines[v].norm(), noise_);
    }
  }

  Tensor multiply(const Tensor& lines) {
    products_ += lines.size(0);
    ++iterations_;
    const Tensor result = product(op_, lines);
    is_finite_ = all_finite(norms_of(result));
    return result;
  }

  // Returns false when there is nothing left to do.
  bool step() {
    const Tensor residuals = open_residuals();
    if (residuals.size(0) == 0) return false;
    Basis basis(at::cat({x_.lines, p_.lines}));
    const int64_t known = basis.size();
    for (int64_t i = 0; i < residuals.size(0); ++i) {
      basis.append(residuals[i] / residuals[i].norm(), noise_);
    }
    const int64_t room = options_.max_products - products_;
    const int64_t fresh = std::min(basis.size() - known, room);
    if (fresh <= 0) return false;
    const Tensor lines = basis.lines(known, known + fresh);
    const Tensor images = multiply(lines);
    if (!is_finite_) return false;
    improve({at::cat({x_.lines, p_.lines, lines}), at::cat({x_.products, p_.products, images})},
            x_.lines.size(0));
    return true;
  }

  // Returns residuals [u, D] of the wanted pairs that are not good enough.
  Tensor open_residuals() const {
    const std::vector<int64_t> positions = wanted_.positions(ritz_.size());
    std::vector<int64_t> open;
    for (size_t k = 0; k < positions.size(); ++k) {
      const double error = estimated_error(ritz_, positions[k]);
      if (error > wanted_.allowed_error(ritz_, k)) open.push_back(positions[k]);
    }
    const Tensor index = at::tensor(open, at::kLong).to(op_.options().device());
    return all_residuals().index_select(0, index);
  }

  Tensor all_residuals() const {
    const Tensor values = ritz_.values.to(x_.lines.options()).unsqueeze(1);
    return x_.products - x_.lines * values;
  }

  // Sets X to the outermost pairs of the span of these orthonormal lines, and P to what has changed
  // in X beside its first `count` lines, made orthogonal to X in the small space, in float64.
  void improve(const Images& images, int64_t count) {
    if (!is_finite_) return;
    const Ritz all = small_eigenpairs(small(images.products.mm(images.lines.t())));
    const Tensor coefficients = all.coefficients.index_select(1, outermost(all.size())).t();
    ritz_.values = all.values.index_select(0, outermost(all.size()));
    Basis directions(coefficients);
    const int64_t pairs = directions.size();
    for (int64_t i = 0; count > 0 && i < pairs; ++i) {
      Tensor change = coefficients[i].clone();
      change.slice(0, 0, count).zero_();
      directions.append(change, noise_);
    }
    p_ = combine(directions.lines(pairs, directions.size()), images);
    x_ = combine(coefficients, images);
    ritz_.residuals = norms_of(all_residuals());
    ritz_.coefficients = at::eye(pairs, at::kDouble);
  }

  // Returns the positions of the block's pairs among m.
  Tensor outermost(int64_t m) const {
    const int64_t above = options_.largest > 0 ? options_.largest + 1 : 0;
    const int64_t below = lobpcg_block(options_) - above;
    return at::cat({at::arange(below), at::arange(m - above, m)});
  }

  const LinearOperator& op_;
  const EigenOptions& options_;
  Wanted wanted_;
  double noise_;
  Ritz ritz_;
  Images x_, p_;
  int64_t products_ = 0;
  int64_t iterations_ = 0;
  bool is_finite_ = true;
};

}  // namespace

int64_t lobpcg_block(const EigenOptions& options) {
  const auto lines = [](int64_t pairs) { return pairs > 0 ? pairs + 1 : 0; };
  return lines(options.largest) + lines(options.smallest);
}

Eigenpairs lobpcg(const LinearOperator& op, const EigenOptions& options) {
  return LobpcgRun(op, options).run();
}

}  // namespace flightdeck
