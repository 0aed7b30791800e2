// SPDX-License-Identifier: MIT
// Where the N samples sit inside a tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

/// The samples are one digit of the index along dimension `dim`, whose size is
/// outer * N * inner: index = (o * N + n) * inner + i. A plain [N, ...] has dim 0 and outer and
/// inner 1, a flattened [N*T, I] has inner = T, a flattened time-major [T*N, I] has outer = T.
///
/// Where positions were picked in any order (the tokens of an expert), `owners` says for each
/// position along `dim` which sample it belongs to; -1: to none that is known, and no gradient
/// arrives there. Then outer is 1 and inner the number of positions of the sample that has most.
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
  std::shared_ptr<const std::vector<int64_t>> owners = nullptr;

  static Layout batch(int64_t N, int64_t dim, int64_t outer = 1, int64_t inner = 1) {
    return {Kind::kBatch, N, dim, outer, inner};
  }
  /// Position k along `dim` belongs to sample owners[k], or to none if that is -1.
  static Layout scattered(int64_t N, int64_t dim, std::vector<int64_t> owners);
  static Layout of(Kind kind, int64_t N = 0) { return {kind, N, 0, 1, 1}; }
  static Layout free() { return of(Kind::kFree); }
  static Layout unknown() { return of(Kind::kUnknown); }
  static Layout mixed() { return of(Kind::kMixed); }

  bool is_batch() const { return kind == Kind::kBatch; }
  bool is_reduced() const { return kind == Kind::kReduced; }
  bool is_free() const { return kind == Kind::kFree; }
  bool is_scattered() const { return owners != nullptr; }

  /// Entries of dimension `dim`.
  int64_t length() const {
    return owners ? static_cast<int64_t>(owners->size()) : outer * N * inner;
  }

  Layout at_dim(int64_t other) const { return {kind, N, other, outer, inner, owners}; }
  friend bool operator==(const Layout& a, const Layout& b) {
    const bool same_owners =
        a.owners == b.owners || (a.owners && b.owners && *a.owners == *b.owners);
    return a.kind == b.kind && a.N == b.N && a.dim == b.dim && a.outer == b.outer &&
           a.inner == b.inner && same_owners;
  }
};

/// Layout of an operand of shape `input` broadcast to `output`: batch at the matching dimension, or
/// free if the operand has size 1 there or lacks the dimension.
Layout broadcast_layout(const Layout& layout,
                        const std::vector<int64_t>& output,
                        const std::vector<int64_t>& input);

/// View [N, before..., outer, inner, after...] of a tensor that carries samples. Of scattered ones
/// it is a copy, with zeros where a sample has fewer positions than another.
Tensor samples_first(const Tensor& tensor, const Layout& layout);

}  // namespace flightdeck
