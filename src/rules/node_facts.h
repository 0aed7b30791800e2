// SPDX-License-Identifier: MIT
// What a node says of its op to those who look at a graph and do not differentiate it. Names of
// nodes stay in this folder.
#pragma once

#include <optional>

#include "graph/node_view.h"

namespace flightdeck {

// Saved tensors are read by who needs them: hooks of the program may make that dear.

// Holds the output of a softmax, or its logarithm.
struct KeptSoftmax {
  const compat::ag::SavedVariable* result;
  int64_t dim;  // counted from the front
  bool is_logarithm;
};
std::optional<KeptSoftmax> kept_softmax(const NodeView& node);

// Holds what a fused attention was given, and for every head and query the logarithm of the sum
// over the keys of exp(score), [N, heads, queries or more].
struct KeptAttention {
  compat::FusedAttention given;
  const compat::ag::SavedVariable* log_sum_exp;
};
std::optional<KeptAttention> kept_attention(const NodeView& node);

// Tells which entries the k largest along a dimension were.
struct KeptChoice {
  const compat::ag::SavedVariable* indices;
  int64_t dim;         // counted from the front
  bool is_of_maximum;  // of max, which takes one and serves other ends too
};
std::optional<KeptChoice> kept_choice(const NodeView& node);

// Holds what a negative log-likelihood was given.
struct KeptTargets {
  Tensor log_probabilities;
  Tensor targets;  // integers
  int64_t ignore_index = -100;
  Tensor total_weight;  // of a loss that is reduced
};
std::optional<KeptTargets> kept_targets(const NodeView& node);

// Returns what a binary cross-entropy, of logits or of probabilities, was given; undefined if it is
// another op.
Tensor kept_binary_targets(const NodeView& node);

// Returns what a dropout has multiplied by, or an undefined tensor if the node is none.
Tensor dropout_mask(const NodeView& node);

enum class NormMode { kNone, kEvaluating, kTraining };
NormMode batch_norm_mode(const NodeView& node);

// Says how an op squashes what it is given.
enum class Squashing { kNone, kSoftmax, kSigmoid, kOther };
Squashing squashing(const NodeView& node);

// Returns true for a sigmoid and its cross-entropy in one op.
bool has_sigmoid_inside(const NodeView& node);

// Returns true for ops that give the same entries, in the same order, another shape.
bool is_reshape(const NodeView& node);

// Returns true for the transpose of a matrix.
bool is_transpose(const NodeView& node);

// Returns true for a batch of matrix products, such as the two of attention.
bool is_batched_product(const NodeView& node);

// Returns the number that the first factor of a product or a quotient is multiplied by, 1 if the
// other one is no single number that was kept.
std::optional<double> constant_factor(const NodeView& node);

// Returns the scale of left + scale * right.
std::optional<double> sum_scale(const NodeView& node);

// Describes the product of two matrices, plus a bias at edge 0 if there is one.
struct MatrixProduct {
  size_t left;  // edge of the left factor; the right one is next to it
  bool has_bias;
  bool is_plain;  // no factor on either term
};
std::optional<MatrixProduct> matrix_product(const NodeView& node);

}  // namespace flightdeck
