// SPDX-License-Identifier: MIT
// The symmetric factor of the GGN, written out parameter by parameter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/vivit.h"

namespace flightdeck {

struct GgnFactorOptions {
  LossColumns columns = LossColumns::kExact;
  int64_t mc_samples = 1;  ///< M would-be gradients per sample for kSampled
  uint64_t seed = 0;       ///< of their own generator; PyTorch's is not touched
};

/// V of one parameter, [K, S, *shape]: column k of sample n is V[k][n], as in ViViT's Gram matrix.
struct ParameterFactor {
  std::string name;
  Tensor factor;
};

/// Returns the factor of the GGN of the batch's choice of S samples, one entry per parameter, zeros
/// where the losses do not depend on it: GGN = (1/S) sum over k, n of V[k][n] V[k][n]ᵀ, over all
/// parameters flattened and concatenated. With kSampled this holds in the mean over the draws.
///
/// Like rows, columns carry **no** 1/S. BackPACK's `SqrtGGNExact` and `SqrtGGNMC` of a mean loss
/// carry it: theirs are ours times 1/sqrt(S), so that GGN = sum V Vᵀ; of a sum of losses both are
/// the same. For softmax ours has C - 1 columns and theirs C: single columns differ, V Vᵀ does not.
///
/// As large as K S gradients. Vivit answers what only needs inner products without writing it out.
[[nodiscard]] std::vector<ParameterFactor> ggn_factor(const Batch& batch,
                                                      const GgnFactorOptions& options = {});

}  // namespace flightdeck
