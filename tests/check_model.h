// SPDX-License-Identifier: MIT
// One call that asks the engine everything about a model, in every way there is to ask, and holds
// the answers against the oracle.
#pragma once

#include "flightdeck/flightdeck.h"
#include "oracle.h"

namespace flightdeck::tests {

// What the coverage report has to say about every parameter that takes part.
enum class Path {
  kFast,   // a fast rule exists for all uses
  kExact,  // fast or slow, but exact and reported
};

// kFast on the CPU; kExact elsewhere, where PyTorch runs one fused kernel instead of the unrolled
// graph (recurrent nets under cuDNN).
Path fast_where_unrolled();

// Checks a model given its individual losses [N]:
// - `gradients` for all needs at once, for each need alone (the algorithm depends on what is asked
//   together), for a subset of the samples, and with scratch memory for a few rows only;
// - `Watch` for each need alone and, for all needs, under mean, sum and weighted-mean reduction;
// - the identities between the answers; the coverage report;
// - `.grad`: untouched by `gradients`, and under a watch the same as without, to the bit.
void check_model(const Tensor& losses, const Parameters& parameters, Path path = Path::kFast);

// The same when the oracle's individual losses come from another graph, for example without a
// penalty that is not part of g_n.
void check_model(const Tensor& losses,
                 const Tensor& oracle_losses,
                 const Parameters& parameters,
                 Path path = Path::kFast,
                 double tolerance = kTolerances.float64);

// Checks a scalar loss that was reduced from the same N samples as `oracle_losses` [N].
void check_scalar_loss(const Tensor& loss,
                       Reduction reduction,
                       const Tensor& oracle_losses,
                       const Parameters& parameters,
                       Path path = Path::kFast);

// Rows sum to N times the mean, the Gram diagonal is the squared norms, the variance is the second
// moment less the squared mean. The answers must hold all needs.
void expect_identities(const Gradients& answers, double tolerance = kTolerances.float64);

// Every parameter is reported, none refused; levels as `path` says; unused exactly if zero.
void expect_coverage(const Coverage& coverage, const Oracle& oracle, Path path);

}  // namespace flightdeck::tests
