// SPDX-License-Identifier: MIT
// What curvature would be obtained by, without paying for it.
#pragma once

#include "flightdeck/curvature.h"

namespace flightdeck {

/// Coverage and remarks of `curvature` with the same arguments, and what it throws, at the price of
/// two columns for each op. There are no values: `parameters` of the result is empty.
[[nodiscard]] Curvature curvature_coverage(const Batch& batch,
                                           CurvatureNeeds what,
                                           const CurvatureOptions& options = {});
[[nodiscard]] Curvature curvature_coverage(const Tensor& losses,
                                           const Parameters& parameters,
                                           CurvatureNeeds what,
                                           const CurvatureOptions& options = {});

}  // namespace flightdeck
