// SPDX-License-Identifier: MIT
// Where the N samples sit inside a tensor.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "base/shape.h"

namespace flightdeck {

using at::Tensor;

/// The samples are one digit of the index along dimension `dim`, whose size is
/// outer * N * inner: index = (o * N + n) * inner + i. A flattened [N*T, I] has inner = T,
/// a flattened time-major [T*N, I] has outer = T.
struct Layout {
  enum class Kind {
    kUnset,
    kBatch,    // the samples are at dim/outer/inner
    kReduced,  // a scalar from which the samples have been summed away
    kFree,     // does not carry samples: parameter side
    kUnknown,  // the rule cannot say
    kMixed,    // the op mixes the samples: one output entry depends on several
    kCoupled,  // training-mode batch norm: the caller's policy decides
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

/// Layout after viewing a tensor of shape `from` as `to`; unknown if the samples would straddle
/// dimensions.
Layout reshape_layout(const Layout& layout, const Shape& from, const Shape& to);

/// Layout of an operand of shape `input` broadcast to `output`: batch at the matching dimension, or
/// free if the operand has size 1 there or lacks the dimension.
Layout broadcast_layout(const Layout& layout, const Shape& output, const Shape& input);

/// For the operand of a reduction from which the samples have been summed away: the leading
/// dimension carries them, sample by sample. Throws if N does not divide it.
Layout leading_layout(int64_t N, const Shape& input, const std::string& op);

/// View [N, before..., outer, inner, after...] of a tensor that carries samples.
Tensor samples_first(const Tensor& tensor, const Layout& layout);

/// [N, T, F] of a tensor with its features in the last dimension; copies only if outer and inner
/// both exceed 1 or the view is impossible.
Tensor positions_and_features(const Tensor& tensor, const Layout& layout);

/// Multiplies each sample of `tensor` by its entry of `scale` [N]; keeps shape and layout.
Tensor scale_samples(const Tensor& tensor, const Layout& layout, const Tensor& scale);

/// A copy of `tensor` with all samples but `n` set to zero.
Tensor only_sample(const Tensor& tensor, const Layout& layout, int64_t n);

}  // namespace flightdeck
