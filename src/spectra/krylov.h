// SPDX-License-Identifier: MIT
// A subspace that grows by products: orthonormal lines Q, of which the first m were multiplied, and
// A restricted to it. The lines after them, which are pending, hold what A makes of the first m
// outside their span: A Q' = Q' T + F' B with the pending lines F. Some lines are probes: what they
// have of an eigenvector is known to be above zero, see Judge.
#pragma once

#include <cstdint>

#include "spectra/basis.h"
#include "spectra/ritz.h"

namespace flightdeck {

class KrylovSpace {
 public:
  // Keeps at most `limit` lines; the caller restarts before that.
  KrylovSpace(const LinearOperator& op, int64_t limit);

  int64_t size() const { return multiplied_; }
  int64_t pending() const { return basis_.size() - multiplied_; }
  int64_t lines_kept() const { return basis_.size(); }
  int64_t products() const { return products_; }
  Tensor lines() const { return basis_.lines(0, multiplied_); }

  // Makes pending what lines [V, D] have outside the span; the pending lines are the probes then.
  // Beside lines that were multiplied they may be added only when none is pending: the span is then
  // invariant, and A keeps them apart.
  void add(const Tensor& lines);

  // Multiplies the first `count` pending lines. Returns false, and changes nothing but the count of
  // products, if a product is not finite.
  bool expand(int64_t count);

  // Returns the pairs of the multiplied lines.
  Ritz ritz() const;

  // Keeps the pairs with these values [k] and coefficients [m, k], and the pending lines, which are
  // the probes then.
  void restart(const Tensor& values, const Tensor& coefficients);

 private:
  Tensor block_below() const;  // B [f, m]
  void probe_with_pending();
  double negligible() const;

  const LinearOperator& op_;
  Basis basis_;
  Tensor projection_;  // [limit, limit], column j holds Q A q_j for the multiplied q_j
  Tensor probes_;      // [limit, V], a column per probe: its coefficients in the lines
  int64_t multiplied_ = 0;
  int64_t products_ = 0;
  double scale_ = 0;  // largest norm of a product
  double precision_;
};

}  // namespace flightdeck
