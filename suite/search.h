// SPDX-License-Identifier: MIT
// Where a random search draws the values of a hyperparameter: said by the optimizers, drawn by the
// study. Plain data, since the two share nothing else; it includes the standard library alone.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::suite {

struct Search {
  enum class Kind { kFixed, kLogUniform, kWholeUniform, kOneOf };

  Kind kind = Kind::kFixed;
  double low = 0.0, high = 0.0;      ///< both belong to it
  bool is_complement = false;        ///< low, high and the distribution are those of 1 - value
  std::vector<double> choices = {};  ///< of kOneOf: a grid
};

}  // namespace flightdeck::suite
