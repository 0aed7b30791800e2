// SPDX-License-Identifier: MIT
#include "passes/arrivals.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "graph/torch_compat.h"
#include "rows/form.h"
#include "rows/gpu_tables.h"
#include "rows/sweeps.h"

namespace flightdeck {
namespace {

Tensor entries_of(const Tensor& gradient) {
  return gradient.is_sparse() ? gradient.coalesce().values() : gradient;
}

}  // namespace

bool Arrivals::may_wait(size_t parameter, const Tensor& gradient) const {
  const Tensor& tensor = parameters_[parameter].tensor;
  return runs_behind(gradient) && !gradient.is_sparse() && fits_tables(tensor) &&
         tensor.is_non_overlapping_and_dense() && !tensor.grad().defined();
}

void Arrivals::add(size_t parameter, const Tensor& gradient, bool becomes_grad) {
  if (!gradient.defined() || has_arrived_[parameter]) return;
  has_arrived_[parameter] = true;
  const compat::PassGuard guard;
  if (becomes_grad && may_wait(parameter, gradient)) {
    waiting_.push_back({parameter, gradient.data_ptr(), gradient._version()});
    return;
  }
  const Tensor entries = in_row_precision(entries_of(gradient));
  if (const auto sum = sum_of_squares_here(entries)) {
    here_.emplace_back(parameter, *sum);
  } else {
    elsewhere_.push_back({{parameter}, sum_of_squares(entries).reshape({1})});
  }
}

// Recognises each gradient as `.grad`: PyTorch makes it `.grad` as it is, or copies it once.
void Arrivals::end_pass() {
  const compat::PassGuard guard;
  std::vector<Squares> by_device;
  std::vector<std::vector<TablePair>> pairs;
  for (const Waiting& one : std::exchange(waiting_, {})) {
    const Tensor& grad = parameters_[one.parameter].tensor.grad();
    const bool is_it =
        grad.defined() &&
        (grad.data_ptr() == one.data ? grad._version() == one.version : grad._version() <= 1);
    TORCH_CHECK(is_it,
                "watch: the gradient of '",
                parameters_[one.parameter].name,
                "' was changed during the backward pass that made it; change it after the watch "
                "has ended, or in a hook of the parameter");
    const auto list = std::find_if(pairs.begin(), pairs.end(), [&](const auto& all) {
      return all[0].x.device() == grad.device();
    });
    const auto place = static_cast<size_t>(list - pairs.begin());
    if (list == pairs.end()) {
      pairs.emplace_back();
      by_device.emplace_back();
    }
    pairs[place].push_back({grad, {}, {}, {}});
    by_device[place].parameters.push_back(one.parameter);
  }
  for (size_t k = 0; k < pairs.size(); ++k) {
    if (const auto sums = sums_by_table(pairs[k])) {
      by_device[k].squares = sums->squares;
    } else {
      std::vector<Tensor> squares;
      for (const TablePair& pair : pairs[k]) squares.push_back(sum_of_squares(pair.x));
      by_device[k].squares = at::stack(squares);
    }
    elsewhere_.push_back(std::move(by_device[k]));
  }
}

std::vector<Arrivals::Squares> Arrivals::take() {
  end_pass();
  std::vector<Squares> taken = std::exchange(elsewhere_, {});
  if (here_.empty()) return taken;
  Squares here{{}, at::empty({static_cast<int64_t>(here_.size())}, at::kDouble)};
  auto* next = here.squares.data_ptr<double>();
  for (const auto& [parameter, square] : std::exchange(here_, {})) {
    here.parameters.push_back(parameter);
    *next++ = square;
  }
  taken.push_back(std::move(here));
  return taken;
}

}  // namespace flightdeck
