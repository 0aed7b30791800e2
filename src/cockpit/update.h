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
  // Subtracts what was remembered from the parameters now. With `remember_again` they are
  // remembered in the same sweep.
  void take(bool remember_again);

  // ---- of the update last taken, until the next one ----
  const std::vector<Tensor>& updates() const { return updates_; }
  const std::vector<Tensor>& directions() const { return directions_; }  // [1, *shape]
  const Tensor& squares() const { return squares_; }  // sum of squares of each, [P] in double
  Tensor squares_before() const;                      // of each parameter before it

 private:
  // Takes all in two launches, on a GPU. Returns false if there are no kernels for that.
  bool take_by_table(bool remember_again);
  void take_by_lists(bool remember_again);
  bool remember_by_table();
  std::vector<Tensor> parameters_now() const;

  Parameters parameters_;
  std::vector<Tensor> remembered_, updates_, directions_;
  Tensor squares_;
  Tensor before_;  // [P]: squares of the parameters before, if known; else undefined
};

}  // namespace flightdeck
