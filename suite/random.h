// SPDX-License-Identifier: MIT
// Random numbers and tensors for data, the same on every machine. The numbers are those of
// src/base/random.h; data sets include this file alone.
#pragma once

#include <cstdint>
#include <random>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

/// The generator of everything random about data: splits, orders, augmentation.
using Generator = std::mt19937_64;

/// Returns a generator for one purpose of a seed, for example one epoch; nearby arguments give
/// unrelated numbers.
Generator generator_of(uint64_t seed, uint64_t purpose);

/// Draws from [0, limit).
int64_t uniform_integer(Generator& generator, int64_t limit);
/// Draws from [0, 1).
double uniform(Generator& generator);
/// Draws a permutation of 0 .. n - 1, int64 [n].
at::Tensor permutation(Generator& generator, int64_t n);
/// Draws [count] float32 values in [low, high).
at::Tensor uniforms(Generator& generator, int64_t count, double low, double high);

}  // namespace flightdeck::suite
