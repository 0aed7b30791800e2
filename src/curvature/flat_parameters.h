// SPDX-License-Identifier: MIT
// All parameters as one vector: flattened and concatenated in the order given.
#pragma once

#include <vector>

#include "flightdeck/parameters.h"

namespace flightdeck {

class FlatParameters {
 public:
  explicit FlatParameters(const Parameters& parameters);

  int64_t dim() const { return dim_; }
  // Returns the widest type of all parameters, on the device of the first one.
  const at::TensorOptions& options() const { return options_; }
  // Counts the entries of each parameter.
  const std::vector<int64_t>& sizes() const { return sizes_; }

  // Turn [V, D] into one [V, *shape] per parameter, and back.
  std::vector<Tensor> split(const Tensor& vectors) const;
  Tensor join(const std::vector<Tensor>& parts) const;

 private:
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<int64_t> sizes_;
  int64_t dim_ = 0;
  at::TensorOptions options_;
};

}  // namespace flightdeck
