// SPDX-License-Identifier: MIT
// The factor V of a batch's GGN as rows of the parameters: its Gram matrices, and sums of its rows.
#pragma once

#include <string>
#include <vector>

#include "curvature/columns_pass.h"
#include "curvature/context.h"
#include "flightdeck/vivit.h"

namespace flightdeck {

// The columns are those of the loss factor, then (if asked for) the gradient as one more. Rows of
// the Gram matrix are columns x samples, restricted to the chosen samples. Rows that fit into
// memory are kept; others are made again when they are asked for.
class VivitRows {
 public:
  VivitRows(const Batch& batch, const VivitOptions& options);

  const VivitOptions& options() const { return options_; }
  const std::vector<std::string>& remarks() const { return context_.remarks(); }
  size_t groups() const { return groups_.size(); }
  void check_group(size_t group) const;
  // Counts the entries of the parameters of a group.
  int64_t dim(size_t group) const;

  int64_t K() const { return K_; }                // columns of the loss factor
  int64_t S() const { return context_.count(); }  // samples
  int64_t R() const { return K_ * S(); }          // rows of V
  int64_t G() const;                              // rows of individual gradients, after those

  // Returns the products of all rows, [R + G, R + G], without the factor 1/N.
  const Tensor& gram(size_t group) const;
  // Adds up all rows with coefficients [M, R + G], to a tensor [M, *shape] for each parameter of
  // the group.
  std::vector<Tensor> combine(const Tensor& coefficients, size_t group) const;
  // Returns Vᵀv for vectors [V, D] of the group, [R, V].
  Tensor inner_products(const Tensor& vectors, size_t group) const;

 private:
  struct Range {
    int64_t begin, end;  // the columns; the gradient is column K
    int64_t size() const { return end - begin; }
  };

  bool is_sampled() const { return options_.columns == LossColumns::kSampled; }
  int64_t columns() const { return K_ + (options_.gradients ? 1 : 0); }
  void check_options() const;
  void set_groups();
  std::vector<Seed> seeds(Range range) const;
  Rows choose(const Rows& stacked, Range range) const;
  // Tell where the rows of a range start in the Gram matrix, and how many there are.
  int64_t first_row(Range range) const { return range.begin * S(); }
  int64_t row_count(Range range) const;
  std::vector<Range> pieces(int64_t share) const;
  void gather();
  Questions gram_question() const;
  void gather_whole(Range range);
  void gather_pair(Range a, Range b);
  Tensor block(const Tensor& gram, Range a, Range b) const;
  std::vector<bool> wanted_in(size_t group) const;

  VivitOptions options_;
  mutable CurvatureContext context_;
  mutable ColumnsPass pass_;
  int64_t K_ = 0;
  std::vector<Seed> sampled_;
  std::vector<std::vector<size_t>> groups_;
  std::vector<int64_t> group_of_;  // of each parameter, or -1
  std::vector<bool> wanted_;
  std::vector<Tensor> grams_;
  std::vector<Rows> kept_;
  bool is_kept_ = true;
};

}  // namespace flightdeck
