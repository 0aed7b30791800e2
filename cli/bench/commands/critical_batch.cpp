// SPDX-License-Identifier: MIT
// flightdeck bench critical-batch: the largest batches that a memory limit allows.
#include "cli/bench/critical_batch.h"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench/bench_command.h"
#include "cli/command.h"
#include "cli/machine/process.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"

namespace flightdeck::cli {
namespace {

struct CriticalBatchOptions {
  std::string problem = "mnist_mlp", device = "cpu";
  double limit_gb = 1;
  int64_t most = 4096;
  int threads = 0;
  bool json = false;
};

void run(const CriticalBatchOptions& options) {
  check_name("problem", options.problem, names_of(suite::all_problems()));
  const at::Device device = chosen_device("bench critical-batch", options.device);
  prepare_process(options.threads);
  const suite::Problem problem = suite::find_problem(options.problem);
  const double limit = options.limit_gb * 1e9;
  std::vector<GgnVariant> variants = ggn_variants();
  variants.insert(variants.begin(), GgnVariant{});
  if (!options.json) {
    std::printf("%s on %s: largest batch within %g GB\n%-28s %8s\n",
                problem.name.c_str(),
                options.device.c_str(),
                options.limit_gb,
                "question",
                "N");
  }
  for (const GgnVariant& variant : variants) {
    const int64_t largest = largest_that_fits(options.most, [&](int64_t N) {
      const auto bytes = bytes_of(variant, problem, N, device);
      TORCH_CHECK(bytes,
                  "bench critical-batch: this build cannot count the memory of ",
                  options.device,
                  "; use the CPU, or a build with CUDA");
      return static_cast<double>(*bytes) <= limit;
    });
    const std::string name = variant.name.empty() ? "gradient" : variant.name;
    const bool is_cut = largest == options.most;
    if (options.json) {
      const std::string line = Json::object()
                                   .field("bench", "critical-batch")
                                   .field("problem", problem.name)
                                   .field("device", options.device)
                                   .field("limit_gb", options.limit_gb)
                                   .field("question", name)
                                   .field("batch", largest)
                                   .field("is_cut", is_cut)
                                   .text();
      std::printf("%s\n", line.c_str());
    } else {
      std::printf("%-28s %8lld%s\n",
                  name.c_str(),
                  static_cast<long long>(largest),
                  is_cut ? " or more (--most)" : "");
    }
    std::fflush(stdout);
  }
}

void add_bench_critical_batch(CLI::App* command) {
  const auto options = std::make_shared<CriticalBatchOptions>();
  command->add_option("--problem", options->problem, "A problem; default mnist_mlp");
  command->add_option("--device", options->device, "cpu or cuda; default cpu");
  command
      ->add_option(
          "--limit-gb", options->limit_gb, "Tensor memory allowed, in 10^9 bytes; default 1")
      ->check(CLI::PositiveNumber);
  command->add_option("--most", options->most, "Largest batch that is tried; default 4096")
      ->check(CLI::PositiveNumber);
  add_threads_and_json(*command, options->threads, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace

Command bench_critical_batch_command() {
  return {"critical-batch",
          "Find, by bisection, the largest batch of which eigenvalues, eigenpairs and Newton steps "
          "of the GGN fit into a given memory: of all parameters or of each, of all samples or an "
          "eighth, exact or sampled. An attempt takes up to a few times the limit.",
          40,
          &add_bench_critical_batch};
}

}  // namespace flightdeck::cli
