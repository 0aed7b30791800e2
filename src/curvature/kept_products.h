// SPDX-License-Identifier: MIT
// A folder of products, so that a long computation can be begun again and goes on where it was. It
// asks for the same products in the same order; each is found by its number and by what was
// multiplied. What is not found, is cut off or was multiplied otherwise is computed again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

class KeptProducts {
 public:
  // `description` says whose products these are; throws if the folder has those of another one.
  KeptProducts(std::string folder, const std::string& description);

  // Holds a product that is not finished.
  struct Partial {
    int64_t batches = 0;
    int64_t samples = 0;
    Tensor sum;  // as kept
  };

  // Results come on the CPU.
  std::optional<Tensor> product(int64_t number, const Tensor& vectors) const;
  std::optional<Partial> partial(int64_t number, const Tensor& vectors) const;
  // Throw std::runtime_error if the disk fails. A finished product replaces its partial sum.
  void keep(int64_t number, const Tensor& vectors, const Tensor& result) const;
  void keep(int64_t number, const Tensor& vectors, const Partial& partial) const;
  // Removes the partial sum of a product that is kept elsewhere.
  void forget_partial(int64_t number) const;

 private:
  std::string folder_;
};

// Returns a number that changes with any bit of the tensor.
uint64_t fingerprint(const Tensor& tensor, uint64_t seed = 0);

}  // namespace flightdeck
