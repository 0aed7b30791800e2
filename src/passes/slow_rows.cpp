// SPDX-License-Identifier: MIT
#include "passes/slow_rows.h"

#include <ATen/ATen.h>

#include "rows/counts.h"
#include "rows/dense.h"

namespace flightdeck {

SlowRows::SlowRows(Questions questions, bool keeps_rows)
    : questions_(std::move(questions)),
      keeps_rows_(keeps_rows || questions_.dense || questions_.gram || questions_.mean_dots) {}

void SlowRows::add(const Tensor& given) {
  const Tensor row = in_row_precision(given);
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
  const Tensor flat = row.reshape({-1});
  if (questions_.norms) norms_.push_back(at::linalg_vector_norm(flat, 2));
  if (questions_.directions.defined()) {
    const Tensor& directions = questions_.directions;
    dots_.push_back(at::mv(directions.reshape({directions.size(0), -1}).to(row.dtype()), flat));
  }
}

Answers SlowRows::finish() {
  if (keeps_rows_) {
    all_ = Rows(std::make_shared<DenseForm>(at::stack(rows_), "dense"));
    rows_.clear();
    Questions rest = questions_;
    rest.drop_counts();
    Answers answers = all_.answer(rest);
    answers.histograms = std::move(answers_.histograms);
    answers.joint_histograms = std::move(answers_.joint_histograms);
    return answers;
  }
  apply_share(questions_, answers_);
  if (questions_.norms) answers_.norms = at::stack(norms_);
  if (questions_.directions.defined()) answers_.dots = at::stack(dots_);
  return std::move(answers_);
}

}  // namespace flightdeck
