// SPDX-License-Identifier: MIT
// Block Lanczos with full re-orthogonalisation and thick restarts. The projection of A is kept as a
// full small matrix: restarts, random continuations and partial blocks then need no cases.
#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "spectra/eigen_methods.h"
#include "spectra/krylov.h"
#include "spectra/products.h"

namespace flightdeck {
namespace {

// Products for a random line beside an invariant subspace. It sees outliers in as many steps as it
// takes their ratio to the rest, to the power of the steps, to outgrow sqrt(D).
constexpr int64_t kProbeProducts = 6;

// Before these a value that does not change may be an accident of the start.
constexpr int64_t kLeastIterations = 3;

class LanczosRun {
 public:
  LanczosRun(const LinearOperator& op, const EigenOptions& options)
      : op_(op),
        options_(options),
        judge_(op, options),
        random_(op, options.seed),
        space_(op, std::min(op.dim(), options.max_basis)) {}

  Eigenpairs run() {
    begin();
    bool is_finite = true;
    while (is_finite && continues()) {
      const int64_t count = choose_lines();
      if (count == 0) break;
      is_finite = space_.expand(count);
      ++iterations_;
      if (!is_finite) break;
      ritz_ = space_.ritz();
      watch_values();
    }
    Eigenpairs pairs = collect(op_, judge_, ritz_, space_.lines());
    // Pairs from before a product that is not finite belong to no operator.
    if (!is_finite) pairs.converged.assign(pairs.converged.size(), false);
    pairs.is_finite = is_finite;
    pairs.products = space_.products();
    pairs.iterations = iterations_;
    return pairs;
  }

 private:
  void begin() {
    space_.add(options_.start);
    const int64_t missing = options_.block - space_.pending();
    if (missing > 0) space_.add(random_.normal(missing));
  }

  bool continues() const {
    if (ritz_.size() == 0) return true;
    if (ritz_.size() == op_.dim() || has_stagnated_) return false;
    return !settled();
  }

  void watch_values() {
    if (options_.stagnation <= 0 || ritz_.size() < judge_.wanted()) return;
    const Tensor values = judge_.wanted_values(ritz_);
    if (last_values_.defined() && iterations_ >= kLeastIterations) {
      const Tensor bound = values.abs() * options_.stagnation;
      has_stagnated_ = ((values - last_values_).abs() <= bound).all().item<bool>();
    }
    last_values_ = values;
  }

  bool settled() const {
    if (ritz_.size() < judge_.wanted() || space_.products() < options_.min_products) return false;
    const std::vector<bool> converged = judge_.converged(ritz_);
    if (std::find(converged.begin(), converged.end(), false) != converged.end()) return false;
    // An invariant subspace may lack copies of an eigenvalue, or a part of A that nothing connects
    // to the start: random lines tell. Where such a line ends in an invariant subspace as well, it
    // has seen the extremes of all that was left, and nothing may have come of it.
    if (space_.pending() == 0) return judge_.agree(values_before_probe_, ritz_);
    return probe_end_ == 0 || (space_.products() >= probe_end_ && judge_.nothing_hides(ritz_));
  }

  // Prepares the pending lines; returns how many to multiply, 0 if the budget is spent.
  int64_t choose_lines() {
    if (space_.pending() == 0) {
      space_.add(random_.normal(1));
      probe_end_ = space_.products() + kProbeProducts;
      values_before_probe_ = judge_.wanted_values(ritz_);
    }
    const Tensor open = open_pairs();
    int64_t count = space_.pending();
    if (open.size(0) > 0 && open.size(0) < count) {
      space_.focus(ritz_.coefficients.index_select(1, open));
      count = open.size(0);
    }
    count = std::min(count, options_.max_products - space_.products());
    const int64_t lines = std::min(op_.dim(), space_.lines_kept() + count);
    if (lines > options_.max_basis) restart();
    return count;
  }

  // Wanted pairs that have not converged. None also means that all pending lines matter.
  Tensor open_pairs() const {
    std::vector<int64_t> open;
    if (ritz_.size() >= judge_.wanted()) {
      const std::vector<int64_t> positions = judge_.positions(ritz_.size());
      const std::vector<bool> converged = judge_.converged(ritz_);
      for (size_t k = 0; k < positions.size(); ++k) {
        if (!converged[k]) open.push_back(positions[k]);
      }
    }
    return at::tensor(open, at::kLong);
  }

  // Keeps the wanted pairs and, of the room left, a third for their neighbours.
  void restart() {
    const int64_t m = ritz_.size();
    const int64_t room = options_.max_basis - judge_.wanted() - 2 * options_.block;
    const int64_t extra = std::max<int64_t>(0, room / 3);
    const int64_t extra_above = extra * options_.largest / judge_.wanted();
    const int64_t above = std::min(m, options_.largest + extra_above);
    const int64_t below = std::min(m - above, options_.smallest + extra - extra_above);
    const Tensor kept = at::cat({at::arange(below), at::arange(m - above, m)});
    space_.restart(ritz_.values.index_select(0, kept), ritz_.coefficients.index_select(1, kept));
    ritz_ = space_.ritz();
  }

  const LinearOperator& op_;
  const EigenOptions& options_;
  Judge judge_;
  RandomLines random_;
  KrylovSpace space_;
  Ritz ritz_;
  int64_t iterations_ = 0;
  Tensor last_values_;  // wanted ones, of the iteration before
  bool has_stagnated_ = false;
  Tensor values_before_probe_;
  int64_t probe_end_ = 0;  // products at which a probe has seen enough; 0 before the first
};

}  // namespace

Eigenpairs lanczos(const LinearOperator& op, const EigenOptions& options) {
  return LanczosRun(op, options).run();
}

}  // namespace flightdeck
