// SPDX-License-Identifier: MIT
// One process of several that train together over Gloo; gloo_test starts them.
//
// ranks_process STORE RANK SIZE WHAT: "all" compares every quantity with one process that has all
// samples, "gone" has the last rank leave without a word after the first step. Exit status 0 if all
// is as it has to be.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kSteps = 3;

std::shared_ptr<Ranks> gloo_ranks(const std::string& path,
                                  int rank,
                                  int size,
                                  std::chrono::milliseconds timeout) {
  const auto store = c10::make_intrusive<c10d::FileStore>(path, size);
  const auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  options->timeout = timeout;
  const auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options);
#if TORCH_VERSION_MAJOR < 2
  return ranks_of(c10::intrusive_ptr<c10d::ProcessGroup>(group));
#else
  return ranks_of(c10::intrusive_ptr<c10d::Backend>(group));
#endif
}

// The differences between what both have recorded; 0 if there are none.
int compare(const Member& alone, const Member& together) {
  std::set<std::string> left_out = {"time", "step_times"};
  for (const Note& note : together.memory->notes()) {
    if (note.kind == NoteKind::kSwitchedOff) return 1;
    if (note.text.find("of the samples of rank 0") == 0) left_out.insert(note.quantity);
  }
  int differences = 0;
  for (const auto& [step, readings] : alone.memory->steps()) {
    for (const Reading& reading : readings) {
      if (left_out.count(reading.quantity) > 0) continue;
      // Two samples that are all of their class have one cosine: rounding says who comes first.
      const bool is_order = reading.field == "samples" || reading.field == "ids";
      if (reading.quantity == "label_conflicts" && is_order) continue;
      const std::set<std::string> of_the_way = {"products", "iterations", "residual"};
      if (of_the_way.count(reading.field) > 0) continue;
      const std::string text =
          difference(reading,
                     together.memory->find(step, reading.quantity, reading.group, reading.field),
                     1e-7);
      if (text.empty()) continue;
      ++differences;
      std::fprintf(stderr, "step %d: %s\n", int(step), text.c_str());
    }
  }
  return differences;
}

int compare_all(const std::shared_ptr<Ranks>& ranks) {
  const int64_t W = ranks->size(), rank = ranks->rank();
  std::vector<int64_t> sizes;
  int64_t all = 0;
  for (int64_t k = 0; k < W; ++k) {
    sizes.push_back(5 + k);
    all += 5 + k;
  }
  torch::manual_seed(3);  // the same network and batches on all ranks
  Member alone, together;
  {
    const torch::NoGradGuard no_grad;
    const auto theirs = together.net->parameters(), ours = alone.net->parameters();
    for (size_t p = 0; p < ours.size(); ++p) theirs[p].copy_(ours[p]);
  }
  together.ranks = std::make_shared<CountedRanks>(ranks);
  const std::vector<Shard> batches = make_batches(kSteps, all);
  alone.make_cockpit(all_quantities());
  together.make_cockpit(all_quantities());
  for (int64_t k = 0; k < kSteps; ++k) {
    alone.step(k, batches[k]);
    together.step(k, shard_of(batches[k], sizes, rank));
  }
  return rank == 0 ? compare(alone, together) : 0;  // who has the notes
}

// The others have to notice within the group's timeout, and go on without their cockpit.
int lose_a_rank(const std::shared_ptr<Ranks>& ranks) {
  torch::manual_seed(3);
  Member member;
  member.ranks = std::make_shared<CountedRanks>(ranks);
  member.make_cockpit(preset("business"));
  for (int64_t k = 0; k < kSteps; ++k) {
    if (k == 1 && ranks->rank() == ranks->size() - 1) std::_Exit(0);
    member.net->zero_grad();
    const Tensor losses = torch::log_softmax(member.net->forward(random({4, 6})), 1).select(1, 0);
    const StepWatch watch = member.cockpit->watch(k, losses);
    losses.mean().backward();
  }
  const bool is_told = !member.warnings.empty() &&
                       member.warnings.back().find("cannot meet any more") != std::string::npos;
  return is_told && member.net->parameters()[0].grad().defined() ? 0 : 1;
}

}  // namespace
}  // namespace flightdeck::tests

int main(int count, char** words) {
  using namespace flightdeck::tests;
  if (count != 5) return 2;
  const std::string what = words[4];
  const auto timeout = what == "gone" ? std::chrono::seconds(2) : std::chrono::seconds(60);
  torch::set_num_threads(1);
  const auto ranks = gloo_ranks(words[1], std::atoi(words[2]), std::atoi(words[3]), timeout);
  const int failures = what == "gone" ? lose_a_rank(ranks) : compare_all(ranks);
  std::fflush(stderr);
  std::_Exit(failures == 0 ? 0 : 1);  // groups of a process that is gone wait when they end
}
