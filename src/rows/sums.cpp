// SPDX-License-Identifier: MIT
#include "rows/sums.h"

#include <cmath>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

// Sums over the rows and multiplies by the share, in one operation where that is the mean: each
// operation is a launch on a GPU, and small layers are bound by their number.
Tensor sum_times(const Tensor& rows, double share) {
  const bool is_mean = std::abs(share * static_cast<double>(rows.size(0)) - 1) < 1e-12;
  if (is_mean) return rows.mean(0);
  return share == 1 ? rows.sum(0) : rows.sum(0).mul_(share);
}

Tensor sum_of_rows(const Tensor& rows) {
  return rows.size(0) == 1 ? rows.select(0, 0).clone() : rows.sum(0);
}

Tensor squares_of_rows(const Tensor& rows) {
  return rows.size(0) == 1 ? rows.select(0, 0).square()
                           : at::linalg_vector_norm(rows, 2, {0}).square_();
}

void add_up(Tensor& total, const Tensor& part) {
  total = total.defined() ? total.add_(part) : part;
}

Tensor times(Tensor tensor, double share) { return share == 1 ? tensor : tensor.mul_(share); }

}  // namespace

Sums::Sums(const Look& look, const RowsSize& size, double share)
    : look_(look), size_(size), share_(share) {
  if (look_.any_centred()) centred_ = CentredSums(size.N, size.options);
  if (look_.centred_squares) centred_squares_ = at::zeros({size.entries}, size.options);
}

void Sums::know_sum(const Tensor& sum_times_share) {
  shared_sum_ = sum_times_share.reshape({-1});
  if (look_.any_centred()) mean_ = shared_sum_.div(share_ * static_cast<double>(size_.N));
}

Tensor Sums::sum_buffer() {
  if (takes_sum() && !sum_.defined()) sum_ = at::empty({size_.entries}, size_.options);
  return sum_;
}

Tensor Sums::squares_buffer() {
  if (look_.squares && !squares_.defined()) squares_ = at::empty({size_.entries}, size_.options);
  return squares_;
}

Tensor Sums::squared_norms_buffer() {
  if (takes_norms() && !squared_norms_.defined()) {
    squared_norms_ = at::zeros({size_.N}, size_.options.dtype(at::kDouble));
  }
  return squared_norms_;
}

void Sums::add(const Piece& piece) {
  if (piece.is_whole(size_)) {
    add_whole(piece);
  } else if (piece.has_all_samples(size_)) {
    add_entries(piece);
  } else {
    add_samples(piece);
  }
}

void Sums::add_whole(const Piece& piece) {
  const Tensor& rows = piece.rows;
  if (look_.sum) shared_sum_ = sum_times(rows, share_);
  if (look_.squares) squares_ = at::linalg_vector_norm(rows, 2, {0}).square_();
  if (takes_norms()) norms_ = at::linalg_vector_norm(rows, 2, {1});
  if (!look_.any_centred()) return;
  mean_ = rows.mean(0);
  centred_.add(rows, mean_, centred_squares_);
}

void Sums::add_entries(const Piece& piece) {
  const auto here = [&](const Tensor& of_all) {
    return of_all.slice(0, piece.entry, piece.end_entry());
  };
  if (takes_sum()) here(sum_buffer()).copy_(piece.rows.sum(0));
  if (look_.squares) {
    here(squares_buffer()).copy_(at::linalg_vector_norm(piece.rows, 2, {0}).square_());
  }
  if (takes_norms()) {
    squared_norms_buffer().add_(at::linalg_vector_norm(piece.rows, 2, {1}).square_());
  }
  add_centred(piece);
}

// Adds the centred sums of a piece that holds all samples, and so knows their mean.
void Sums::add_centred(const Piece& piece) {
  if (!look_.any_centred()) return;
  const auto here = [&](const Tensor& of_all) {
    return of_all.defined() ? of_all.slice(0, piece.entry, piece.end_entry()) : of_all;
  };
  centred_.add(piece.rows, here(sum_).div(static_cast<double>(size_.N)), here(centred_squares_));
}

void Sums::add_samples(const Piece& piece) {
  const Tensor& rows = piece.rows;
  if (look_.sum && !shared_sum_.defined()) add_up(sum_, sum_of_rows(rows));
  if (look_.squares) add_up(squares_, squares_of_rows(rows));
  if (takes_norms()) {
    const Tensor here = at::linalg_vector_norm(rows, 2, {1});
    if (!norms_.defined()) norms_ = at::empty({size_.N}, here.options());
    norms_.slice(0, piece.sample, piece.end_sample()).copy_(here);
  }
  if (!look_.any_centred()) return;
  if (shared_sum_.defined()) {
    centred_.add_some(piece.sample, rows, mean_, centred_squares_);
    return;
  }
  TORCH_INTERNAL_ASSERT(!look_.centred, "sums of samples around a mean that is not known");
  for (const Tensor& row : rows.unbind(0)) update_variance(row);
}

// Applies Welford's updates: of the mean so far, and of squares of differences to it alone.
void Sums::update_variance(const Tensor& row) {
  if (++seen_ == 1) {
    mean_ = row.clone();
    return;
  }
  const Tensor difference = row - mean_;
  mean_.add_(difference, 1.0 / static_cast<double>(seen_));
  centred_squares_.addcmul_(difference, row - mean_);
}

Tensor Sums::sum() {
  if (shared_sum_.defined()) return shared_sum_;
  if (look_.centred && !mean_.defined()) mean_ = sum_.div(static_cast<double>(size_.N));
  shared_sum_ = times(sum_, share_);
  return shared_sum_;
}
Tensor Sums::squares() { return times(squares_, share_); }
Tensor Sums::norms() {
  return norms_.defined() ? norms_ : squared_norms_.sqrt().to(size_.options.dtype());
}
Tensor Sums::deviations() { return centred_.deviations(); }
Tensor Sums::mean_dots() {
  if (!mean_.defined()) mean_ = sum_.div(static_cast<double>(size_.N));
  return times(centred_.dots_with_sum(mean_), share_);
}
Tensor Sums::centred_squares() { return times(centred_squares_, share_); }

}  // namespace flightdeck
