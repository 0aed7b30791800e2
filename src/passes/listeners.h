// SPDX-License-Identifier: MIT
// Hears the gradients that the caller's own backward pass brings to nodes of a captured graph, and
// changes none of them.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "passes/capture.h"

namespace flightdeck {

class Listeners {
 public:
  // A listener is called with one gradient per output of the node; some may be undefined.
  using Heard = std::function<void(const std::vector<Tensor>& gradients)>;

  explicit Listeners(std::shared_ptr<const Capture> capture);
  ~Listeners();
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  // Adds a listener for `owner`, whose errors `check` throws. A node is heard once, in the first
  // pass through the losses.
  void add(size_t node, size_t owner, Heard heard);
  // Throws what a function of this owner threw.
  void check(size_t owner) const;
  void detach();

  class State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace flightdeck
