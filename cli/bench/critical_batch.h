// SPDX-License-Identifier: MIT
// The largest batch of which a question about the low rank of the GGN can be answered in a given
// memory, by bisection.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/workload.h"

namespace flightdeck::cli {

// What is asked of the GGN.
enum class GgnTask {
  kEigenvalues,
  kEigenpairs,  // the leading ones too, as many as there are classes at most
  // With damping 1, along eigenvectors of eigenvalues from 1e-4 on; its gradients are those of all
  // samples.
  kNewtonStep,
};

// A way to take the GGN, and what for.
struct GgnVariant {
  std::string name;            // "eigenpairs,block,mb,exact"; empty for the plain gradient
  bool is_sampled = false;     // one would-be gradient per sample
  bool is_sub = false;         // of an eighth of the samples
  bool is_each_alone = false;  // a GGN for every parameter
  GgnTask task = GgnTask::kEigenvalues;
};

// Returns those of the tables of critical batch sizes: every task, taken in every way.
std::vector<GgnVariant> ggn_variants();

// Returns the bytes that the question takes beyond the network, its data included; nothing if
// memory is not counted on the device.
std::optional<int64_t> bytes_of(const GgnVariant& variant,
                                const suite::Problem& problem,
                                int64_t batch_size,
                                const at::Device& device);

// Returns the largest N in 0..most with fits(N), which holds for all smaller ones where it holds
// for one; 0 if it holds for none. Doubles from 1 on until it does not, then bisects.
int64_t largest_that_fits(int64_t most, const std::function<bool(int64_t)>& fits);

}  // namespace flightdeck::cli
