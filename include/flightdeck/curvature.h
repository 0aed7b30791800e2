// SPDX-License-Identifier: MIT
// Diagonals, traces and Kronecker factors of the GGN and the Hessian, from the graph of any model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/coverage.h"
#include "flightdeck/kronecker.h"
#include "flightdeck/needs.h"
#include "flightdeck/parameters.h"

namespace flightdeck {

/// What to compute. Combine with `|`; only what is asked for is computed.
/// All are of the mean (1/N) sum_n l_n of the individual losses.
enum class CurvatureNeed : uint32_t {
  kDiagGgn = 1u << 0,               ///< exact diagonal of the generalised Gauss-Newton matrix
  kDiagGgnMc = 1u << 1,             ///< the same from sampled would-be gradients
  kDiagHessian = 1u << 2,           ///< exact diagonal of the Hessian
  kDiagGgnPerSample = 1u << 3,      ///< [N, *shape], summands: they add up to the diagonal
  kDiagGgnMcPerSample = 1u << 4,    ///< [N, *shape]
  kDiagHessianPerSample = 1u << 5,  ///< [N, *shape]
  kTraceGgn = 1u << 6,              ///< sum of the diagonal, without forming it
  kTraceGgnMc = 1u << 7,
  kTraceHessian = 1u << 8,
  kKfac = 1u << 9,   ///< Kronecker factors from sampled would-be gradients
  kKflr = 1u << 10,  ///< Kronecker factors from the exact loss Hessian
  kKfra = 1u << 11,  ///< Kronecker factors by the batch-averaged recursion
};
using CurvatureNeeds = NeedSet<CurvatureNeed>;
constexpr CurvatureNeeds operator|(CurvatureNeed a, CurvatureNeed b) {
  return CurvatureNeeds(a) | CurvatureNeeds(b);
}

/// What a weight used at several positions (pixels, time steps) gives its Kronecker factors.
enum class WeightSharing {
  kPatchSums,  ///< as BackPACK: input factor summed over positions, output gradients added up first
  kExpand,     ///< positions are samples of their own
  kReduce,     ///< inputs averaged and output gradients added up over positions first
};

struct CurvatureOptions {
  int64_t mc_samples = 1;  ///< M would-be gradients per sample for the Monte-Carlo needs
  uint64_t seed = 0;       ///< of their own generator; PyTorch's is not touched
  WeightSharing weight_sharing = WeightSharing::kPatchSums;
  /// Called after each go of columns of the exact or sampled loss Hessian: how many are done, and
  /// of how many. For long work; many positions or classes make many columns.
  std::function<void(int64_t done, int64_t columns)> on_columns;
  bool ekfac = false;  ///< also correct the eigenvalues of kKfac and kKflr
  /// The exact Hessian diagonal falls back on one Hessian-vector product per entry where no rule
  /// applies; more entries than this are refused.
  int64_t max_slow_entries = 20000;
  /// Exact answers of more columns than this are refused: a column costs half a gradient or more.
  /// 0: no limit.
  int64_t max_columns = 0;
};

/// The answers for one parameter. A tensor that was not asked for is undefined.
struct ParameterCurvature {
  std::string name;
  Tensor diag_ggn, diag_ggn_mc, diag_hessian;  ///< the parameter's shape
  Tensor diag_ggn_per_sample, diag_ggn_mc_per_sample, diag_hessian_per_sample;  ///< [N, *shape]
  Tensor trace_ggn, trace_ggn_mc, trace_hessian;                                ///< scalars
  KroneckerFactors kfac, kflr, kfra;  ///< undefined where the parameter has no such structure
};

struct Curvature {
  int64_t batch_size = 0;                      ///< N, or the number of chosen samples
  std::vector<ParameterCurvature> parameters;  ///< in the order asked for
  /// Traces of all parameters taken together.
  ParameterCurvature total;
  Coverage coverage;
  /// What a person should know: a clipped loss Hessian, ops applied column by column, ...
  std::vector<std::string> remarks;

  /// The answers of the parameter with this name; throws if there is none.
  const ParameterCurvature& at(const std::string& name) const;
  /// One field of all parameters flattened and concatenated: [D], or [N, D] for per-sample fields.
  [[nodiscard]] Tensor concatenated(Tensor ParameterCurvature::*field) const;
};

/// Answers `what`. The graph stays usable; `.grad`, parameters and RNG are untouched.
[[nodiscard]] Curvature curvature(const Batch& batch,
                                  CurvatureNeeds what,
                                  const CurvatureOptions& options = {});
/// The same of individual losses [N] of which nothing else is to be said.
[[nodiscard]] Curvature curvature(const Tensor& losses,
                                  const Parameters& parameters,
                                  CurvatureNeeds what,
                                  const CurvatureOptions& options = {});

}  // namespace flightdeck
