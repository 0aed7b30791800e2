// SPDX-License-Identifier: MIT
#include "passes/slow_rows.h"

#include <ATen/ATen.h>

#include "rows/dense.h"

namespace flightdeck {

void SlowRows::add(const Tensor& given) {
  const Tensor row = in_row_precision(given);
  ++count_;
  if (keeps_rows()) {
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
  if (keeps_rows()) {
    const DenseForm form(at::stack(rows_), "dense");
    rows_.clear();
    return form.answer(questions_);
  }
  apply_share(questions_, answers_);
  if (questions_.norms) answers_.norms = at::stack(norms_);
  if (questions_.directions.defined()) answers_.dots = at::stack(dots_);
  return std::move(answers_);
}

}  // namespace flightdeck
