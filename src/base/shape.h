// SPDX-License-Identifier: MIT
// Tensor shapes as plain lists of sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flightdeck {

using Shape = std::vector<int64_t>;

int64_t product(const Shape& shape);
std::string to_string(const Shape& shape);

}  // namespace flightdeck
