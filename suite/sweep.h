// SPDX-License-Identifier: MIT
// One formula over the entries of several tensors, written once: in memory of one layout a single
// pass that allocates nothing, anywhere else (a GPU, half precision, mixed strides) tensor by
// tensor.
//
// In memory the formula runs on float or double and costs one read and one write of what it names;
// bench/optimizers_bench.cpp compares that with a pass per operation.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace flightdeck::suite {

using at::Tensor;

/// A number that takes the precision of what it meets; a double would make float arithmetic double.
struct Constant {
  double value;
};

// ---- entries in memory --------------------------------------------------------------------------

template <typename T>
using IfFloating = std::enable_if_t<std::is_floating_point_v<T>, T>;

template <typename T>
IfFloating<T> operator*(Constant c, T x) {
  return static_cast<T>(c.value) * x;
}
template <typename T>
IfFloating<T> operator+(T x, Constant c) {
  return x + static_cast<T>(c.value);
}
template <typename T>
IfFloating<T> operator/(Constant c, T x) {
  return static_cast<T>(c.value) / x;
}

// Returns the square root by builtins, which become vector instructions where errno need not be
// set; std::sqrt would be a call.
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

/// Returns the larger of both; NaN if one is NaN.
template <typename T>
IfFloating<T> larger(T x, T y) {
  return (y > x || y != y) ? y : x;
}

/// Returns x cut to [low, high]; NaN stays NaN.
template <typename T>
IfFloating<T> between(T x, Constant low, Constant high) {
  const T least = static_cast<T>(low.value), most = static_cast<T>(high.value);
  return x < least ? least : (x > most ? most : x);
}

// ---- whole tensors ------------------------------------------------------------------------------

// A GPU takes longer to start an operation than to do it on small tensors, so products with
// constants and sums of two of them wait until it is known where they go: x = x - rate * g is one
// operation in place.

/// factor * tensor, not computed yet.
struct Scaled {
  double factor;
  Tensor tensor;
};

/// The sum of two, not computed yet.
struct Combination {
  Scaled first, second;

  Tensor value() const {
    if (first.factor == 1.0) return at::add(first.tensor, second.tensor, second.factor);
    return at::mul(first.tensor, first.factor).add_(second.tensor, second.factor);
  }
};

/// A tensor in the place of an entry. Copies share memory; assignment writes into it.
class Whole {
 public:
  explicit Whole(Tensor tensor) : tensor_(std::move(tensor)) {}
  Whole(const Combination& sum) : tensor_(sum.value()) {}
  Whole(const Whole&) = default;
  Whole& operator=(const Whole& other) {
    tensor_.copy_(other.tensor_);
    return *this;
  }
  Whole& operator=(const Combination& sum) {
    if (!sum.first.tensor.is_same(tensor_)) return *this = Whole(sum);
    if (sum.first.factor != 1.0) tensor_.mul_(sum.first.factor);
    tensor_.add_(sum.second.tensor, sum.second.factor);
    return *this;
  }
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};

inline Scaled operator*(Constant c, const Whole& x) { return {c.value, x.tensor()}; }
inline Scaled operator/(const Scaled& x, const Whole& y) {
  return {x.factor, x.tensor / y.tensor()};
}
inline Whole operator+(const Scaled& x, Constant c) {
  return Whole(at::mul(x.tensor, x.factor).add_(c.value));
}

inline Combination operator+(const Scaled& x, const Scaled& y) { return {x, y}; }
inline Combination operator+(const Scaled& x, const Whole& y) { return {x, {1.0, y.tensor()}}; }
inline Combination operator+(const Whole& x, const Scaled& y) { return {{1.0, x.tensor()}, y}; }
inline Combination operator+(const Whole& x, const Whole& y) {
  return {{1.0, x.tensor()}, {1.0, y.tensor()}};
}
inline Combination operator-(const Scaled& x, const Scaled& y) {
  return {x, {-y.factor, y.tensor}};
}
inline Combination operator-(const Whole& x, const Scaled& y) {
  return {{1.0, x.tensor()}, {-y.factor, y.tensor}};
}
inline Combination operator-(const Whole& x, const Whole& y) {
  return {{1.0, x.tensor()}, {-1.0, y.tensor()}};
}

inline Whole operator*(const Whole& x, const Whole& y) { return Whole(x.tensor() * y.tensor()); }
inline Whole operator/(const Whole& x, const Whole& y) { return Whole(x.tensor() / y.tensor()); }
inline Whole operator+(const Whole& x, Constant c) { return Whole(x.tensor() + c.value); }
inline Whole operator/(Constant c, const Whole& x) { return Whole(c.value / x.tensor()); }
inline Whole root(const Whole& x) { return Whole(x.tensor().sqrt()); }
inline Whole larger(const Whole& x, const Whole& y) {
  return Whole(at::maximum(x.tensor(), y.tensor()));
}
inline Whole between(const Whole& x, Constant low, Constant high) {
  return Whole(x.tensor().clamp(low.value, high.value));
}

/// Computes now a result that is used more than once.
template <typename T>
IfFloating<T> computed(T x) {
  return x;
}
inline Whole computed(const Whole& x) { return x; }

// ---- the sweep ----------------------------------------------------------------------------------

/// Returns whether `tensor` lies in memory entry by entry as `first` does, which is float or
/// double.
inline bool lies_as(const Tensor& first, const Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided &&
         tensor.scalar_type() == first.scalar_type() && tensor.sizes() == first.sizes() &&
         !tensor.is_neg() &&
         ((tensor.is_contiguous() && first.is_contiguous()) ||
          (tensor.strides() == first.strides() && first.is_non_overlapping_and_dense()));
}

// Takes the formula by value: its constants then live in registers, where stores cannot change
// them.
template <typename Formula, typename... Numbers>
void sweep_range(Formula formula, int64_t begin, int64_t end, Numbers* __restrict... numbers) {
  for (int64_t i = begin; i < end; ++i) formula(numbers[i]...);
}

// Does the same in longer vectors, with the same roundings: it must not fuse products and sums.
#if defined(__x86_64__)
template <typename Formula, typename... Numbers>
__attribute__((target("avx2"))) void sweep_range_wide(Formula formula,
                                                      int64_t begin,
                                                      int64_t end,
                                                      Numbers* __restrict... numbers) {
  for (int64_t i = begin; i < end; ++i) formula(numbers[i]...);
}
inline bool has_wide_vectors() { return __builtin_cpu_supports("avx2"); }
#else
template <typename Formula, typename... Numbers>
void sweep_range_wide(const Formula&, int64_t, int64_t, Numbers*...) {}
inline bool has_wide_vectors() { return false; }
#endif

template <typename Number, typename Formula, typename... Tensors>
void sweep_memory(const Formula& formula, int64_t count, Tensors&... tensors) {
  constexpr int64_t kGrain = 32768;
  const auto numbers = std::make_tuple(
      static_cast<std::conditional_t<std::is_const_v<Tensors>, const Number, Number>*>(
          tensors.template data_ptr<Number>())...);
  at::parallel_for(0, count, kGrain, [&](int64_t begin, int64_t end) {
    std::apply(
        [&](auto*... pointers) {
          if (has_wide_vectors()) {
            sweep_range_wide(formula, begin, end, pointers...);
          } else {
            sweep_range(formula, begin, end, pointers...);
          }
        },
        numbers);
  });
}

/// Calls formula(entry...) for the entries of all tensors, which have one shape and do not share
/// memory. Of a const Tensor the formula must only read. It is written for any type of entry, with
/// the operations above.
template <typename Formula, typename First, typename... Rest>
void sweep(const Formula& formula, First& first, Rest&... rest) {
  const bool is_plain = lies_as(first, first) && (lies_as(first, rest) && ...);
  if (is_plain && first.scalar_type() == at::kFloat) {
    sweep_memory<float>(formula, first.numel(), first, rest...);
  } else if (is_plain && first.scalar_type() == at::kDouble) {
    sweep_memory<double>(formula, first.numel(), first, rest...);
  } else {
    auto whole = std::make_tuple(Whole(first), Whole(rest)...);
    std::apply(formula, whole);
  }
}

/// Sweeps over parameter, gradient and state where weight decay is part of the gradient.
template <typename Formula, typename... States>
void sweep_decayed(const Formula& formula,
                   double weight_decay,
                   Tensor& parameter,
                   const Tensor& gradient,
                   States&... states) {
  if (weight_decay == 0.0) return sweep(formula, parameter, gradient, states...);
  const Constant decay{weight_decay};
  sweep(
      [=](auto& x, const auto& g, auto&... state) {
        formula(x, computed(g + decay * x), state...);
      },
      parameter,
      gradient,
      states...);
}

}  // namespace flightdeck::suite
