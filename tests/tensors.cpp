// SPDX-License-Identifier: MIT
#include "tensors.h"

#include <cstdlib>

namespace flightdeck::tests {

at::Device test_device() {
  static const at::Device device = [] {
    const char* name = std::getenv("FLIGHTDECK_TEST_DEVICE");
    at::Device chosen(name != nullptr && *name != '\0' ? name : "cpu");
    // Tensors report an index; a device without one compares unequal to theirs.
    if (chosen.is_cuda() && !chosen.has_index()) chosen.set_index(0);
    // Some of cuDNN's algorithms add in an order that varies from call to call; comparing .grad to
    // the bit needs those that do not.
    if (chosen.is_cuda()) at::globalContext().setDeterministicCuDNN(true);
    return chosen;
  }();
  return device;
}

at::TensorOptions doubles() { return at::TensorOptions().dtype(at::kDouble).device(test_device()); }

Tensor random(at::IntArrayRef shape) { return at::randn(shape, at::kDouble).to(test_device()); }

Tensor random_parameter(at::IntArrayRef shape, double deviation) {
  return random(shape).mul_(deviation).requires_grad_(true);
}

Tensor random_integers(at::IntArrayRef shape, int64_t limit) {
  return at::randint(limit, shape, at::kLong).to(test_device());
}

Tensor losses_of(const Tensor& outputs) {
  const Tensor c = random(outputs.sizes()).to(outputs.scalar_type());
  const Tensor entries = outputs * c + outputs * outputs * 0.5;
  return entries.dim() == 1 ? entries : entries.flatten(1).sum(1);
}

Tensor generator_state() { return at::globalContext().defaultGenerator(test_device()).get_state(); }

std::vector<Tensor> gradients_of(const Parameters& parameters) {
  std::vector<Tensor> gradients;
  for (const NamedParameter& parameter : parameters) {
    const Tensor& gradient = parameter.tensor.grad();
    gradients.push_back(gradient.defined() ? gradient.detach().clone() : Tensor());
  }
  return gradients;
}

void clear_gradients(const Parameters& parameters) {
  for (const NamedParameter& parameter : parameters) {
    Tensor tensor = parameter.tensor;
    tensor.mutable_grad() = Tensor();
  }
}

bool identical(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  return at::equal(a.is_sparse() ? a.to_dense() : a, b.is_sparse() ? b.to_dense() : b);
}

bool identical(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!identical(a[i], b[i])) return false;
  }
  return true;
}

void SeededTest::SetUp() {
  torch::manual_seed(20240229);
  // TF32 convolutions keep 10 bits of the mantissa; the float32 tolerance asks for more.
  at::globalContext().setAllowTF32CuDNN(false);
}

}  // namespace flightdeck::tests
