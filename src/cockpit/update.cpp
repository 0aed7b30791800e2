// SPDX-License-Identifier: MIT
// On the CPU everything is one sweep over memory: parameters are as large as the gradients, and for
// small models a sweep costs a noticeable part of a step.
#include "cockpit/update.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace flightdeck {
namespace {

constexpr int64_t kGrain = 1 << 15;

bool can_sweep(const Tensor& a, const Tensor& b) {
  return a.is_cpu() && b.is_cpu() && a.scalar_type() == b.scalar_type() &&
         (a.scalar_type() == at::kFloat || a.scalar_type() == at::kDouble) && a.is_contiguous() &&
         b.is_contiguous();
}

// The sum over [0, size) of body(begin, end), in the order of the pieces.
template <typename Body>
Tensor sum_of_pieces(int64_t size, const Body& body) {
  const double total = at::parallel_reduce(
      int64_t{0},
      size,
      kGrain,
      0.0,
      [&](int64_t begin, int64_t end, double start) { return start + body(begin, end); },
      [](double a, double b) { return a + b; });
  return at::scalar_tensor(total, at::kDouble);
}

// Blocks of a few hundred are added in the values' own precision, several at a time; the blocks in
// double.
template <typename Scalar, typename Difference>
double block_sums(int64_t begin, int64_t end, const Difference& difference) {
  constexpr int64_t kBlock = 512, kLanes = 16;
  double total = 0;
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t stop = std::min(start + kBlock, end);
    Scalar lanes[kLanes] = {};
    int64_t k = start;
    for (; k + kLanes <= stop; k += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const Scalar d = difference(k + lane);
        lanes[lane] += d * d;
      }
    }
    for (; k < stop; ++k) {
      const Scalar d = difference(k);
      lanes[0] += d * d;
    }
    for (const Scalar lane : lanes) total += static_cast<double>(lane);
  }
  return total;
}

Tensor squared_norm(const Tensor& values) {
  return at::linalg_vector_norm(values, 2, {}, false, at::kDouble).square();
}

}  // namespace

Tensor squared_distance(const Tensor& a, const Tensor& b) {
  const at::NoGradGuard no_grad;
  if (!can_sweep(a, b)) return squared_norm(a.sub(b));
  Tensor result;
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "squared_distance", [&] {
    const auto* x = a.data_ptr<scalar_t>();
    const auto* y = b.data_ptr<scalar_t>();
    result = sum_of_pieces(a.numel(), [&](int64_t begin, int64_t end) {
      return block_sums<scalar_t>(begin, end, [&](int64_t k) { return x[k] - y[k]; });
    });
  });
  return result;
}

void UpdateTracker::remember() {
  const at::NoGradGuard no_grad;
  if (remembered_.empty()) {
    for (const NamedParameter& parameter : parameters_) {
      remembered_.push_back(at::empty_like(parameter.tensor.detach()));
    }
  }
  for (size_t p = 0; p < parameters_.size(); ++p) {
    remembered_[p].copy_(parameters_[p].tensor.detach());
  }
}

const std::vector<Tensor>& UpdateTracker::take(std::vector<Tensor>& squares, bool remember_again) {
  const at::NoGradGuard no_grad;
  if (updates_.empty()) {
    for (const Tensor& values : remembered_) updates_.push_back(at::empty_like(values));
  }
  squares.clear();
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const Tensor now = parameters_[p].tensor.detach();
    Tensor &before = remembered_[p], &update = updates_[p];
    if (!can_sweep(now, before) || !update.is_contiguous()) {
      at::sub_out(update, now, before);
      squares.push_back(squared_norm(update));
      if (remember_again) before.copy_(now);
      continue;
    }
    AT_DISPATCH_FLOATING_TYPES(now.scalar_type(), "take_update", [&] {
      const auto* x = now.data_ptr<scalar_t>();
      auto* y = before.data_ptr<scalar_t>();
      auto* d = update.data_ptr<scalar_t>();
      squares.push_back(sum_of_pieces(now.numel(), [&](int64_t begin, int64_t end) {
        return block_sums<scalar_t>(begin, end, [&](int64_t k) {
          const scalar_t difference = x[k] - y[k];
          d[k] = difference;
          if (remember_again) y[k] = x[k];
          return difference;
        });
      }));
    });
  }
  return updates_;
}

std::vector<Tensor> UpdateTracker::squares_before() const {
  std::vector<Tensor> squares;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    squares.push_back(squared_distance(parameters_[p].tensor.detach(), updates_[p]));
  }
  return squares;
}

}  // namespace flightdeck
