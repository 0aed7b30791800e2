// SPDX-License-Identifier: MIT
// Pooling, padding and resampling: they mix only the trailing, spatial dimensions.
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

// How many trailing dimensions the op touches, from the digit in its name: 2 for "AvgPool2D...".
int64_t spatial_dims(const std::string& name) {
  if (name == "ConstantPadNdBackward0") return 0;
  for (int64_t dims = 1; dims <= 3; ++dims) {
    if (name.find(std::to_string(dims) + "D") != std::string::npos) return dims;
  }
  return 3;  // pixel shuffle: channels, height, width
}

Shape mixed_dims(const NodeView& node) {
  const std::string name = node.name();
  int64_t count = spatial_dims(name);
  if (name == "ConstantPadNdBackward0") {
    count = static_cast<int64_t>(node.as<compat::nodes::ConstantPadNdBackward0>().pad.size()) / 2;
  }
  Shape dims;
  for (int64_t k = 1; k <= count; ++k) dims.push_back(-k);
  return dims;
}

}  // namespace

const Rule& spatial() {
  static const AlongDimsRule rule({"AdaptiveAvgPool2DBackward0",
                                   "AdaptiveAvgPool3DBackward0",
                                   "AdaptiveMaxPool2DBackward0",
                                   "AdaptiveMaxPool3DBackward0",
                                   "AvgPool2DBackward0",
                                   "AvgPool3DBackward0",
                                   "ConstantPadNdBackward0",
                                   "MaxPool2DWithIndicesBackward0",
                                   "MaxPool3DWithIndicesBackward0",
                                   "MkldnnAdaptiveAvgPool2DBackward0",
                                   "MkldnnMaxPool2DBackward0",
                                   "MkldnnMaxPool3DBackward0",
                                   "PixelShuffleBackward0",
                                   "PixelUnshuffleBackward0",
                                   "ReflectionPad1DBackward0",
                                   "ReflectionPad2DBackward0",
                                   "ReflectionPad3DBackward0",
                                   "ReplicationPad1DBackward0",
                                   "ReplicationPad2DBackward0",
                                   "ReplicationPad3DBackward0",
                                   "UpsampleBicubic2DBackward0",
                                   "UpsampleBicubic2DBackward1",
                                   "UpsampleBilinear2DBackward0",
                                   "UpsampleBilinear2DBackward1",
                                   "UpsampleLinear1DBackward0",
                                   "UpsampleLinear1DBackward1",
                                   "UpsampleNearest1DBackward0",
                                   "UpsampleNearest1DBackward1",
                                   "UpsampleNearest2DBackward0",
                                   "UpsampleNearest2DBackward1",
                                   "UpsampleNearest3DBackward0",
                                   "UpsampleNearest3DBackward1",
                                   "UpsampleTrilinear3DBackward0",
                                   "UpsampleTrilinear3DBackward1"},
                                  &mixed_dims);
  return rule;
}

}  // namespace flightdeck::rules
