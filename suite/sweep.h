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

// The builtins become vector instructions where errno need not be set; std::sqrt is a call before.
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

/// The larger of both; NaN if one is NaN.
template <typename T>
IfFloating<T> larger(T x, T y) {
  return (y > x || y != y) ? y : x;
}

/// x cut to [low, high]; NaN stays NaN.
template <typename T>
IfFloating<T> between(T x, Constant low, Constant high) {
  const T least = static_cast<T>(low.value), most = static_cast<T>(high.value);
  return x < least ? least : (x > most ? most : x);
}

// ---- whole tensors ------------------------------------------------------------------------------

/// A tensor in the place of an entry. Copies share memory; assignment writes into it.
class Whole {
 public:
  explicit Whole(Tensor tensor) : tensor_(std::move(tensor)) {}
  Whole(const Whole&) = default;
  Whole& operator=(const Whole& other) {
    tensor_.copy_(other.tensor_);
    return *this;
  }
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
};

inline Whole operator+(const Whole& x, const Whole& y) { return Whole(x.tensor() + y.tensor()); }
inline Whole operator-(const Whole& x, const Whole& y) { return Whole(x.tensor() - y.tensor()); }
inline Whole operator*(const Whole& x, const Whole& y) { return Whole(x.tensor() * y.tensor()); }
inline Whole operator/(const Whole& x, const Whole& y) { return Whole(x.tensor() / y.tensor()); }
inline Whole operator*(Constant c, const Whole& x) { return Whole(x.tensor() * c.value); }
inline Whole operator+(const Whole& x, Constant c) { return Whole(x.tensor() + c.value); }
inline Whole operator/(Constant c, const Whole& x) { return Whole(c.value / x.tensor()); }
inline Whole root(const Whole& x) { return Whole(x.tensor().sqrt()); }
inline Whole larger(const Whole& x, const Whole& y) {
  return Whole(at::maximum(x.tensor(), y.tensor()));
}
inline Whole between(const Whole& x, Constant low, Constant high) {
  return Whole(x.tensor().clamp(low.value, high.value));
}

// ---- the sweep ----------------------------------------------------------------------------------

/// Whether `tensor` lies in memory entry by entry as `first` does, which is float or double.
inline bool lies_as(const Tensor& first, const Tensor& tensor) {
  return tensor.is_cpu() && tensor.layout() == at::kStrided &&
         tensor.scalar_type() == first.scalar_type() && tensor.sizes() == first.sizes() &&
         !tensor.is_neg() &&
         ((tensor.is_contiguous() && first.is_contiguous()) ||
          (tensor.strides() == first.strides() && first.is_non_overlapping_and_dense()));
}

// The formula comes by value: its constants then live in registers, out of reach of the stores.
template <typename Formula, typename... Numbers>
void sweep_range(Formula formula, int64_t begin, int64_t end, Numbers* __restrict... numbers) {
  for (int64_t i = begin; i < end; ++i) formula(numbers[i]...);
}

// The same in longer vectors, with the same roundings: it must not fuse products and sums.
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

/// A sweep over parameter, gradient and state where weight decay is part of the gradient.
template <typename Formula, typename... States>
void sweep_decayed(const Formula& formula,
                   double weight_decay,
                   Tensor& parameter,
                   const Tensor& gradient,
                   States&... states) {
  if (weight_decay == 0.0) return sweep(formula, parameter, gradient, states...);
  const Constant decay{weight_decay};
  sweep([=](auto& x, const auto& g, auto&... state) { formula(x, g + decay * x, state...); },
        parameter,
        gradient,
        states...);
}

}  // namespace flightdeck::suite
