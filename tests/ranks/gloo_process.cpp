// SPDX-License-Identifier: MIT
// One process of several that train together over Gloo; gloo_test starts them:
// ranks_process STORE RANK SIZE WHAT [FOLDER].
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/torch.h>

#include "ranks/rank_process.h"

namespace flightdeck::tests {
namespace {

std::shared_ptr<Ranks> gloo_ranks(const std::string& path,
                                  int rank,
                                  int size,
                                  std::chrono::milliseconds timeout) {
  const auto store = c10::make_intrusive<c10d::FileStore>(path, size);
  const auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  options->timeout = timeout;
  const auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
  // A group of Gloo's is a ProcessGroup in LibTorch 1.13 and a Backend from 2 on.
  using Base = std::conditional_t<std::is_base_of_v<c10d::ProcessGroup, c10d::ProcessGroupGloo>,
                                  c10d::ProcessGroup,
                                  c10d::Backend>;
  return ranks_of(c10::intrusive_ptr<Base>(group));
}

}  // namespace
}  // namespace flightdeck::tests

int main(int count, char** words) {
  using namespace flightdeck::tests;
  if (count != 5 && count != 6) return 2;
  const std::string what = words[4], folder = count == 6 ? words[5] : "";
  const auto timeout = std::chrono::seconds(loses_a_rank(what) ? 2 : 60);
  torch::set_num_threads(1);
  const auto ranks = gloo_ranks(words[1], std::atoi(words[2]), std::atoi(words[3]), timeout);
  const int failures = run_rank(ranks, what, folder);
  std::fflush(stderr);
  std::_Exit(failures == 0 ? 0 : 1);  // groups of a process that is gone wait when they end
}
