// SPDX-License-Identifier: MIT
// Notes and lists of tensors as numbers, to travel with others.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/reading.h"

namespace flightdeck {

using at::Tensor;

Tensor packed_notes(const std::vector<Note>& notes);  // [n] in double
std::vector<Note> unpacked_notes(const std::vector<double>& numbers);

Tensor packed_tensors(const std::vector<Tensor>& tensors);  // [n] in double
// On the CPU. Throws if the numbers are not those of tensors.
std::vector<Tensor> unpacked_tensors(const Tensor& numbers);

// Those of the ranks behind one another in dimension 0, of as many lists of tensors. Throws if they
// do not fit.
std::vector<Tensor> joined_tensors(const std::vector<std::vector<Tensor>>& of_ranks);

// A number for all bits of the tensors, in two halves that a double holds: equal numbers of equal
// tensors, and but for chance of no others. Waits for a device once.
struct BitSum {
  double high = 0, low = 0;
  bool operator==(const BitSum& other) const { return high == other.high && low == other.low; }
};
BitSum sum_of_bits(const std::vector<Tensor>& tensors);

}  // namespace flightdeck
