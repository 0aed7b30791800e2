// SPDX-License-Identifier: MIT
// The state of one first-order pass: turns output gradients into rows, brings rows to their
// parameters, asks them what is needed and drops them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "passes/results.h"
#include "passes/walker.h"

namespace flightdeck {

class FirstOrderPass {
 public:
  FirstOrderPass(Capture capture, Parameters parameters, Needs what, GradientOptions options);

  const Capture& capture() const { return capture_; }

  /// True if rows arise at this node.
  bool has_uses(size_t position) const;

  /// The gradient that reached the losses (or the scalar loss). Rows are divided by it, sample by
  /// sample, so that they are those of the individual losses. Call before the first visit.
  void set_weights(const Tensor& gradient);

  /// Takes the output gradients of one node of the batch side. Each node is visited at most once.
  void visit(size_t position, const variable_list& gradients);

  /// The parameters no rule reaches: one backward pass per sample. Needs the graph.
  void run_slow();

  /// Runs the whole pass on its own.
  void run(const Tensor& losses);

  /// The answers; parameters whose rows never arrived are reported as refused.
  Gradients finish(const Tensor& losses);

 private:
  struct Arrival {
    size_t output;
    Rows rows;
  };

  void check_options(Needs what) const;
  Rows rows_at(size_t position, size_t edge, const variable_list& gradients);
  Rows rows_one_by_one(size_t position, size_t edge, const variable_list& gradients) const;
  void deliver(size_t position, size_t output, Rows rows);
  Rows carry(size_t position, size_t edge, const std::vector<Arrival>& arrivals);
  Rows carry_one_by_one(size_t position, size_t edge, size_t output, const Rows& rows) const;
  void complete(size_t parameter, Rows rows);
  void hand_over_gradient(size_t parameter, const Rows& rows, const Answers& answers);
  std::vector<size_t> parameters_below(size_t position) const;

  Capture capture_;
  Parameters parameters_;
  GradientOptions options_;
  int64_t count_;  // rows: S chosen samples, or N
  Results results_;
  Tensor samples_;        // [S] chosen samples, or undefined
  Tensor weights_;        // [N] or one element: gradient at the losses
  Tensor factor_;         // one element: rows are multiplied by it
  Tensor sample_factor_;  // [N]: output gradients are multiplied by it, if weights differ
  std::vector<std::vector<Arrival>> arrivals_;
  std::vector<int64_t> missing_;  // edges that have not delivered yet
};

}  // namespace flightdeck
