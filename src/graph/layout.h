// SPDX-License-Identifier: MIT
// What is done with tensors that carry samples.
#pragma once

#include <cstdint>
#include <string>

#include "base/shape.h"
#include "flightdeck/layout.h"

namespace flightdeck {

// Returns the layout after viewing a tensor of shape `from` as `to`; unknown if the samples would
// straddle dimensions.
Layout reshape_layout(const Layout& layout, const Shape& from, const Shape& to);

// Returns the layout of what is written to `places` (integers [M] along the dimension of the
// samples of `out`): each position belongs to the sample that it was written to.
Layout written_layout(const Layout& out, const Tensor& places);

// Returns the layout of what was read at `places`, along a dimension of `size` entries; the samples
// of `out` sit in the dimension of the places read. An entry belongs to the sample that reads it:
// unknown if two do.
Layout read_layout(const Layout& out, const Tensor& places, int64_t size);

// Returns what two uses of one tensor say together: unknown if they contradict each other.
Layout agreed_layout(const Layout& first, const Layout& second);

// Returns the layout of the operand of a reduction from which the samples have been summed away:
// the leading dimension carries them, sample by sample. Throws if N does not divide it.
Layout leading_layout(int64_t N, const Shape& input, const std::string& op);

// Returns [N, T, F] of a tensor with its features in the last dimension; copies only if outer and
// inner both exceed 1 or the view is impossible.
Tensor positions_and_features(const Tensor& tensor, const Layout& layout);

// Multiplies each sample of `tensor` by its entry of `scale` [N]; keeps shape and layout.
Tensor scale_samples(const Tensor& tensor, const Layout& layout, const Tensor& scale);

// Returns a copy of `tensor` with all samples but `n` set to zero.
Tensor only_sample(const Tensor& tensor, const Layout& layout, int64_t n);

}  // namespace flightdeck
