// SPDX-License-Identifier: MIT
#include "rows/along_mean.h"

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "rows/gpu_tables.h"
#include "rows/outer.h"
#include "rows/rows.h"

namespace flightdeck {
namespace {

// Two matrices are compared by their products with so many random vectors. A difference that all of
// them miss by a factor of a thousand has a probability of about 1e-12.
constexpr int64_t kProbes = 4;

// So many lines of a parameter say how large its entries are.
constexpr int64_t kLinesSeen = 16;

// Beyond rounding of the parameters the factors themselves are rounded.
constexpr double kFactorRounding = 1e-5;

const OuterForm* single_position(const Rows& rows) {
  if (rows.terms().size() != 1) return nullptr;
  const Rows::Term& term = rows.terms()[0];
  const auto* outer = dynamic_cast<const OuterForm*>(term.form.get());
  const bool is_placed = term.placement.is_identity() || term.placement.is_transposition();
  if (outer == nullptr || !is_placed) return nullptr;
  const std::vector<Tensor> factors = outer->factors();
  const bool is_single = factors[0].size(1) == 1 && factors[0].size(0) == outer->N();
  return is_single && factors[0].is_cpu() ? outer : nullptr;
}

uint32_t version_of(const Tensor& factor) {
  return factor.is_inference() ? 0 : static_cast<uint32_t>(factor._version());
}

// Returns random vectors [I, kProbes]; entries are continuous, so that no structure of a difference
// cancels.
Tensor probes(int64_t I, const at::TensorOptions& options) {
  at::Generator generator = at::detail::createCPUGenerator(/*seed=*/I);
  return at::empty({I, kProbes}, options).uniform_(-1, 1, generator);
}

// Estimates the sum of squares of all entries of a matrix [J, I] from some lines of it.
double squares_seen(const Tensor& matrix) {
  const int64_t next = std::max<int64_t>(1, matrix.size(0) / kLinesSeen);
  const Tensor lines = matrix.slice(0, 0, matrix.size(0), next);
  const double seen = lines.to(at::kDouble).square().sum().item<double>();
  return seen * double(matrix.size(0)) / double(lines.size(0));
}

}  // namespace

bool pays_along_mean(const Rows& rows, const Tensor& direction) {
  const OuterForm* outer = single_position(rows);
  if (outer == nullptr || runs_behind(direction)) return false;
  if (direction.scalar_type() != c10::typeMetaToScalarType(outer->options().dtype())) return false;
  const double I = double(outer->shape()[0]), J = double(outer->shape()[1]);
  return double(outer->N()) * (I + J) < I * J;
}

AlongMean find_along_mean(const Rows& rows, const Tensor& direction, const Tensor& parameter) {
  const OuterForm& outer = *single_position(rows);
  const Placement& placement = rows.terms()[0].placement;
  const Tensor placed = placement.from_parameter(direction, /*lead=*/0).t();  // [J, I]
  std::vector<Tensor> factors = outer.factors();
  const Tensor a = factors[0].squeeze(1), b = factors[1].squeeze(1);
  const Tensor vectors = probes(a.size(1), a.options());
  const Tensor of_mean = at::mm(b.t(), at::mm(a, vectors)).to(at::kDouble).div_(double(a.size(0)));
  const Tensor of_direction = at::mm(placed, vectors).to(at::kDouble);
  const double length = of_mean.square().sum().item<double>();
  const double multiple = of_mean.mul(of_direction).sum().item<double>() / length;
  const double left = (of_direction - of_mean * multiple).square().sum().item<double>();
  // A rounded entry is off by half the last digit; a vector's squared entries are 1/3 on average.
  const double epsilon = machine_epsilon(parameter.scalar_type());
  const double rounding = epsilon * epsilon * squares_seen(parameter) * double(kProbes) / 3 +
                          kFactorRounding * kFactorRounding * multiple * multiple * length;
  if (!(left <= rounding) || !std::isfinite(multiple)) return {};
  return {a, b, multiple, version_of(a), version_of(b)};
}

Tensor dots_along_mean(const Tensor& a, const Tensor& b, const AlongMean& direction) {
  TORCH_CHECK(version_of(direction.a) == direction.version_a &&
                  version_of(direction.b) == direction.version_b,
              "slopes along the last update: an input or activation of the last step was modified "
              "in place before this step's backward pass ended; copy it first");
  const Tensor products = at::mm(a, direction.a.t());
  products.mul_(at::mm(b, direction.b.t()));
  const double share = direction.multiple / double(direction.a.size(0));
  return products.sum({1}, /*keepdim=*/false, at::kDouble).mul_(share).to(a.scalar_type());
}

}  // namespace flightdeck
