// SPDX-License-Identifier: MIT
// Block Lanczos with full re-orthogonalisation and thick restarts. The projection of A is kept as a
// full small matrix: restarts and random continuations then need no cases.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "spectra/eigen_methods.h"
#include "spectra/krylov.h"
#include "spectra/products.h"

namespace flightdeck {
namespace {

// Every line of the start, of length one, gets a random part of this length. An eigenvector that
// the start lacks is found from that part and from nothing else. A shorter part has to grow for
// longer before it proves anything, and drowns in rounding in float32; two more products undo what
// it does to the values.
constexpr double kAddedLength = 1;
// The length of that part for a caller who wants a value more than a proof.
constexpr double kAddedForAValue = 0.1;

// In fewer iterations a value that does not change may be an accident of the start.
constexpr int64_t kLeastIterations = 3;

// Scales lines to length one; lines of zeros stay.
Tensor unit(const Tensor& lines) {
  return lines / lines.norm(2, 1, /*keepdim=*/true).clamp_min_(1e-30);
}

class LanczosRun {
 public:
  LanczosRun(const LinearOperator& op, const EigenOptions& options)
      : op_(op),
        options_(options),
        wanted_(op, options),
        added_(options.until_proved ? kAddedLength : kAddedForAValue),
        judge_(op, options, options.block, options.start.size(0) > 0 ? added_ / (1 + added_) : 1),
        random_(op, options.seed),
        space_(op, std::min(op.dim(), options.max_basis)) {}

  Eigenpairs run() {
    space_.add(first_lines());
    bool is_finite = true;
    while (is_finite && !settled()) {
      const int64_t count = choose_lines();
      if (count == 0) break;
      is_finite = space_.expand(count);
      ++iterations_;
      if (is_finite) look();
    }
    Eigenpairs pairs = collect(op_, wanted_, ritz(), space_.lines());
    // Pairs from before a product that is not finite belong to no operator.
    if (is_finite) {
      pairs.errors = at::tensor(judge_.errors(stages_), at::kDouble);
      pairs.converged = converged_;
    }
    pairs.is_finite = is_finite;
    pairs.products = space_.products();
    pairs.iterations = iterations_;
    return pairs;
  }

 private:
  // Begins from all lines of the start at once, added up where the block has fewer: the chain of
  // products from a sum of eigenvectors finds each of them.
  Tensor first_lines() {
    const Tensor random = unit(random_.normal(options_.block));
    Tensor known = at::zeros_like(random);
    for (int64_t v = 0; v < options_.start.size(0); ++v) {
      known[v % options_.block] += options_.start[v];
    }
    return unit(known) + added_ * random;
  }

  const Ritz& ritz() const { return stages_.back(); }

  void look() {
    stages_.back() = space_.ritz();
    converged_ = judge_.converged(stages_);
    if (ritz().size() < wanted_.count()) return;
    std::vector<double> values;
    for (size_t k = 0; k < converged_.size(); ++k) values.push_back(wanted_.value(ritz(), k));
    stands_still_ = iterations_ >= kLeastIterations && stand_still(values_, values);
    values_ = std::move(values);
  }

  bool stand_still(const std::vector<double>& before, const std::vector<double>& now) const {
    if (before.size() != now.size()) return false;
    for (size_t k = 0; k < now.size(); ++k) {
      if (std::abs(now[k] - before[k]) > wanted_.allowed_error(ritz(), k) / 2) return false;
    }
    return true;
  }

  bool settled() const {
    if (ritz().size() == op_.dim() || (stands_still_ && !options_.until_proved)) return true;
    if (ritz().size() < wanted_.count()) return false;
    // No line is pending: the operator maps the span into itself, so its Ritz values are exact. An
    // eigenvector that was not part of the probes, up to rounding, is missing all the same. One
    // more random line finds it, and only after that the values are settled.
    if (space_.pending() == 0 && !has_second_probe_) return false;
    return std::find(converged_.begin(), converged_.end(), false) == converged_.end();
  }

  // Prepares the pending lines; returns how many to multiply, 0 if the budget is spent.
  int64_t choose_lines() {
    if (space_.pending() == 0) {
      space_.add(random_.normal(1));
      has_second_probe_ = true;
      stages_ = {space_.ritz()};
    }
    // All pending lines are multiplied. A random line proves that no eigenvalue was missed, and it
    // proves that only as long as every line that follows from it is in the space.
    const int64_t count = std::min(space_.pending(), options_.max_products - space_.products());
    const int64_t lines = std::min(op_.dim(), space_.lines_kept() + count);
    if (lines > options_.max_basis) restart();
    return count;
  }

  // Keeps the wanted pairs and, of the room left, a third for their neighbours: at least a block,
  // as a copy of a wanted pair that is left out comes back for ever.
  void restart() {
    const int64_t m = ritz().size();
    const int64_t room = options_.max_basis - wanted_.count() - 2 * options_.block;
    const int64_t extra = std::max(options_.block, room / 3);
    const int64_t extra_above = extra * options_.largest / wanted_.count();
    const int64_t above = std::min(m, options_.largest + extra_above);
    const int64_t below = std::min(m - above, options_.smallest + extra - extra_above);
    const Tensor kept = at::cat({at::arange(below), at::arange(m - above, m)});
    space_.restart(ritz().values.index_select(0, kept), ritz().coefficients.index_select(1, kept));
    stages_.push_back(space_.ritz());
  }

  const LinearOperator& op_;
  const EigenOptions& options_;
  Wanted wanted_;
  double added_;
  Judge judge_;
  RandomLines random_;
  KrylovSpace space_;
  std::vector<Ritz> stages_ = {Ritz()};  // at every restart since the probes, and now
  std::vector<bool> converged_;          // per wanted pair, now
  std::vector<double> values_;           // of the wanted pairs
  int64_t iterations_ = 0;
  bool stands_still_ = false;
  bool has_second_probe_ = false;
};

}  // namespace

Eigenpairs lanczos(const LinearOperator& op, const EigenOptions& options) {
  return LanczosRun(op, options).run();
}

}  // namespace flightdeck
