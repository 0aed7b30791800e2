// SPDX-License-Identifier: MIT
// What all algorithms here do with an operator and its vectors: checked products, random lines,
// small matrices on the CPU.
#pragma once

#include <cstdint>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "flightdeck/operator.h"

namespace flightdeck {

// Keeps our arithmetic from recording a graph and from the caller's autocast.
class ArithmeticGuard {
 public:
  ArithmeticGuard() : no_autocast_(c10::autocast_dispatch_keyset) {}

 private:
  at::NoGradGuard no_grad_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_;
};

// Refuses an operator without entries or without a floating-point type.
void check_operator(const char* caller, const LinearOperator& op);

// Returns op.multiply and checks the result's shape, type and device.
Tensor product(const LinearOperator& op, const Tensor& vectors);  // [V, D]

// Moves to float64 on the CPU, where the small matrices are.
Tensor small(const Tensor& tensor);

// Returns the norms of lines [V, D], [V] in float64 on the CPU, as numbers that decide something.
Tensor norms_of(const Tensor& lines);

// Returns true if products of thin matrices of this length are better taken one vector at a time:
// on the CPU the BLAS is up to a hundred times slower at them otherwise. Short ones it does without
// threads.
bool is_long(const Tensor& vectors);

// Returns the scalar products of all vectors [V, D] with all lines [m, D]: [V, m].
Tensor scalar_products(const Tensor& vectors, const Tensor& lines);

bool all_finite(const Tensor& tensor);

// Returns the machine precision of the type.
double precision_of(at::ScalarType type);

// Draws on the CPU, so that every device sees the same numbers.
class RandomLines {
 public:
  RandomLines(const LinearOperator& op, uint64_t seed);
  Tensor normal(int64_t count);   // [count, D]
  Tensor signs(int64_t count);    // [count, D], -1 or 1
  Tensor spheric(int64_t count);  // [count, D], uniform on the sphere of radius sqrt(D)

 private:
  int64_t dim_;
  at::TensorOptions options_;
  at::Generator generator_;
};

}  // namespace flightdeck
