// SPDX-License-Identifier: MIT
// Steps whose length is that of the parameter: the rate of LARS and LAMB. A layer is one parameter.
#pragma once

#include <array>
#include <cmath>

#include "suite/sweep.h"

namespace flightdeck::suite {

// Returns the length of a vector. Squares are added in double in blocks of fixed places, so that
// the sum does not depend on the number of threads, and without allocations.
template <typename Number>
double length_in_memory(const Number* numbers, int64_t count) {
  constexpr int64_t kBlocks = 64, kGrain = 32768;
  std::array<double, kBlocks> sums{};
  const int64_t size = (count + kBlocks - 1) / kBlocks;
  at::parallel_for(0, kBlocks, count < kGrain ? kBlocks : 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      double sum = 0.0;
      for (int64_t i = block * size; i < std::min(count, (block + 1) * size); ++i) {
        sum += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
      }
      sums[static_cast<size_t>(block)] = sum;
    }
  });
  double all = 0.0;
  for (const double sum : sums) all += sum;
  return std::sqrt(all);
}

/// Returns ||tensor|| if its entries lie in memory, as lies_as() says.
inline double length_in_memory(const Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat
             ? length_in_memory(tensor.data_ptr<float>(), tensor.numel())
             : length_in_memory(tensor.data_ptr<double>(), tensor.numel());
}

/// Returns ||tensor|| anywhere, as a scalar that stays where the tensor is.
inline Tensor length_anywhere(const Tensor& tensor) {
  return at::linalg_vector_norm(tensor, 2, c10::nullopt, false, at::kDouble);
}

/// Calls formula(rate, entry...) as `sweep` does, with the rate
///
///   base ||parameter|| / (||step|| + decay ||parameter||)
///
/// and `base` where one of the lengths is 0: a bias that starts at 0 would never move. A NaN in
/// either makes the rate NaN. `tensors` are those of the sweep.
template <typename Formula, typename... Tensors>
void sweep_at_layer_rate(const Formula& formula,
                         double base,
                         double decay,
                         const Tensor& parameter,
                         const Tensor& step,
                         Tensors&... tensors) {
  if (lies_as(parameter, parameter) && lies_as(parameter, step) &&
      (parameter.scalar_type() == at::kFloat || parameter.scalar_type() == at::kDouble)) {
    const double length = length_in_memory(parameter);
    const double other = length_in_memory(step) + decay * length;
    const Constant rate{length == 0.0 || other == 0.0 ? base : base * (length / other)};
    sweep([=](auto&... entries) { formula(rate, entries...); }, tensors...);
    return;
  }
  const Tensor length = length_anywhere(parameter);
  const Tensor other = length_anywhere(step) + decay * length;
  const Tensor one_is_zero = (length == 0.0).logical_or(other == 0.0);
  const Whole rate(at::where(one_is_zero, at::ones_like(length), length / other) * base);
  auto whole = std::make_tuple(Whole(tensors)...);
  std::apply([&](auto&... entries) { formula(rate, entries...); }, whole);
}

}  // namespace flightdeck::suite
