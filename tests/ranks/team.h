// SPDX-License-Identifier: MIT
// Trainings of one small network by several ranks, each a thread with a part of every batch, and by
// one process with all of it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "flightdeck/ranks.h"
#include "tensors.h"

namespace flightdeck::tests {

// Counts what passes through and remembers it: kind and number of entries of every call.
class CountedRanks final : public Ranks {
 public:
  explicit CountedRanks(std::shared_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}
  int64_t size() const override { return ranks_->size(); }
  int64_t rank() const override { return ranks_->rank(); }
  // Asked whenever numbers are packed.
  at::Device device() const override {
    TORCH_CHECK(--packings_left_ != 0, "out of memory");
    return ranks_->device();
  }
  // The so many-th packing from now on fails.
  void fail_packing(int64_t number) { packings_left_ = number; }
  Tensor sum(const Tensor& own) override { return ranks_->sum(said("sum", own)); }
  Tensor max(const Tensor& own) override { return ranks_->max(said("max", own)); }
  Tensor min(const Tensor& own) override { return ranks_->min(said("min", own)); }
  Tensor gather(const Tensor& own) override { return ranks_->gather(said("gather", own)); }

  const std::vector<std::string>& calls() const { return calls_; }
  int64_t bytes() const { return bytes_; }

 private:
  const Tensor& said(const char* what, const Tensor& own) {
    calls_.push_back(std::string(what) + " of " + std::to_string(own.numel()));
    bytes_ += own.numel() * 8;
    return own;
  }
  std::shared_ptr<Ranks> ranks_;
  std::vector<std::string> calls_;
  int64_t bytes_ = 0;
  mutable int64_t packings_left_ = 0;
};

// One mini-batch of a few classes.
struct Shard {
  Tensor inputs, labels, ids;
  Shard part(int64_t begin, int64_t end) const {
    return {inputs.slice(0, begin, end), labels.slice(0, begin, end), ids.slice(0, begin, end)};
  }
};

enum class NetKind {
  kDense,
  kRouted,  // with attention over tokens, and a router that deals them to experts
};

// What one rank, or the one process, does at every step.
class Member {
 public:
  explicit Member(NetKind kind = NetKind::kDense);
  Parameters parameters() const { return net->named_parameters(); }
  void make_cockpit(std::vector<Quantity> quantities, CockpitOptions options = {});
  // Forward, backward, the mean of the ranks' gradients weighted with their samples, update.
  // `before_end` is called inside the watch, before the backward pass.
  void step(int64_t number, const Shard& shard, const std::function<void()>& before_end = {});
  // Without samples.
  void sit_out(int64_t number);
  // The next step's losses have a shape that cannot be watched.
  bool gives_bad_losses = false;
  // Steps end with their backward pass: no update, and no collective but the cockpit's.
  bool is_updated = true;

  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::SGD> optimizer;
  std::shared_ptr<CountedRanks> ranks;  // null in the one process
  std::shared_ptr<MemorySink> memory = std::make_shared<MemorySink>();
  std::vector<std::string> warnings;
  std::unique_ptr<Cockpit> cockpit;

 private:
  void average_and_update(int64_t samples);
};

// Members with equal parameters, one for each rank, and one that has everything alone.
struct Team {
  explicit Team(int64_t W,
                std::chrono::milliseconds timeout = std::chrono::seconds(60),
                NetKind kind = NetKind::kDense);
  // Calls `body` for every rank on a thread of its own; what one throws is thrown here.
  void run(const std::function<void(int64_t rank, Member& member)>& body);

  std::vector<std::unique_ptr<Member>> members;
  Member alone;
};

// Quantities of the catalogue of which something is true.
std::set<std::string> names_where(const std::function<bool(const Quantity&)>& is_one);
bool measures_process(const Quantity& quantity);
// It sees pairs of samples, and says that they are of rank 0 alone.
bool is_of_first_rank(const Quantity& quantity);

// Quantities that fail at one step while `fails` is set: in what is computed, and in what is
// shared.
Quantity fragile(int64_t at_step, const std::shared_ptr<bool>& fails);
Quantity fragile_sharing(int64_t at_step, const std::shared_ptr<bool>& fails);

// True if a note says these words.
bool has_note(const MemorySink& memory, const std::string& words);

// `count` batches of so many samples.
std::vector<Shard> make_batches(int64_t count, int64_t samples);

// The part of a batch that a rank has, where `sizes` says how many each has.
Shard shard_of(const Shard& batch, const std::vector<int64_t>& sizes, int64_t rank);

// What differs between two readings beyond rounding; empty if nothing does.
std::string difference(const Reading& expected, const Reading* actual, double tolerance);

}  // namespace flightdeck::tests
