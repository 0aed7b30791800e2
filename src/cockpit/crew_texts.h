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
// Puts them on the CPU. Throws if the numbers are not those of tensors.
std::vector<Tensor> unpacked_tensors(const Tensor& numbers);

// Puts the ranks' lists, each of as many tensors, behind one another in dimension 0. Throws if they
// do not fit.
std::vector<Tensor> joined_tensors(const std::vector<std::vector<Tensor>>& of_ranks);

// Holds a number for all bits of the tensors, in two halves that each fit a double. Equal tensors
// have equal numbers, and others have them only by chance. Waits for a device once.
struct BitSum {
  double high = 0, low = 0;
  bool operator==(const BitSum& other) const { return high == other.high && low == other.low; }
};
BitSum sum_of_bits(const std::vector<Tensor>& tensors);

}  // namespace flightdeck
