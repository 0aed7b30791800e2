// SPDX-License-Identifier: MIT
#include "cli/bench/critical_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <ATen/ATen.h>

#include "cli/machine/peak_memory.h"
#include "flightdeck/vivit.h"

namespace flightdeck::cli {
namespace {

constexpr int64_t kPairs = 10;
constexpr int64_t kPartOfBatch = 8;
constexpr double kNewtonDamping = 1.0;
constexpr double kSmallestEigenvalue = 1e-4;

std::vector<std::vector<size_t>> each_alone(size_t count) {
  std::vector<std::vector<size_t>> groups;
  for (size_t p = 0; p < count; ++p) groups.push_back({p});
  return groups;
}

std::string name_of(GgnTask task) {
  switch (task) {
    case GgnTask::kEigenvalues:
      return "eigenvalues";
    case GgnTask::kEigenpairs:
      return "eigenpairs";
    case GgnTask::kNewtonStep:
      return "newton_step";
  }
  return "";
}

void take_newton_step(const Vivit& vivit, size_t group, const at::TensorOptions& options) {
  const Tensor eigenvalues = vivit.eigenvalues(group);
  if (eigenvalues.numel() == 0 || eigenvalues[0].item<double>() < kSmallestEigenvalue) return;
  const Directions which =
      Directions::within(kSmallestEigenvalue, std::numeric_limits<double>::infinity());
  static_cast<void>(
      vivit.newton_step(at::full({1}, kNewtonDamping, options), which, /*trivial=*/false, group));
}

void answer(const GgnVariant& variant, Workload& workload) {
  const Tensor losses = workload.losses();
  Batch batch(losses, workload.parameters());
  if (variant.is_sub) {
    std::vector<int64_t> some(std::max<int64_t>(1, losses.size(0) / kPartOfBatch));
    std::iota(some.begin(), some.end(), int64_t{0});
    batch = batch.of(std::move(some));
  }
  VivitOptions options;
  options.columns = variant.is_sampled ? LossColumns::kSampled : LossColumns::kExact;
  options.gradients = variant.task == GgnTask::kNewtonStep;
  if (variant.is_each_alone) options.groups = each_alone(workload.parameters().size());
  const Vivit vivit(batch, options);
  for (size_t group = 0; group < vivit.groups(); ++group) {
    static_cast<void>(vivit.eigenvalues(group));
    if (variant.task == GgnTask::kEigenpairs) {
      static_cast<void>(vivit.eigenvectors(std::min(kPairs, vivit.rank(group)), group));
    } else if (variant.task == GgnTask::kNewtonStep) {
      take_newton_step(vivit, group, workload.parameters()[0].tensor.options());
    }
  }
}

}  // namespace

std::vector<GgnVariant> ggn_variants() {
  std::vector<GgnVariant> all;
  for (const GgnTask task : {GgnTask::kEigenvalues, GgnTask::kEigenpairs, GgnTask::kNewtonStep}) {
    for (const bool is_each_alone : {false, true}) {
      for (const bool is_sub : {false, true}) {
        for (const bool is_sampled : {false, true}) {
          const std::string name = name_of(task) + (is_each_alone ? ",block" : ",full") +
                                   (is_sub ? ",sub" : ",mb") + (is_sampled ? ",mc" : ",exact");
          all.push_back({name, is_sampled, is_sub, is_each_alone, task});
        }
      }
    }
  }
  return all;
}

std::optional<int64_t> bytes_of(const GgnVariant& variant,
                                const suite::Problem& problem,
                                int64_t batch_size,
                                const at::Device& device) {
  std::optional<Workload> workload;
  return peak_bytes(device, [&] {
    workload.emplace(problem, batch_size, device);
    if (variant.name.empty()) {
      workload->plain_step();
    } else {
      answer(variant, *workload);
    }
  });
}

int64_t largest_that_fits(int64_t most, const std::function<bool(int64_t)>& fits) {
  int64_t good = 0, bad = 1;
  while (bad <= most && fits(bad)) {
    good = bad;
    bad = std::min(2 * bad, most + 1);
  }
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return std::min(good, most);
}

}  // namespace flightdeck::cli
