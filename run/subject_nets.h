// SPDX-License-Identifier: MIT
// Networks of FaultBench's problems, with places where a fault can change them.
#pragma once

#include <memory>
#include <vector>

#include "run/subject_data.h"

namespace flightdeck::run {

struct ConvSizes {
  int64_t first = 8, second = 16, dense = 32;
};

struct TextSizes {
  int64_t width = 32, heads = 2, blocks = 2;
};

// Returns the parts of a healthy network with so many hidden layers.
std::shared_ptr<NetParts> usual_parts(int64_t hidden_layers);

suite::Model dense_net(std::shared_ptr<NetParts> parts, const std::vector<int64_t>& widths);
suite::Model conv_net(std::shared_ptr<NetParts> parts,
                      const ConvSizes& sizes,
                      int64_t side,
                      int64_t classes);
suite::Model text_net(std::shared_ptr<NetParts> parts, const TextSizes& sizes, const Text& text);

}  // namespace flightdeck::run
