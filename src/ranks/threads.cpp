// SPDX-License-Identifier: MIT
// Ranks that are threads: they meet at a table, where each puts its tensor and reads all others.
#include <condition_variable>
#include <mutex>
#include <string>

#include <ATen/ATen.h>

#include "flightdeck/ranks.h"

namespace flightdeck {
namespace {

enum class What { kSum, kMax, kMin, kGather };

class Table {
 public:
  Table(int64_t size, std::chrono::milliseconds timeout)
      : size_(size), timeout_(timeout), tensors_(size) {}

  int64_t size() const { return size_; }

  // Returns the tensors of all ranks, once all have brought theirs.
  std::vector<Tensor> meet(int64_t rank, What what, const Tensor& own) {
    std::unique_lock<std::mutex> lock(mutex_);
    const int64_t round = round_;
    tensors_[rank] = own.detach().clone();
    if (arrived_ == 0) {
      first_ = rank;
      what_ = what;
    }
    const bool fits = what == what_ && own.sizes().equals(tensors_[first_].sizes());
    is_broken_ = is_broken_ || !fits;
    if (!is_broken_ && ++arrived_ == size_) {
      result_ = tensors_;
      arrived_ = 0;
      ++round_;
    } else if (!is_broken_) {
      all_here_.wait_for(lock, timeout_, [&] { return round_ != round || is_broken_; });
    }
    if (round_ == round) is_broken_ = true;
    all_here_.notify_all();
    TORCH_CHECK(round_ != round,
                "ranks: rank ",
                rank,
                " of ",
                size_,
                " was not joined by all others in the same call with a tensor of the same shape ",
                own.sizes(),
                "; make the same calls on all ranks");
    return result_;
  }

  // Marks a rank as gone: nobody waits for it.
  void leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_broken_ = true;
    all_here_.notify_all();
  }

 private:
  int64_t size_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<Tensor> tensors_, result_;
  What what_ = What::kSum;
  int64_t arrived_ = 0, round_ = 0, first_ = 0;
  bool is_broken_ = false;
};

class Thread final : public Ranks {
 public:
  Thread(std::shared_ptr<Table> table, int64_t rank) : table_(std::move(table)), rank_(rank) {}
  ~Thread() override { table_->leave(); }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  int64_t size() const override { return table_->size(); }
  int64_t rank() const override { return rank_; }
  Tensor sum(const Tensor& own) override { return at::stack(meet(What::kSum, own)).sum(0); }
  Tensor max(const Tensor& own) override { return at::stack(meet(What::kMax, own)).amax(0); }
  Tensor min(const Tensor& own) override { return at::stack(meet(What::kMin, own)).amin(0); }
  Tensor gather(const Tensor& own) override { return at::stack(meet(What::kGather, own)); }

 private:
  std::vector<Tensor> meet(What what, const Tensor& own) { return table_->meet(rank_, what, own); }

  std::shared_ptr<Table> table_;
  int64_t rank_;
};

}  // namespace

std::vector<std::shared_ptr<Ranks>> ranks_in_threads(int64_t size,
                                                     std::chrono::milliseconds timeout) {
  TORCH_CHECK_VALUE(size > 0, "ranks_in_threads: size is ", size, "; give at least 1");
  const auto table = std::make_shared<Table>(size, timeout);
  std::vector<std::shared_ptr<Ranks>> ranks;
  for (int64_t rank = 0; rank < size; ++rank) {
    ranks.push_back(std::make_shared<Thread>(table, rank));
  }
  return ranks;
}

}  // namespace flightdeck
