// SPDX-License-Identifier: MIT
// What the optimizer did between two steps.
#pragma once

#include <vector>

#include "flightdeck/parameters.h"

namespace flightdeck {

using at::Tensor;

class UpdateTracker {
 public:
  explicit UpdateTracker(Parameters parameters) : parameters_(std::move(parameters)) {}

  // Copies the parameters as they are now.
  void remember();
  // Now minus what was remembered, per parameter; `squares` gets the sum of squares of each, in
  // double. With `remember_again` the parameters are remembered in the same sweep. The updates are
  // valid until the next call.
  const std::vector<Tensor>& take(std::vector<Tensor>& squares, bool remember_again);
  // Sum of squares of each parameter before the update last taken, in double.
  std::vector<Tensor> squares_before() const;

 private:
  // On a GPU: all in two launches. False if there are no kernels for that.
  bool take_by_table(std::vector<Tensor>& squares, bool remember_again);

  Parameters parameters_;
  std::vector<Tensor> remembered_, updates_;
  Tensor before_;  // [P]: squares of the parameters before, if known; else undefined
};

}  // namespace flightdeck
