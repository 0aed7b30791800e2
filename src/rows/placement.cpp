// SPDX-License-Identifier: MIT
#include "rows/placement.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

Shape with_lead(const Tensor& tensor, int64_t lead, const Shape& shape) {
  Shape sizes = tensor.sizes().slice(0, lead).vec();
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return sizes;
}

Shape permutation(const Shape& dims, int64_t lead, bool inverse) {
  Shape order(lead + dims.size());
  for (int64_t k = 0; k < lead; ++k) order[k] = k;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (inverse) {
      order[lead + dims[k]] = lead + static_cast<int64_t>(k);
    } else {
      order[lead + k] = lead + dims[k];
    }
  }
  return order;
}

Tensor slice(const Tensor& tensor, int64_t dim, int64_t start, int64_t step, int64_t count) {
  return tensor.slice(dim, start, start + (count - 1) * step + 1, step);
}

}  // namespace

void Placement::undo_permute(const Shape& dims) {
  Shape before(shape_.size());
  for (size_t k = 0; k < dims.size(); ++k) before[dims[k]] = shape_[k];
  steps_.push_back({Step::Kind::kPermute, dims, before, shape_});
  shape_ = before;
}

void Placement::undo_reshape(const Shape& to) {
  if (to == shape_) return;
  steps_.push_back({Step::Kind::kReshape, {}, to, shape_});
  shape_ = to;
}

void Placement::undo_slice(const Shape& to, int64_t dim, int64_t start, int64_t step) {
  if (to == shape_) return;
  steps_.push_back({Step::Kind::kSlice, {}, to, shape_, dim, start, step});
  shape_ = to;
}

Tensor Placement::to_parameter(Tensor rows, int64_t lead) const {
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::kPermute:
        rows = rows.permute(permutation(step.dims, lead, /*inverse=*/true));
        break;
      case Step::Kind::kReshape:
        rows = rows.reshape(with_lead(rows, lead, step.before));
        break;
      case Step::Kind::kSlice: {
        Tensor whole = at::zeros(with_lead(rows, lead, step.before), rows.options());
        slice(whole, lead + step.dim, step.start, step.step, step.after[step.dim]).copy_(rows);
        rows = whole;
        break;
      }
    }
  }
  return rows;
}

Tensor Placement::from_parameter(Tensor values, int64_t lead) const {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    switch (step->kind) {
      case Step::Kind::kPermute:
        values = values.permute(permutation(step->dims, lead, /*inverse=*/false));
        break;
      case Step::Kind::kReshape:
        values = values.reshape(with_lead(values, lead, step->after));
        break;
      case Step::Kind::kSlice:
        values = slice(values, lead + step->dim, step->start, step->step, step->after[step->dim]);
        break;
    }
  }
  return values;
}

bool Placement::is_disjoint_from(const Placement& other) const {
  // Slices of the parameter itself are disjoint if they do not overlap along one dimension.
  if (steps_.empty() || other.steps_.empty()) return false;
  const Step& a = steps_.back();
  const Step& b = other.steps_.back();
  if (a.kind != Step::Kind::kSlice || b.kind != Step::Kind::kSlice || a.dim != b.dim) return false;
  const int64_t a_last = a.start + (a.after[a.dim] - 1) * a.step;
  const int64_t b_last = b.start + (b.after[b.dim] - 1) * b.step;
  return a_last < b.start || b_last < a.start;
}

bool Placement::keeps_order() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const Step& step) {
    return step.kind == Step::Kind::kReshape;
  });
}

bool Placement::is_transposition() const {
  return steps_.size() == 1 && steps_[0].kind == Step::Kind::kPermute && shape_.size() == 2 &&
         steps_[0].dims == Shape{1, 0};
}

}  // namespace flightdeck
