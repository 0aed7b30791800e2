// SPDX-License-Identifier: MIT
#include "passes/slow_rows.h"

#include <ATen/ATen.h>

#include "rows/dense.h"

namespace flightdeck {
namespace {

// Returns true for answers that need several rows at once, or the mean before the last row is
// there.
bool needs_all_rows(const Look& look) { return look.keeps || look.pairs || look.centred; }

}  // namespace

SlowRows::SlowRows(Questions questions, int64_t N, const Tensor& parameter, bool keeps_rows)
    : questions_(std::move(questions)),
      asked_(asked(questions_)),
      shape_(parameter.sizes().vec()),
      keeps_rows_(keeps_rows || needs_all_rows(look_of(asked_))) {
  if (keeps_rows_) return;
  const auto options = in_row_precision(at::empty({0}, parameter.options())).options();
  sweep_ = std::make_unique<Sweep>(asked_, questions_, RowsSize{N, product(shape_), options});
}

void SlowRows::add(const Tensor& given) {
  const Tensor row = in_row_precision(given);
  given_type_ = given.scalar_type();
  if (keeps_rows_) {
    rows_.push_back(row.is_same(given) ? row.clone() : row);
  } else {
    sweep_->add({row.reshape({1, -1}), count_, 0});
  }
  ++count_;
}

Answers SlowRows::finish() {
  if (keeps_rows_) {
    all_ = Rows(std::make_shared<DenseForm>(at::stack(rows_), "dense"));
    all_.came_from(given_type_);
    rows_.clear();
    return all_.answer(asked_, questions_);
  }
  Answers answers;
  sweep_->finish(shape_, answers);
  answers.epsilon = machine_epsilon(given_type_);
  return answers;
}

}  // namespace flightdeck
