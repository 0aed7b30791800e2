// SPDX-License-Identifier: MIT
// Squared norms of the gradients that arrive at the parameters. On a GPU they are taken of all of
// them together once the backward pass has made them `.grad`: whoever holds a gradient until then
// costs a copy of it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "flightdeck/parameters.h"

namespace flightdeck {

using at::Tensor;

class Arrivals {
 public:
  explicit Arrivals(const Parameters& parameters)
      : parameters_(parameters), has_arrived_(parameters.size(), false) {}

  // Takes a gradient; only the first one of a parameter counts. `becomes_grad`: nobody but PyTorch
  // has a hand in what becomes of it, and it becomes `.grad`.
  void add(size_t parameter, const Tensor& gradient, bool becomes_grad);

  // Squares what waited, which is `.grad` once the backward pass has ended. Throws if it was
  // changed on the way.
  void end_pass();

  // Holds the squared norms that lie on one device.
  struct Squares {
    std::vector<size_t> parameters;
    Tensor squares;  // one for each, in double
  };
  // Returns the squared norms of all that arrived.
  std::vector<Squares> take();

 private:
  // Notes a gradient that is looked at when the pass has ended.
  struct Waiting {
    size_t parameter;
    const void* data;
    int64_t version;
  };
  bool may_wait(size_t parameter, const Tensor& gradient) const;

  const Parameters& parameters_;
  std::vector<bool> has_arrived_;
  std::vector<Waiting> waiting_;
  std::vector<std::pair<size_t, double>> here_;  // on the CPU
  std::vector<Squares> elsewhere_;
};

}  // namespace flightdeck
