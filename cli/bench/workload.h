// SPDX-License-Identifier: MIT
// What a benchmark works on: one network with one random batch on one device, and its plain
// training step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/parameters.h"
#include "suite/problem.h"

namespace flightdeck::cli {

class Workload {
 public:
  Workload(const suite::Problem& problem, int64_t batch_size, const at::Device& device);

  const std::string& name() const { return problem_.name; }
  const at::Device& device() const { return device_; }
  const Parameters& parameters() const { return parameters_; }

  // Returns the individual losses [N] of a new forward pass.
  Tensor losses();
  // Takes forward pass, mean loss without penalty, and backward pass.
  void plain_step();
  void drop_gradients();

  // Takes one step of gradient descent on this batch and draws the next one.
  void move_on(double learning_rate);
  // Goes back to the first parameters and the first batch.
  void restore();

 private:
  void draw_batch();

  suite::Problem problem_;
  int64_t batch_size_;
  at::Device device_;
  suite::Model model_;
  Parameters parameters_;
  std::vector<Tensor> first_parameters_;
  suite::Batch batch_, first_batch_;
};

}  // namespace flightdeck::cli
