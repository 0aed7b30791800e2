// SPDX-License-Identifier: MIT
#include "rows/factored.h"

#include <ATen/ATen.h>

#include "rows/rows.h"

namespace flightdeck {

const Tensor& Products::a_of_rows() const {
  if (!a_of_rows_.defined()) a_of_rows_ = K() == 1 ? a_ : a_.repeat({K(), 1});
  return a_of_rows_;
}

const Scatter& Products::scatter() const {
  if (!scatter_.deviations.defined()) scatter_ = scatter_of_products(a_of_rows(), b_);
  return scatter_;
}

const Moments& Products::moments(const Questions& questions) const {
  if (!moments_.sum.defined()) {
    moments_ = moments_of_products(a_of_rows(), b_, questions.share, questions.scratch_bytes);
  }
  return moments_;
}

const Tensor& Positions::gram(int64_t scratch_bytes) const {
  if (!gram_.defined()) gram_ = compute_gram(scratch_bytes);
  return gram_;
}

const Tensor& Lines::sum() const {
  if (!sum_.defined()) {
    sum_ = at::zeros(shape_, options())
               .index_add_(0, indices_.reshape({-1}), b_.reshape({-1, shape_[1]}));
  }
  return sum_;
}

const Lines::Distinct& Lines::distinct() const {
  if (distinct_.values.defined()) return distinct_;
  const int64_t V = shape_[0], J = shape_[1];
  const Tensor sample = at::arange(N(), indices_.options()).view({-1, 1});
  const Tensor keys = (sample * V + indices_).reshape({-1});
  auto [unique, inverse, counts] = at::_unique2(keys, /*sorted=*/true, /*return_inverse=*/true);
  Tensor values = at::zeros({unique.size(0), J}, options());
  values.index_add_(0, inverse, b_.reshape({-1, J}));
  distinct_ = {unique.div(V, "floor"), unique.remainder(V), values};
  return distinct_;
}

const Lines::Centred& Lines::centred() const {
  if (centred_.mean.defined()) return centred_;
  const Distinct& pairs = distinct();
  centred_.mean = sum().div(static_cast<double>(N()));
  centred_.centre = centred_.mean.index_select(0, pairs.line);
  centred_.differences = pairs.values - centred_.centre;
  centred_.squares = centred_.differences.square();
  centred_.lengths = centred_.mean.to(at::kDouble).square().sum(1);
  centred_.here = centred_.lengths.index_select(0, pairs.line);
  return centred_;
}

Tensor Lines::by_sample(const Tensor& values) const {
  return at::zeros({N()}, values.options()).index_add_(0, distinct().sample, values);
}

const Tensor& Multiples::centred() const {
  if (!centred_.defined()) {
    const Tensor c = c_.to(at::kDouble);
    centred_ = c - c.mean(0, /*keepdim=*/true);
  }
  return centred_;
}

const Tensor& Multiples::products() const {
  if (!products_.defined()) products_ = at::mm(v_, v_.t());
  return products_;
}

Tensor Multiples::squares_of(const Tensor& multiples) const {
  const Tensor pairs = at::mm(multiples.t(), multiples).to(v_.scalar_type());
  return pairs.mm(v_).mul(v_).sum(0).view(shape_);
}

Tensor SumWithShared::dots_in_double() const { return of_x.dots.to(at::kDouble); }

const Tensor& SumWithShared::gram() {
  if (!gram_.defined()) {
    const Tensor cross = at::mm(of_x.dots, multiples_.c().t());
    gram_ = of_x.gram + of_multiples.gram + cross + cross.t();
  }
  return gram_;
}

Tensor SumWithShared::squares_between(const Tensor& multiples) const {
  Shape sizes = multiples_.shape();
  sizes.insert(sizes.begin(), multiples_.v().size(0));
  const Tensor v = multiples_.v().view(sizes);
  return x_.combine(multiples.t().to(v.scalar_type())).mul(v).sum(0).mul(2);
}

}  // namespace flightdeck
