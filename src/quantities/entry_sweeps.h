// SPDX-License-Identifier: MIT
// The entry stats of what flows through one step's graph: several quantities ask for those of the
// same tensors, which are swept once.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include "flightdeck/layout.h"

namespace flightdeck {

using at::Tensor;

// Holds no tensor alive. The ranges are those of the tensors' own types, the layouts those of the
// nodes whose outputs they are.
class EntrySweeps {
 public:
  // Returns those of a value that the graph has kept, before the backward pass: who asks for it
  // later gets another tensor of the same storage.
  Tensor of_kept(const Tensor& values, const Layout& layout);

  // Returns those of a gradient that listeners hear, in the call that tells them: all of them are
  // shown one tensor. What its storage holds in the next call is not the same.
  Tensor of_heard(const Tensor& gradient, const Layout& layout);

 private:
  struct Kept {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    int64_t offset;
    std::vector<int64_t> sizes, strides;
    at::ScalarType type;
    Tensor stats;
  };
  struct Heard {
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> tensor;
    Tensor stats;
  };
  std::vector<Kept> kept_;
  std::vector<Heard> heard_;  // one at most
};

}  // namespace flightdeck
