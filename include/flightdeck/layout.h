// SPDX-License-Identifier: MIT
// Where the N samples sit inside a tensor.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

/// The samples are one digit of the index along dimension `dim`, whose size is
/// outer * N * inner: index = (o * N + n) * inner + i. A plain [N, ...] has dim 0 and outer and
/// inner 1, a flattened [N*T, I] has inner = T, a flattened time-major [T*N, I] has outer = T.
struct Layout {
  enum class Kind {
    kUnset,
    kBatch,    ///< the samples are at dim/outer/inner
    kReduced,  ///< a scalar from which the samples have been summed away
    kFree,     ///< does not carry samples: parameter side
    kUnknown,  ///< the rule cannot say
    kMixed,    ///< the op mixes the samples: one output entry depends on several
    kCoupled,  ///< training-mode batch norm: the caller's policy decides
  };

  Kind kind = Kind::kUnset;
  int64_t N = 0;
  int64_t dim = 0;
  int64_t outer = 1;
  int64_t inner = 1;

  static Layout batch(int64_t N, int64_t dim, int64_t outer = 1, int64_t inner = 1) {
    return {Kind::kBatch, N, dim, outer, inner};
  }
  static Layout of(Kind kind, int64_t N = 0) { return {kind, N, 0, 1, 1}; }
  static Layout free() { return of(Kind::kFree); }
  static Layout unknown() { return of(Kind::kUnknown); }
  static Layout mixed() { return of(Kind::kMixed); }

  bool is_batch() const { return kind == Kind::kBatch; }
  bool is_reduced() const { return kind == Kind::kReduced; }
  bool is_free() const { return kind == Kind::kFree; }

  Layout at_dim(int64_t other) const { return {kind, N, other, outer, inner}; }
  friend bool operator==(const Layout& a, const Layout& b) {
    return a.kind == b.kind && a.N == b.N && a.dim == b.dim && a.outer == b.outer &&
           a.inner == b.inner;
  }
};

/// Layout of an operand of shape `input` broadcast to `output`: batch at the matching dimension, or
/// free if the operand has size 1 there or lacks the dimension.
Layout broadcast_layout(const Layout& layout,
                        const std::vector<int64_t>& output,
                        const std::vector<int64_t>& input);

/// View [N, before..., outer, inner, after...] of a tensor that carries samples.
Tensor samples_first(const Tensor& tensor, const Layout& layout);

}  // namespace flightdeck
