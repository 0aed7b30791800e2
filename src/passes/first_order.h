// SPDX-License-Identifier: MIT
// The state of one first-order pass: asks the rows of each parameter what is needed and drops them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "passes/arrivals.h"
#include "passes/captured_batch.h"
#include "passes/kept_rows.h"
#include "passes/results.h"
#include "passes/rows_collector.h"
#include "passes/walker.h"
#include "rows/together.h"

namespace flightdeck {

class FirstOrderPass {
 public:
  // Begins a pass; with `hears_arrivals`, `arrive` tells what reaches the parameters.
  FirstOrderPass(CapturedBatch batch, Needs what, GradientOptions options, bool hears_arrivals);

  FirstOrderPass(const FirstOrderPass&) = delete;
  FirstOrderPass& operator=(const FirstOrderPass&) = delete;

  const CapturedBatch& batch() const { return batch_; }
  const Capture& capture() const { return capture_; }

  // Returns false if only what arrives is asked for: then rows are neither collected nor refused.
  bool asks_rows() const { return asks_rows_; }

  // Returns true if rows arise at this node and are asked for.
  bool has_uses(size_t position) const { return asks_rows_ && collector_.has_uses(position); }

  // Takes the gradient that reached the losses (or the scalar loss). Rows are divided by it, sample
  // by sample, so that they are those of the individual losses. Call before the first visit.
  void set_weights(const Tensor& gradient);

  // Counts the samples whose gradient cannot be read from the caller's pass with this gradient at
  // the losses: their weight is zero or not finite. One weight for all is looked at on the CPU
  // alone.
  int64_t unusable_weights(const Tensor& gradient) const;

  // Takes the output gradients of one node of the batch side. Each node is visited at most once.
  void visit(size_t position, const variable_list& gradients);

  // Takes the gradient that reached the losses in the caller's own backward: what `arrive` is told
  // is divided by its sum.
  void set_arrival_weights(const Tensor& gradient);

  // Takes the gradient that reaches a parameter from everything the loss depends on; see Arrivals.
  void arrive(size_t parameter, const Tensor& gradient, bool becomes_grad);

  // Tells that the caller's backward pass has ended.
  void end_pass() { arrivals_.end_pass(); }

  // Sets the ops whose gradient reaches each parameter past the losses, for the coverage.
  void set_elsewhere(const std::vector<std::vector<std::string>>& ops);
  void remark(const std::string& text) { results_.remark(text); }

  // Returns another pass, which from here on is visited with the caller's gradients and adds to
  // `.grad` what PyTorch skips (`reuse_gradients`); this one only answers.
  std::unique_ptr<FirstOrderPass> hand_over_apart();

  // Parameters that no rule reaches take one backward pass per sample, which needs the graph.
  bool has_slow() const;
  void run_slow();

  // Runs the whole pass on its own.
  void run();

  // Returns the answers; parameters whose rows never came are reported as refused.
  Gradients finish();

 private:
  void check_options(Needs what) const;
  void complete(size_t parameter, Rows rows);
  // Answers for the parameters whose rows wait for each other.
  void answer_together();
  // Passes on what arrived, once all of it has.
  void settle_arrivals();
  void hand_over_gradient(size_t parameter, const Rows& rows, const Answers& answers);
  void scale_early();

  CapturedBatch batch_;
  const Capture& capture_;
  const Parameters& parameters_;
  GradientOptions options_;
  int64_t count_;  // rows: S chosen samples, or N
  Results results_;
  Tensor weights_;          // [N] or one element: gradient at the losses
  Tensor factor_;           // one element: rows are multiplied by it
  Tensor gradient_factor_;  // one element: output gradients are, if rows are counted
  Tensor sample_factor_;    // [N]: output gradients are multiplied by it, if weights differ
  bool is_watch_;           // of a backward pass that goes on after it
  bool asks_rows_;
  bool needs_arrivals_;
  Tensor arrival_weight_;  // one element: the sum of the samples' weights
  Arrivals arrivals_;
  RowsTogether together_;
  std::function<void(size_t parameter, const Tensor& gradient)> on_handed_over_;
  std::shared_ptr<FactoredRows> kept_;
  RowsCollector collector_;
};

}  // namespace flightdeck
