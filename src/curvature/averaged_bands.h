// SPDX-License-Identifier: MIT
// Ops that work within channels, applied to one band of a matrix over the entries of a sample: the
// lines of channel j against those of channels j, j + 1, ...
#pragma once

#include <memory>

#include "graph/node_view.h"

namespace flightdeck {

// Takes a band through one op: [outputs, (C - j) outputs] -> [inputs, (C - j) inputs], entries per
// channel.
class BandOp {
 public:
  virtual ~BandOp() = default;
  virtual Tensor through(const Tensor& band, int64_t j) const = 0;
};

// Takes the mean of D_nᵀ band D_n over the samples; D_n holds the slopes of sample n, of [N, m].
std::unique_ptr<BandOp> elementwise_band(const Tensor& slopes, int64_t channels);
// Goes through constant padding, as at::constant_pad_nd has it.
std::unique_ptr<BandOp> pad_band(const NodeView& view, const Shape& padding, int64_t channels);
// Goes through max-pooling. `sources` [N, m] has the input entry that each output entry is a copy
// of; there are `inputs` per channel.
std::unique_ptr<BandOp> max_pool_band(const Tensor& sources, int64_t channels, int64_t inputs);

}  // namespace flightdeck
