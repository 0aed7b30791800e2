// SPDX-License-Identifier: MIT
// On the CPU everything is one sweep over memory: parameters are as large as the gradients, and for
// small models a sweep costs a noticeable part of a step.
#include "cockpit/update.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "rows/gpu_tables.h"
#include "rows/sweeps.h"

namespace flightdeck {
namespace {

bool can_sweep(const Tensor& a, const Tensor& b) {
  return a.is_cpu() && a.scalar_type() == b.scalar_type() &&
         (a.scalar_type() == at::kFloat || a.scalar_type() == at::kDouble) && a.is_contiguous() &&
         b.is_contiguous();
}

// Sets update = now - before and, if asked, before = now. Returns the sum of squares of the update.
template <typename Scalar>
double sweep(const Tensor& now, const Tensor& before, const Tensor& update, bool remember_again) {
  constexpr int64_t kBlock = int64_t{1} << 14;
  const auto* x = now.data_ptr<Scalar>();
  auto* y = before.data_ptr<Scalar>();
  auto* d = update.data_ptr<Scalar>();
  const int64_t count = now.numel();
  std::vector<double> parts((count + kBlock - 1) / kBlock);
  at::parallel_for(0, static_cast<int64_t>(parts.size()), 4, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock, size = std::min(kBlock, count - first);
      for (int64_t k = first; k < first + size; ++k) d[k] = x[k] - y[k];
      if (remember_again) std::copy(x + first, x + first + size, y + first);
      parts[block] =
          sum_of_terms(d + first, d + first, size, [](double a, double b) { return a * b; });
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace

std::vector<Tensor> UpdateTracker::parameters_now() const {
  std::vector<Tensor> now;
  for (const NamedParameter& parameter : parameters_) now.push_back(parameter.tensor);
  return now;
}

void UpdateTracker::remember() {
  const at::NoGradGuard no_grad;
  if (remembered_.empty()) {
    for (const NamedParameter& parameter : parameters_) {
      remembered_.push_back(at::empty_like(parameter.tensor.detach()));
    }
  }
  if (remember_by_table()) return;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    remembered_[p].copy_(parameters_[p].tensor);
  }
}

bool UpdateTracker::remember_by_table() {
  std::vector<TablePair> pairs;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const Tensor& now = parameters_[p].tensor;
    const bool fits = fit_tables(now, remembered_[p]) && now.device() == remembered_[0].device();
    if (!fits) return false;
    pairs.push_back({now, {}, {}, remembered_[p]});
  }
  return sums_by_table(pairs).has_value();
}

bool UpdateTracker::take_by_table(bool remember_again) {
  std::vector<TablePair> pairs;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const Tensor& now = parameters_[p].tensor;
    const Tensor& before = remembered_[p];
    const bool fits = fit_tables(now, before) && before.strides() == updates_[p].strides() &&
                      now.device() == remembered_[0].device();
    if (!fits) return false;
    pairs.push_back({now, before, updates_[p], remember_again ? before : Tensor()});
  }
  const auto sums = sums_by_table(pairs);
  if (!sums) return false;
  squares_ = sums->squares;
  before_ = sums->before;
  return true;
}

void UpdateTracker::take(bool remember_again) {
  const at::NoGradGuard no_grad;
  if (updates_.empty()) {
    for (const Tensor& values : remembered_) {
      updates_.push_back(at::empty_like(values));
      directions_.push_back(updates_.back().unsqueeze(0));
    }
  }
  before_ = Tensor();
  if (runs_behind(updates_[0]) && take_by_table(remember_again)) return;
  if (!updates_[0].is_cpu()) return take_by_lists(remember_again);
  squares_ = at::empty({static_cast<int64_t>(updates_.size())}, at::kDouble);
  std::vector<Tensor> elsewhere(updates_.size());
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const Tensor& now = parameters_[p].tensor;
    Tensor &before = remembered_[p], &update = updates_[p];
    double& square = squares_.data_ptr<double>()[p];
    if (!can_sweep(now, before)) {
      at::sub_out(update, now, before);
      elsewhere[p] = sum_of_squares(update);
      if (remember_again) before.copy_(now);
    } else if (now.scalar_type() == at::kFloat) {
      square = sweep<float>(now, before, update, remember_again);
    } else {
      square = sweep<double>(now, before, update, remember_again);
    }
  }
  squares_ = joined(squares_, elsewhere);
}

// Takes what has no kernel of ours: other types than float.
void UpdateTracker::take_by_lists(bool remember_again) {
  updates_ = at::_foreach_sub(parameters_now(), remembered_);
  std::vector<Tensor> squares = at::_foreach_norm(updates_);
  for (size_t p = 0; p < updates_.size(); ++p) {
    directions_[p] = updates_[p].unsqueeze(0);
    squares[p] = squares[p].to(at::kDouble).square_();
  }
  squares_ = joined(Tensor(), std::move(squares));
  if (remember_again) remember();
}

Tensor UpdateTracker::squares_before() const {
  const at::NoGradGuard no_grad;
  if (before_.defined()) return before_;
  return squared_distances(parameters_now(), updates_);
}

}  // namespace flightdeck
