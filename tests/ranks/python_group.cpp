// SPDX-License-Identifier: MIT
// The same process where LibTorch comes without Gloo's headers, as pip's does since 2.0:
// gloo_group.py makes the group, and this library, which it loads, finds it by its name.
#include <cstdio>
#include <exception>

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/torch.h>

#include "ranks/rank_process.h"

extern "C" __attribute__((visibility("default"))) int flightdeck_run_rank(const char* group,
                                                                          const char* what,
                                                                          const char* folder) {
  try {
    torch::set_num_threads(1);
    const auto ranks = flightdeck::ranks_of(c10d::resolve_process_group(group));
    return flightdeck::tests::run_rank(ranks, what, folder) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
