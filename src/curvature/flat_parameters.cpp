// SPDX-License-Identifier: MIT
#include "curvature/flat_parameters.h"

#include <ATen/ATen.h>

namespace flightdeck {

FlatParameters::FlatParameters(const Parameters& parameters) {
  at::ScalarType widest = parameters[0].tensor.scalar_type();
  for (const auto& [name, tensor] : parameters) {
    shapes_.push_back(tensor.sizes().vec());
    sizes_.push_back(tensor.numel());
    dim_ += tensor.numel();
    widest = c10::promoteTypes(widest, tensor.scalar_type());
  }
  options_ = parameters[0].tensor.options().dtype(widest).requires_grad(false);
}

std::vector<Tensor> FlatParameters::split(const Tensor& vectors) const {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (size_t p = 0; p < sizes_.size(); ++p) {
    std::vector<int64_t> shape = shapes_[p];
    shape.insert(shape.begin(), vectors.size(0));
    parts.push_back(vectors.slice(1, begin, begin + sizes_[p]).reshape(shape));
    begin += sizes_[p];
  }
  return parts;
}

Tensor FlatParameters::join(const std::vector<Tensor>& parts) const {
  std::vector<Tensor> lines;
  for (const Tensor& part : parts) lines.push_back(part.reshape({part.size(0), -1}).to(options_));
  return at::cat(lines, 1);
}

}  // namespace flightdeck
