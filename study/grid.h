// SPDX-License-Identifier: MIT
// Grids of hyperparameters.
#pragma once

#include <string>
#include <vector>

#include "study/space.h"

namespace flightdeck::study {

// The values that one hyperparameter takes.
struct GridAxis {
  std::string name;
  std::vector<double> values;

  bool operator==(const GridAxis& other) const {
    return name == other.name && values == other.values;
  }
};

// Reads "learning_rate=1e-5:1e2:36" (36 values, evenly spaced on a logarithmic scale) or
// "momentum=0.9,0.99". Throws std::invalid_argument, saying what is wrong and the forms.
GridAxis grid_axis(const std::string& text);

// Returns all combinations, the last axis changing fastest.
std::vector<Values> grid_points(const std::vector<GridAxis>& axes);

}  // namespace flightdeck::study
