// SPDX-License-Identifier: MIT
// Sums over rows that several answers are made of, added up piece by piece, each once.
#pragma once

#include "rows/answer.h"
#include "rows/centred_sums.h"

namespace flightdeck {

class Sums {
 public:
  // Begins the sums that `look` takes. `share`: see Questions.
  Sums(const Look& look, const RowsSize& size, double share);

  // Adds a piece. Pieces cover all rows and entries: all samples in some entries at a time, or some
  // samples in all entries. In the latter case centred sums of samples need the sum beforehand.
  void add(const Piece& piece);
  void know_sum(const Tensor& sum_times_share);  // [entries]

  // The fused kernel writes sum, squares and squared norms into these; undefined if not taken. It
  // writes them before `add_centred` is given the piece.
  Tensor sum_buffer();            // [entries]
  Tensor squares_buffer();        // [entries]
  Tensor squared_norms_buffer();  // [N] double
  void add_centred(const Piece& piece);

  // Takes the norms, where an accumulator has them as a by-product.
  void give_norms(Tensor norms) { norms_ = std::move(norms); }

  // These are the results once all pieces were added; each may be taken once.
  Tensor sum();              // [entries], times the share
  Tensor squares();          // [entries], times the share
  Tensor norms();            // [N]
  Tensor deviations();       // [N] double: ||g_n - g||²
  Tensor mean_dots();        // [N] double: <g_n, sum_m g_m> times the share
  Tensor centred_squares();  // [entries], times the share

 private:
  bool takes_sum() const { return look_.sum || look_.any_centred(); }
  bool takes_norms() const { return look_.norms && !look_.gives_norms; }
  void add_whole(const Piece& piece);
  void add_entries(const Piece& piece);
  void add_samples(const Piece& piece);
  void update_variance(const Tensor& row);

  Look look_;
  RowsSize size_;
  double share_;
  Tensor sum_;            // [entries], without the share
  Tensor shared_sum_;     // [entries], times the share
  Tensor squares_;        // [entries]
  Tensor norms_;          // [N]
  Tensor squared_norms_;  // [N] double
  Tensor mean_;           // [entries], once it is known; of the rows so far, where it is not
  int64_t seen_ = 0;      // rows that the mean so far is made of
  CentredSums centred_;
  Tensor centred_squares_;  // [entries]
};

}  // namespace flightdeck
