// SPDX-License-Identifier: MIT
#include "curvature/loss_hessians.h"

#include <cmath>

#include <ATen/ATen.h>

#include "curvature/eigh.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

// Draws on the CPU, so that every device sees the same numbers and no device generator moves.
Tensor normal_like(const Tensor& like, int64_t M, at::Generator& generator) {
  const auto options = like.options().device(at::kCPU);
  return at::randn(with_lead(M, like.sizes().vec()), generator, options).to(like.device());
}

// Returns the index of each entry's position among those of its sample, in the outputs' shape with
// size 1 in `dim`.
Tensor position_numbers(const Shape& outputs, int64_t dim, const Layout& layout, int64_t T) {
  Shape reduced = outputs;
  reduced[dim] = 1;
  const Tensor lines = at::arange(T, at::kLong).view({1, 1, T}).expand({1, layout.N, T});
  return from_per_sample(lines, reduced, layout).squeeze(0);
}

class SoftmaxHessian final : public LossHessian {
 public:
  SoftmaxHessian(Tensor p, Tensor weight, int64_t dim, const Layout& layout)
      : p_(std::move(p)), root_weight_(weight.sqrt()), dim_(dim), layout_(layout) {
    classes_ = p_.size(dim_);
    positions_ = p_.numel() / std::max<int64_t>(1, layout_.N * classes_);
  }

  Tensor multiply(const Tensor& tangents) const override {
    const Tensor centred = tangents - (tangents * p_).sum(dim_ + 1, true);
    return centred * p_ * root_weight_.square();
  }

  int64_t columns() const override { return positions_ * (classes_ - 1); }

  // With q = sqrt(p), H = diag(q) (I - q qᵀ) diag(q); the first C - 1 columns of the Householder
  // reflection that maps q to the last unit vector span the range of the projection. Column j is
  //   q_i (δ_ij - q_i q_j / (1 + q_C)) for i < C, and -q_C q_j for i = C.
  Tensor factor(int64_t begin, int64_t end) const override {
    const Tensor q = p_.sqrt().movedim(dim_, -1);  // [..., C]
    const Tensor last = q.slice(-1, classes_ - 1);
    Tensor base = p_.movedim(dim_, -1).div(last + 1).neg();
    base.slice(-1, classes_ - 1).copy_(last.neg());
    const Tensor numbers =
        positions_ > 1
            ? position_numbers(p_.sizes().vec(), dim_, layout_, positions_).to(p_.device())
            : Tensor();
    std::vector<Tensor> stack;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t j = k % (classes_ - 1), t = k / (classes_ - 1);
      const Tensor q_j = q.slice(-1, j, j + 1);
      Tensor column = base * q_j;
      column.slice(-1, j, j + 1).add_(q_j);
      column = column.movedim(-1, dim_) * root_weight_;
      if (numbers.defined()) column = column * (numbers == t).to(column.scalar_type());
      stack.push_back(column);
    }
    return at::stack(stack);
  }

  Tensor sample(int64_t M, at::Generator& generator) const override {
    const Tensor lines = p_.movedim(dim_, -1);
    Tensor flat = lines.reshape({-1, classes_}).to(at::kCPU, at::kDouble);
    flat = at::where(flat.isfinite(), flat, at::ones_like(flat));  // NaN returns below
    const Tensor labels =
        at::multinomial(flat, M, /*replacement=*/true, generator).t().to(p_.device());  // [M, P]
    Shape sizes = with_lead(M, lines.sizes().vec());
    const Tensor hits = at::zeros({M, flat.size(0), classes_}, p_.options())
                            .scatter_(2, labels.unsqueeze(2), 1)
                            .view(sizes);
    const Tensor gradients = (lines - hits).movedim(-1, dim_ + 1);
    return gradients * root_weight_ / std::sqrt(static_cast<double>(M));
  }

 private:
  Tensor p_, root_weight_;
  int64_t dim_;
  Layout layout_;
  int64_t classes_, positions_;
};

class DiagonalHessian final : public LossHessian {
 public:
  DiagonalHessian(Tensor h, Tensor p, const Layout& layout)
      : h_(std::move(h)), p_(std::move(p)), layout_(layout) {}

  Tensor multiply(const Tensor& tangents) const override { return tangents * h_; }

  int64_t columns() const override { return h_.numel() / std::max<int64_t>(1, layout_.N); }

  Tensor factor(int64_t begin, int64_t end) const override {
    const Tensor roots = per_sample(h_.sqrt().unsqueeze(0), layout_);  // [1, N, m]
    const auto options = h_.options().dtype(at::kLong);
    const Tensor units =
        at::arange(roots.size(2), options).eq(at::arange(begin, end, options).unsqueeze(1));
    const Tensor lines = roots * units.unsqueeze(1).to(h_.scalar_type());
    return from_per_sample(lines, h_.sizes().vec(), layout_);
  }

  Tensor sample(int64_t M, at::Generator& generator) const override {
    const double share = 1 / std::sqrt(static_cast<double>(M));
    if (!p_.defined()) return normal_like(h_, M, generator) * h_.sqrt() * share;
    const Tensor probabilities = p_.to(at::kCPU).expand(with_lead(M, p_.sizes().vec()));
    const Tensor labels = at::bernoulli(probabilities, generator).to(p_.device());
    // With h = c p (1 - p) it is the would-be gradient of a loss of weight sqrt(c).
    const Tensor variance = p_ * (1 - p_);
    const Tensor weight = at::where(variance > 0, h_ / variance, at::zeros_like(h_)).sqrt();
    return (p_ - labels) * weight * share;
  }

 private:
  Tensor h_, p_;
  Layout layout_;
};

class DenseHessian final : public LossHessian {
 public:
  DenseHessian(Tensor root, Shape outputs, const Layout& layout)
      : root_(std::move(root)), outputs_(std::move(outputs)), layout_(layout) {}

  Tensor multiply(const Tensor& tangents) const override {
    const Tensor lines = per_sample(tangents, layout_).unsqueeze(3);  // [V, N, m, 1]
    const Tensor product = at::matmul(root_, at::matmul(root_.transpose(1, 2), lines));
    return from_per_sample(product.squeeze(3), outputs_, layout_);
  }

  int64_t columns() const override { return root_.size(2); }

  Tensor factor(int64_t begin, int64_t end) const override {
    return from_per_sample(root_.slice(2, begin, end).permute({2, 0, 1}), outputs_, layout_);
  }

  Tensor sample(int64_t M, at::Generator& generator) const override {
    const Tensor noise =
        normal_like(root_.select(1, 0), M, generator).unsqueeze(3);  // [M, N, m, 1]
    const Tensor lines = at::matmul(root_, noise).squeeze(3);
    return from_per_sample(lines, outputs_, layout_) / std::sqrt(static_cast<double>(M));
  }

 private:
  Tensor root_;  // [N, m, m], root rootᵀ = H
  Shape outputs_;
  Layout layout_;
};

class ComplexOutputsHessian final : public LossHessian {
 public:
  explicit ComplexOutputsHessian(std::shared_ptr<const LossHessian> of_entries)
      : of_entries_(std::move(of_entries)) {}

  Tensor multiply(const Tensor& tangents) const override {
    return from_real_entries(of_entries_->multiply(real_entries(tangents)), true);
  }
  int64_t columns() const override { return of_entries_->columns(); }
  Tensor factor(int64_t begin, int64_t end) const override {
    return from_real_entries(of_entries_->factor(begin, end), true);
  }
  Tensor sample(int64_t M, at::Generator& generator) const override {
    return from_real_entries(of_entries_->sample(M, generator), true);
  }

 private:
  std::shared_ptr<const LossHessian> of_entries_;
};

}  // namespace

Tensor per_sample(const Tensor& stack, const Layout& layout) {
  const Tensor split = samples_first(stack, layout.at_dim(layout.dim + 1));
  // [N, L, before..., outer, inner, after...]
  return split.movedim(1, 0).reshape({stack.size(0), layout.N, -1});
}

Tensor from_per_sample(const Tensor& lines, const Shape& outputs, const Layout& layout) {
  Shape sizes{lines.size(0), layout.N};
  for (size_t d = 0; d < outputs.size(); ++d) {
    if (static_cast<int64_t>(d) == layout.dim) {
      sizes.insert(sizes.end(), {layout.outer, layout.inner});
    } else {
      sizes.push_back(outputs[d]);
    }
  }
  // The samples go back between outer and inner.
  const Tensor split = lines.reshape(sizes).movedim(1, layout.dim + 2);
  return split.reshape(with_lead(lines.size(0), outputs));
}

std::shared_ptr<const LossHessian> softmax_hessian(Tensor p,
                                                   Tensor weight,
                                                   int64_t dim,
                                                   const Layout& layout) {
  return std::make_shared<SoftmaxHessian>(std::move(p), std::move(weight), dim, layout);
}

std::shared_ptr<const LossHessian> diagonal_hessian(Tensor h, Tensor p, const Layout& layout) {
  return std::make_shared<DiagonalHessian>(std::move(h), std::move(p), layout);
}

HessianParts dense_hessian(const Tensor& H,
                           const Shape& outputs,
                           const Layout& layout,
                           std::vector<std::string>& remarks) {
  const auto [values, vectors] = eigh(H);
  const Tensor largest = values.abs().amax(1, true);
  const Tensor is_negative = values < largest.mul(-1e-6);
  const int64_t negative = is_negative.any(1).sum().item<int64_t>();
  const auto part = [&, &v = values, &q = vectors](double sign) {
    const Tensor root = q * v.mul(sign).clamp_min(0).sqrt().unsqueeze(1);
    return std::make_shared<DenseHessian>(root, outputs, layout);
  };
  HessianParts parts{part(1), nullptr};
  if (negative > 0) {
    parts.concave = part(-1);
    remarks.push_back("the loss is not convex in the outputs for " + std::to_string(negative) +
                      " of " + std::to_string(H.size(0)) + " samples (smallest eigenvalue " +
                      std::to_string(values.min().item<double>()) +
                      "); the GGN uses the positive part of its Hessian");
  }
  return parts;
}

HessianParts of_complex_outputs(const HessianParts& parts) {
  const auto wrapped = [](const std::shared_ptr<const LossHessian>& part) {
    return part ? std::make_shared<ComplexOutputsHessian>(part) : nullptr;
  };
  return {wrapped(parts.convex), wrapped(parts.concave)};
}

}  // namespace flightdeck
