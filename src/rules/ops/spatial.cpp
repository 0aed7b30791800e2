// SPDX-License-Identifier: MIT
// Padding, resampling, shuffling and rarer pooling: fixed linear maps of channels or of the
// trailing, spatial dimensions.
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

// Returns how many trailing dimensions the op touches, from the digit in its name: 2 for
// "AvgPool2D...".
int64_t spatial_dims(const std::string& name) {
  for (int64_t dims = 1; dims <= 3; ++dims) {
    if (name.find(std::to_string(dims) + "D") != std::string::npos) return dims;
  }
  return 3;  // pixel shuffle: channels, height, width
}

Shape resampled_dims(const NodeView& node) {
  if (node.name() == "ChannelShuffleBackward0") return {1};
  Shape dims;
  for (int64_t k = 1; k <= spatial_dims(node.name()); ++k) dims.push_back(-k);
  return dims;
}

}  // namespace

const Rule& spatial() {
  static const AlongDimsRule rule(
      {"ChannelShuffleBackward0",      "MkldnnAdaptiveAvgPool2DBackward0",
       "MkldnnMaxPool2DBackward0",     "MkldnnMaxPool3DBackward0",
       "PixelShuffleBackward0",        "PixelUnshuffleBackward0",
       "ReflectionPad1DBackward0",     "ReflectionPad2DBackward0",
       "ReflectionPad3DBackward0",     "ReplicationPad1DBackward0",
       "ReplicationPad2DBackward0",    "ReplicationPad3DBackward0",
       "UpsampleBicubic2DBackward0",   "UpsampleBicubic2DBackward1",
       "UpsampleBilinear2DBackward0",  "UpsampleBilinear2DBackward1",
       "UpsampleLinear1DBackward0",    "UpsampleLinear1DBackward1",
       "UpsampleNearest1DBackward0",   "UpsampleNearest1DBackward1",
       "UpsampleNearest2DBackward0",   "UpsampleNearest2DBackward1",
       "UpsampleNearest3DBackward0",   "UpsampleNearest3DBackward1",
       "UpsampleTrilinear3DBackward0", "UpsampleTrilinear3DBackward1"},
      &resampled_dims,
      /*is_linear=*/true);
  return rule;
}

}  // namespace flightdeck::rules
