// SPDX-License-Identifier: MIT
// A few numbers per group in plain memory. What is computed of them takes loops: an operation of
// LibTorch costs more than a thousand numbers.
#pragma once

#include <cmath>

#include <ATen/ATen.h>

namespace flightdeck {

using at::Tensor;

// Holds [G] or [G, n] in double, fetched if they are on a device. For quantities that read numbers
// they are here.
class GroupNumbers {
 public:
  explicit GroupNumbers(const Tensor& numbers) : GroupNumbers(numbers, numbers.size(0)) {}
  GroupNumbers(const Tensor& numbers, int64_t groups)
      : held_(is_plain(numbers) ? numbers : numbers.to(at::kCPU, at::kDouble).contiguous()),
        first_(held_.data_ptr<double>()),
        groups_(groups),
        size_(groups_ == 0 ? 0 : held_.numel() / groups_) {}

  int64_t groups() const { return groups_; }
  double operator[](int64_t g) const { return first_[g * size_]; }

  // Adds up a group's line.
  double sum(int64_t g) const {
    double sum = 0;
    for (int64_t k = 0; k < size_; ++k) sum += first_[g * size_ + k];
    return sum;
  }
  double mean(int64_t g) const { return sum(g) / static_cast<double>(size_); }
  double squared_deviations(int64_t g) const {
    const double centre = mean(g);
    double squares = 0;
    for (int64_t k = 0; k < size_; ++k) {
      const double difference = first_[g * size_ + k] - centre;
      squares += difference * difference;
    }
    return squares;
  }

 private:
  static bool is_plain(const Tensor& numbers) {
    return numbers.is_cpu() && numbers.scalar_type() == at::kDouble && numbers.is_contiguous();
  }

  Tensor held_;
  const double* first_;
  int64_t groups_, size_;
};

// Returns number(g) of each group, [G].
template <typename Number>
Tensor for_each_group(int64_t groups, const Number& number) {
  const Tensor numbers = at::empty({groups}, at::kDouble);
  for (int64_t g = 0; g < groups; ++g) numbers.data_ptr<double>()[g] = number(g);
  return numbers;
}

// Sets negative numbers to zero; NaN stays.
inline double at_least_zero(double x) { return x < 0 ? 0 : x; }

}  // namespace flightdeck
