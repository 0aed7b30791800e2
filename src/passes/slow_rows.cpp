// SPDX-License-Identifier: MIT
#include "passes/slow_rows.h"

#include <ATen/ATen.h>

#include "rows/counts.h"
#include "rows/dense.h"

namespace flightdeck {

SlowRows::SlowRows(Questions questions, bool keeps_rows)
    : questions_(std::move(questions)),
      keeps_rows_(keeps_rows || questions_.dense || questions_.gram || questions_.mean_dots ||
                  questions_.deviations) {}

void SlowRows::add(const Tensor& given) {
  const Tensor row = in_row_precision(given);
  given_type_ = given.scalar_type();
  ++count_;
  count_rows(row.unsqueeze(0), questions_, answers_);
  if (keeps_rows_) {
    rows_.push_back(row.is_same(given) ? row.clone() : row);
    return;
  }
  const auto accumulate = [](Tensor& total, const Tensor& part) {
    total = total.defined() ? total.add_(part) : part.clone();
  };
  if (questions_.sum) accumulate(answers_.sum, row);
  if (questions_.second) accumulate(answers_.second, row.square());
  if (questions_.variance) add_to_variance(row);
  const Tensor flat = row.reshape({-1});
  if (questions_.norms) norms_.push_back(at::linalg_vector_norm(flat, 2));
  if (questions_.directions.defined()) {
    const Tensor& directions = questions_.directions;
    dots_.push_back(at::mv(directions.reshape({directions.size(0), -1}).to(row.dtype()), flat));
  }
}

// Welford's updates: the mean so far, and squares of differences to it alone.
void SlowRows::add_to_variance(const Tensor& row) {
  if (count_ == 1) {
    mean_ = row.clone();
    answers_.variance = at::zeros_like(row);
    return;
  }
  const Tensor difference = row - mean_;
  mean_.add_(difference, 1.0 / static_cast<double>(count_));
  answers_.variance.addcmul_(difference, row - mean_);
}

Answers SlowRows::finish() {
  if (keeps_rows_) {
    all_ = Rows(std::make_shared<DenseForm>(at::stack(rows_), "dense"));
    all_.came_from(given_type_);
    rows_.clear();
    Questions rest = questions_;
    rest.drop_counts();
    Answers answers = all_.answer(rest);
    answers.histograms = std::move(answers_.histograms);
    answers.joint_histograms = std::move(answers_.joint_histograms);
    return answers;
  }
  apply_share(questions_, answers_);
  answers_.epsilon = machine_epsilon(given_type_);
  if (questions_.norms) answers_.norms = at::stack(norms_);
  if (questions_.directions.defined()) answers_.dots = at::stack(dots_);
  return std::move(answers_);
}

}  // namespace flightdeck
