// SPDX-License-Identifier: MIT
// Turns output gradients into rows where parameters enter, brings the rows to their parameters and
// hands them over once there are those of all uses.
#pragma once

#include <functional>
#include <vector>

#include "flightdeck/coverage.h"
#include "passes/walker.h"

namespace flightdeck {

class RowsCollector {
 public:
  using Complete = std::function<void(size_t parameter, Rows rows)>;

  // Begins without rows. `samples` restricts the rows to these, in this order; empty means all.
  // `coverage` (optional) learns how rows came about; its parameters must be there. The capture
  // must outlive this.
  RowsCollector(const Capture& capture,
                std::vector<int64_t> samples,
                Coverage* coverage,
                Complete complete);

  // Returns true if rows arise at this node.
  bool has_uses(size_t position) const;

  // Takes the output gradients of one node of the batch side. Each node is visited at most once.
  void visit(size_t position, const variable_list& gradients);

  // Hands over what there is although some uses were never visited: no gradient reached them.
  void finish();

 private:
  struct HandedRows {
    size_t output;
    Rows rows;
  };

  Rows rows_at(size_t position, size_t edge, const variable_list& gradients);
  Rows rows_one_by_one(size_t position, size_t edge, const variable_list& gradients) const;
  // Forms the rows of a term of a scalar loss: each sample has an equal share of it.
  Rows shared_rows(size_t position, size_t edge, const variable_list& gradients) const;
  void receive(size_t position, size_t output, Rows rows);
  void hand_on(size_t position);
  Rows carry(size_t position, size_t edge, const std::vector<HandedRows>& handed);
  Rows carry_one_by_one(size_t position, size_t edge, size_t output, const Rows& rows) const;
  // Carries multiples of shared vectors as such; returns no rows for others.
  Rows carry_shared(size_t position, size_t edge, size_t output, const Rows& rows) const;
  // Carries all rows at once by the rule's product with a stack, or by the slope; returns no rows
  // where there is neither.
  Rows carry_stack(size_t position, size_t edge, size_t output, const Rows& rows) const;
  std::vector<size_t> parameters_below(size_t position) const;

  const Capture& capture_;
  std::vector<int64_t> samples_;
  Tensor index_;  // [S] of the samples, on the device of the first gradient seen
  Coverage* coverage_;
  Complete complete_;
  std::vector<std::vector<HandedRows>> handed_;  // to each node
  std::vector<int64_t> missing_;                 // edges that have handed on nothing yet
};

// Returns the coverage of every parameter as far as the capture alone tells.
Coverage initial_coverage(const Capture& capture, const Parameters& parameters);

}  // namespace flightdeck
