// SPDX-License-Identifier: MIT
// Where test tensors live and how they are drawn: one device, fixed seeds, the same numbers on all
// devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "flightdeck/flightdeck.h"

namespace flightdeck::tests {

// The device all tests run on: FLIGHTDECK_TEST_DEVICE (for example "cuda"), or the CPU.
at::Device test_device();

// Float64 on the test device.
at::TensorOptions doubles();

// Standard normal values. Drawn by the CPU generator, so that every device sees the same ones.
Tensor random(at::IntArrayRef shape);

// A leaf that requires a gradient, with normal values of the given standard deviation.
Tensor random_parameter(at::IntArrayRef shape, double deviation = 0.5);

// Integers in [0, limit).
Tensor random_integers(at::IntArrayRef shape, int64_t limit);

// Individual losses [N] of outputs [N, ...]: the sum over a sample's entries of c y + y²/2 with a
// fixed random c, so that no two entries receive the same gradient.
Tensor losses_of(const Tensor& outputs);

// The number in a tensor of one.
inline double number(const Tensor& scalar) { return scalar.item<double>(); }

// State of the generator that draws on the test device.
Tensor generator_state();

// Copies of the parameters' `.grad` (undefined where there is none).
std::vector<Tensor> gradients_of(const Parameters& parameters);

// Sets every `.grad` to undefined.
void clear_gradients(const Parameters& parameters);

// Both undefined, or equal to the bit.
bool identical(const Tensor& a, const Tensor& b);
bool identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b);

template <typename Module>
Module on_device(Module module, at::ScalarType type = at::kDouble) {
  module->to(test_device(), type);
  return module;
}

// The parameters of several modules in one list, each name with its module's prefix.
class ParameterList {
 public:
  template <typename Module>
  ParameterList& add(const std::string& prefix, const Module& module) {
    for (const auto& item : module->named_parameters()) {
      entries_.push_back({prefix + "." + item.key(), item.value()});
    }
    return *this;
  }
  ParameterList& add(const std::string& name, const Tensor& tensor) {
    entries_.push_back({name, tensor});
    return *this;
  }
  operator Parameters() const { return Parameters(entries_); }

 private:
  std::vector<NamedParameter> entries_;
};

// Seeds the generators before every test.
class SeededTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace flightdeck::tests
