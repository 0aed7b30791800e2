// SPDX-License-Identifier: MIT
#include "spectra/products.h"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

namespace flightdeck {

void check_operator(const char* caller, const LinearOperator& op) {
  TORCH_CHECK_VALUE(op.dim() > 0,
                    caller,
                    ": the operator acts on vectors of ",
                    op.dim(),
                    " entries but at least 1 is needed; pass an operator with entries");
  const at::ScalarType type = op.options().dtype().toScalarType();
  TORCH_CHECK_VALUE(type == at::kFloat || type == at::kDouble,
                    caller,
                    ": the operator's vectors are ",
                    type,
                    " but only float32 and float64 carry the orthogonalisation; let the operator"
                    " convert inside multiply");
}

Tensor product(const LinearOperator& op, const Tensor& vectors) {
  const Tensor result = op.multiply(vectors);
  TORCH_CHECK_VALUE(result.defined() && result.sizes() == vectors.sizes(),
                    "operator: multiply returned ",
                    result.defined() ? "shape " : "an undefined tensor",
                    result.defined() ? result.sizes() : at::IntArrayRef(),
                    " for vectors of shape ",
                    vectors.sizes(),
                    "; return one line per vector");
  TORCH_CHECK_VALUE(
      result.scalar_type() == vectors.scalar_type() && result.device() == vectors.device(),
      "operator: multiply returned ",
      result.scalar_type(),
      " on ",
      result.device(),
      " for vectors of ",
      vectors.scalar_type(),
      " on ",
      vectors.device(),
      "; return the type and device that options() names");
  return result.detach();
}

Tensor small(const Tensor& tensor) {
  return tensor.to(at::TensorOptions().dtype(at::kDouble).device(at::kCPU));
}

Tensor norms_of(const Tensor& lines) { return small(lines.norm(2, 1)); }

bool is_long(const Tensor& vectors) {
  constexpr int64_t kLong = int64_t{1} << 16;
  return vectors.is_cpu() && vectors.size(1) >= kLong;
}

Tensor scalar_products(const Tensor& vectors, const Tensor& lines) {
  if (!is_long(vectors)) return vectors.mm(lines.t());
  std::vector<Tensor> products;
  for (const Tensor& vector : vectors.unbind(0)) products.push_back(lines.mv(vector));
  return at::stack(products);
}

bool all_finite(const Tensor& tensor) { return tensor.isfinite().all().item<bool>(); }

double precision_of(at::ScalarType type) {
  return type == at::kDouble ? std::numeric_limits<double>::epsilon()
                             : std::numeric_limits<float>::epsilon();
}

RandomLines::RandomLines(const LinearOperator& op, uint64_t seed)
    : dim_(op.dim()), options_(op.options()), generator_(at::detail::createCPUGenerator(seed)) {}

Tensor RandomLines::normal(int64_t count) {
  return at::randn({count, dim_}, generator_, at::TensorOptions().dtype(at::kFloat)).to(options_);
}

Tensor RandomLines::signs(int64_t count) {
  const at::TensorOptions type = at::TensorOptions().dtype(at::kFloat);
  return at::randint(0, 2, {count, dim_}, generator_, type).mul_(2).sub_(1).to(options_);
}

Tensor RandomLines::spheric(int64_t count) {
  const Tensor lines = normal(count);
  return lines.mul(
      lines.norm(2, 1, /*keepdim=*/true).reciprocal_().mul_(std::sqrt(static_cast<double>(dim_))));
}

}  // namespace flightdeck
