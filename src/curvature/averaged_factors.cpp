// SPDX-License-Identifier: MIT
// KFRA: Kronecker factors from the batch-averaged recursion.
#include <ATen/ATen.h>

#include "curvature/averaged.h"

namespace flightdeck {

std::vector<KroneckerFactors> averaged_factors(CurvatureContext& context) {
  AveragedChain chain(context, {BatchAverage::kProducts, Bending::kNone, "kfra"});
  std::vector<KroneckerFactors> factors(context.parameters().size());
  chain.run([&](const AveragedChain::Use& use) {
    Tensor folded;
    for (const auto& [p, rows, shape, is_bias] : use.parameters) {
      if (!is_bias && shape.kind != KroneckerShape::Kind::kMatrix) continue;
      if (!folded.defined()) folded = use.folded();
      factors[p].output = folded;
      if (is_bias) continue;
      factors[p].input =
          input_factor(rows, WeightSharing::kPatchSums, context.memory().scratch_bytes);
      if (!shape.is_flipped) std::swap(factors[p].input, factors[p].output);
    }
  });
  return factors;
}

}  // namespace flightdeck
