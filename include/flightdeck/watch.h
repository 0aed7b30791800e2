// SPDX-License-Identifier: MIT
// Watches the caller's own backward pass instead of running one.
#pragma once

#include <memory>

#include "flightdeck/gradients.h"

namespace flightdeck {

/// Reads the graph behind the losses, listens while the caller's own `backward()` runs through it
/// and answers `what`. The losses may be reduced in any way (mean, sum, weighted, scaled): the
/// weight of each sample is read from the gradient that reaches the losses and divided out again.
///
///   Watch watch(losses, model->named_parameters(), Need::kNorms);
///   losses.mean().backward();
///   Gradients result = watch.finish();
///
/// Rows are those of the losses alone. Where the pass brings other gradient to the same activations
/// (a second loss, a hook that changes it) or a sample has no weight, they come from a pass of its
/// own at that moment, and a remark says so. Other backward passes are not heard.
///
/// `.grad`, parameters, RNG and the graph's lifetime are as without the watch, to the bit (but see
/// `reuse_gradients`). Destroying the watch detaches it, at any time, also inside the backward pass
/// by a hook of its thread. A failure while listening never reaches the backward pass; `finish`
/// throws it.
class [[nodiscard]] Watch {
 public:
  /// Holds neither the batch nor its graph.
  Watch(const Batch& batch, Needs what, const GradientOptions& options = {});
  Watch(const Tensor& losses,
        const Parameters& parameters,
        Needs what,
        const GradientOptions& options = {});
  ~Watch();
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;

  /// True once a backward pass went through the losses.
  bool has_run() const;
  /// True if compiled autograd ran the backward pass, which leaves out what listens to it.
  bool was_left_out() const;
  /// Detaches and returns the answers; throws if no backward pass went through the losses, and on a
  /// watch that has finished or was moved from.
  [[nodiscard]] Gradients finish();

  class State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace flightdeck
