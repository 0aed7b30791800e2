// SPDX-License-Identifier: MIT
#include "curvature/diagonals.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

void accumulate(Tensor& total, const Tensor& part) {
  if (!part.defined()) return;
  total = total.defined() ? total.add_(part) : part.clone();
}

// The same for a part that is ours alone, and as large as the parameter.
void take_over(Tensor& total, const Tensor& part) {
  total = total.defined() ? total.add_(part) : part;
}

// Adds the squared rows of each sample over the columns, a few samples at a time.
Tensor squares_per_sample(const std::vector<Rows>& columns, double share, int64_t scratch_bytes) {
  const int64_t N = columns[0].N();
  const auto options = columns[0].terms()[0].form->options();
  Shape sizes = columns[0].shape();
  const int64_t piece = rows_per_piece(sizes, options, scratch_bytes);
  sizes.insert(sizes.begin(), N);
  Tensor squares = at::zeros(sizes, options);
  for (int64_t begin = 0; begin < N; begin += piece) {
    const int64_t end = std::min(begin + piece, N);
    for (const Rows& rows : columns) {
      squares.slice(0, begin, end).add_(rows.dense(begin, end).square(), share);
    }
  }
  return squares;
}

// Stacks all columns in one go where that saves launches, or adds up small factors before a large
// product. Takes one at a time where it would copy large factors for nothing.
std::vector<Rows> stacks_of(const std::vector<Rows>& columns) {
  const auto& terms = columns[0].terms();
  const bool is_single = std::all_of(terms.begin(), terms.end(), [](const Rows::Term& term) {
    const Tensor gradients = term.form->position_gradients();
    return !gradients.defined() || gradients.size(1) == 1;
  });
  const bool is_cpu = terms[0].form->options().device().is_cpu();
  return is_single || !is_cpu ? std::vector<Rows>{Rows::stack(columns)} : columns;
}

// Returns the squares of all columns, summed, where what they share makes that cheaper than column
// by column; an undefined tensor elsewhere.
Tensor shared_squares(const std::vector<Rows>& columns, double share, bool is_for_trace) {
  FormList others;
  for (const Rows& rows : columns) {
    if (rows.terms().size() != 1) return {};
    if (&rows != &columns[0]) others.push_back(rows.terms()[0].form);
  }
  const Rows::Term& term = columns[0].terms()[0];
  const Tensor squares = term.form->squares_with(others, share, is_for_trace);
  return squares.defined() ? term.placement.to_parameter(squares, /*lead=*/0) : squares;
}

}  // namespace

void add_columns(Diagonal& total,
                 const std::vector<Rows>& columns,
                 const DiagonalNeeds& needs,
                 double sign,
                 int64_t scratch_bytes) {
  const double share = sign / static_cast<double>(columns[0].N());  // N: rows of one column
  if (needs.per_sample) {
    const Tensor squares = squares_per_sample(columns, share, scratch_bytes);
    accumulate(total.per_sample, squares);
    if (needs.diagonal) accumulate(total.diagonal, squares.sum(0));
    if (needs.trace) accumulate(total.trace, squares.sum());
    return;
  }
  if (const Tensor squares = shared_squares(columns, share, !needs.diagonal); squares.defined()) {
    if (needs.trace) accumulate(total.trace, squares.sum());
    if (needs.diagonal) take_over(total.diagonal, squares);
    return;
  }
  Questions questions;
  if (needs.diagonal) {
    questions.what = Need::kSecondMoment;
  } else if (needs.trace) {
    questions.what = Need::kNorms;
  }
  questions.share = share;
  questions.scratch_bytes = scratch_bytes;
  for (const Rows& rows : stacks_of(columns)) {
    const Answers answers = rows.answer(questions);
    if (needs.diagonal) take_over(total.diagonal, answers.second_moment);
    if (needs.trace) {
      accumulate(
          total.trace,
          needs.diagonal ? answers.second_moment.sum() : answers.norms.square().sum().mul(share));
    }
  }
}

void add(Diagonal& total, const Diagonal& other) {
  accumulate(total.diagonal, other.diagonal);
  accumulate(total.per_sample, other.per_sample);
  accumulate(total.trace, other.trace);
}

}  // namespace flightdeck
