// SPDX-License-Identifier: MIT
#include "ranks/rank_process.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kSteps = 3;

// What all ranks have: 1 to W and 1, W.
int check_collectives(Ranks& ranks) {
  const double own = static_cast<double>(ranks.rank() + 1), W = static_cast<double>(ranks.size());
  const Tensor number = torch::full({1}, own, at::kDouble);
  const bool is_right =
      ranks.sum(number).item<double>() == W * (W + 1) / 2 &&
      ranks.max(number).item<double>() == W && ranks.min(number).item<double>() == 1 &&
      ranks.gather(number).equal(torch::arange(1, W + 1, at::kDouble).view({-1, 1}));
  if (!is_right) std::fprintf(stderr, "collectives of rank %g are wrong\n", own - 1);
  return is_right ? 0 : 1;
}

// The differences between what both have recorded; 0 if there are none.
int compare(const Member& alone, const Member& together) {
  std::set<std::string> left_out = names_where(measures_process), expected = left_out;
  expected.merge(names_where(is_of_first_rank));
  for (const Note& note : together.memory->notes()) {
    if (note.kind == NoteKind::kSwitchedOff) return 1;
    if (note.text.find("of the samples of rank 0") == 0) left_out.insert(note.quantity);
  }
  int differences = 0;
  if (left_out != expected) {
    ++differences;
    for (const std::string& name : left_out) {
      std::fprintf(stderr, "%s is not of all samples\n", name.c_str());
    }
  }
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

int fail_on_one(const std::shared_ptr<Ranks>& ranks) {
  torch::manual_seed(3);
  Member member;
  member.ranks = std::make_shared<CountedRanks>(ranks);
  const auto fails = std::make_shared<bool>(ranks->rank() == ranks->size() - 1);
  member.make_cockpit({fragile(1, fails), fragile_sharing(1, fails), quantity("grad_norm")});
  const std::vector<Shard> batches = make_batches(kSteps + 1, 4 * ranks->size());
  const std::vector<int64_t> sizes(static_cast<size_t>(ranks->size()), 4);
  for (int64_t k = 0; k < kSteps + 1; ++k) {
    member.step(k, shard_of(batches[k], sizes, ranks->rank()));
  }
  const MemorySink& memory = *member.memory;
  int wrong = memory.find(kSteps, "grad_norm") == nullptr ? 1 : 0;
  for (const char* name : {"fragile", "fragile_sharing"}) {
    if (memory.find(0, name) == nullptr || memory.find(2, name) != nullptr) ++wrong;
  }
  const std::string who = "rank " + std::to_string(ranks->size() - 1) + ": ";
  if (ranks->rank() == 0 && !has_note(memory, who)) ++wrong;
  return wrong;
}

// The others have to notice within the group's timeout, and go on without their cockpit.
int lose_a_rank(const std::shared_ptr<Ranks>& ranks, bool is_killed) {
  torch::manual_seed(3);
  Member member;
  member.ranks = std::make_shared<CountedRanks>(ranks);
  member.make_cockpit(preset("business"));
  for (int64_t k = 0; k < kSteps; ++k) {
    if (k == 1 && ranks->rank() == ranks->size() - 1) {
      if (is_killed) std::raise(SIGKILL);
      std::_Exit(0);
    }
    member.net->zero_grad();
    const Tensor losses = torch::log_softmax(member.net->forward(random({4, 6})), 1).select(1, 0);
    const StepWatch watch = member.cockpit->watch(k, losses);
    losses.mean().backward();
  }
  const bool is_told = !member.warnings.empty() &&
                       member.warnings.back().find("cannot meet any more") != std::string::npos;
  return is_told && member.net->parameters()[0].grad().defined() ? 0 : 1;
}

// Batches of 1 to 5 samples.
int search_data_set(const std::shared_ptr<Ranks>& ranks,
                    const std::string& folder,
                    bool is_killed) {
  namespace F = torch::nn::functional;
  torch::manual_seed(3);
  Member member;
  const std::vector<Shard> all = make_batches(5, 5);
  const BatchSource source = [&](int64_t k) {
    const Shard some = all[static_cast<size_t>(k)].part(0, k + 1);
    const auto each = F::CrossEntropyFuncOptions().reduction(torch::kNone);
    return Batch(F::cross_entropy(member.net->forward(some.inputs), some.labels, each),
                 member.parameters());
  };
  EigenOptions search;
  search.tolerance = 1e-9;
  const Eigenpairs alone =
      eigenpairs(*data_set_operator(5, source, CurvatureKind::kHessian), search);
  int64_t first = -1;
  DataSetOptions options;
  options.ranks = ranks;
  options.folder = folder;
  options.on_batch = [&](const DataSetProgress& now) {
    if (first < 0) first = now.product;
    const bool is_last = ranks->rank() == ranks->size() - 1;
    if (is_killed && is_last && now.product == 2) std::raise(SIGKILL);
  };
  try {
    const auto op = data_set_operator(5, source, CurvatureKind::kHessian, options);
    const Eigenpairs pairs = eigenpairs(*op, search);
    const double off = (pairs.values - alone.values).abs().max().item<double>();
    if (first != 2 || !(off < 1e-9)) {
      std::fprintf(stderr, "first product %d, eigenvalues off by %g\n", int(first), off);
    }
    return !is_killed && first == 2 && off < 1e-9 ? 0 : 1;
  } catch (const std::exception& error) {
    if (!is_killed) std::fprintf(stderr, "%s\n", error.what());
    return is_killed && first == 0 ? 0 : 1;  // who is left is told, and does not wait for ever
  }
}

}  // namespace

bool loses_a_rank(const std::string& what) {
  return what == "gone" || what == "killed" || what == "data_set_killed";
}

int run_rank(const std::shared_ptr<Ranks>& ranks,
             const std::string& what,
             const std::string& folder) {
  if (what == "gone" || what == "killed") return lose_a_rank(ranks, what == "killed");
  if (!folder.empty()) return search_data_set(ranks, folder, what == "data_set_killed");
  if (what == "fails") return fail_on_one(ranks);
  return check_collectives(*ranks) + compare_all(ranks);
}

}  // namespace flightdeck::tests
