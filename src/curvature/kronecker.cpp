// SPDX-License-Identifier: MIT
// Products with Kronecker factors and with their damped inverses. Vectors are taken as matrices
// [J, I], so that the Kronecker product itself is never formed.
#include "flightdeck/kronecker.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <ATen/ATen.h>

#include "curvature/eigh.h"

namespace flightdeck {
namespace {

using MatrixMap = std::function<Tensor(const Tensor&)>;  // [V, J, I] -> [V, J, I]

// Half precision has neither Cholesky nor eigenvectors.
at::ScalarType working_type(const Tensor& factor) {
  const at::ScalarType type = factor.scalar_type();
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

// Makes a map of matrices an operator on their flattened entries.
class FlattenedMap : public LinearOperator {
 public:
  FlattenedMap(const KroneckerFactors& factors, MatrixMap map)
      : J_(factors.output.size(0)),
        I_(factors.input.defined() ? factors.input.size(0) : 1),
        options_(factors.output.options()),
        working_type_(working_type(factors.output)),
        map_(std::move(map)) {}

  int64_t dim() const override { return J_ * I_; }
  at::TensorOptions options() const override { return options_; }

  Tensor multiply(const Tensor& vectors) const override {
    const at::NoGradGuard no_grad;
    check(vectors);
    const Tensor matrices = vectors.to(working_type_).reshape({vectors.size(0), J_, I_});
    return map_(matrices).reshape({-1, dim()}).to(vectors.scalar_type());
  }

 private:
  void check(const Tensor& vectors) const {
    TORCH_CHECK(vectors.dim() == 2 && vectors.size(1) == dim(),
                "kronecker operator: vectors have shape ",
                vectors.sizes(),
                " but the factors [",
                J_,
                ", ",
                J_,
                "] and [",
                I_,
                ", ",
                I_,
                "] need [V, ",
                dim(),
                "]; flatten the parameter and put one vector on each line");
    const at::ScalarType type = c10::typeMetaToScalarType(options_.dtype());
    TORCH_CHECK(vectors.scalar_type() == type && vectors.device() == options_.device(),
                "kronecker operator: vectors are ",
                vectors.scalar_type(),
                " on ",
                vectors.device(),
                " but the factors are ",
                type,
                " on ",
                options_.device(),
                "; convert the vectors with .to(operator.options())");
  }

  int64_t J_, I_;
  at::TensorOptions options_;
  at::ScalarType working_type_;
  MatrixMap map_;
};

// ---- checks -------------------------------------------------------------------------------------

void check_square(const char* caller, const char* name, const Tensor& factor) {
  TORCH_CHECK(factor.dim() == 2 && factor.size(0) == factor.size(1),
              caller,
              ": the ",
              name,
              " factor has shape ",
              factor.sizes(),
              " but must be a square matrix; pass the factors as flightdeck::curvature returned "
              "them");
}

void check_alike(const char* caller, const char* name, const Tensor& tensor, const Tensor& output) {
  TORCH_CHECK(tensor.scalar_type() == output.scalar_type() && tensor.device() == output.device(),
              caller,
              ": the ",
              name,
              " is ",
              tensor.scalar_type(),
              " on ",
              tensor.device(),
              " but the output factor is ",
              output.scalar_type(),
              " on ",
              output.device(),
              "; convert them alike");
}

void check_basis(const char* caller, const char* name, const Tensor& basis, const Tensor& factor) {
  TORCH_CHECK(basis.defined() && basis.sizes() == factor.sizes(),
              caller,
              ": corrected eigenvalues come with ",
              basis.defined() ? c10::str("the ", name, " basis of shape ", basis.sizes())
                              : c10::str("no ", name, " basis"),
              " where the factor has shape ",
              factor.sizes(),
              "; pass all five tensors as flightdeck::curvature returned them");
}

void check_corrected(const char* caller, const KroneckerFactors& factors) {
  check_basis(caller, "output", factors.output_basis, factors.output);
  check_alike(caller, "output basis", factors.output_basis, factors.output);
  int64_t entries = factors.output.size(0);
  if (factors.input.defined()) {
    check_basis(caller, "input", factors.input_basis, factors.input);
    check_alike(caller, "input basis", factors.input_basis, factors.output);
    entries *= factors.input.size(0);
  }
  check_alike(caller, "tensor of corrected eigenvalues", factors.corrected, factors.output);
  TORCH_CHECK(factors.corrected.numel() == entries,
              caller,
              ": there are ",
              factors.corrected.numel(),
              " corrected eigenvalues but the factors have ",
              entries,
              "; pass all five tensors as flightdeck::curvature returned them");
}

void check_factors(const char* caller, const KroneckerFactors& factors) {
  TORCH_CHECK(factors.defined(),
              caller,
              ": there is no output factor; ask flightdeck::curvature for kKfac, kKflr or kKfra, "
              "and leave out parameters without Kronecker structure (defined() is false)");
  check_square(caller, "output", factors.output);
  if (factors.input.defined()) {
    check_square(caller, "input", factors.input);
    check_alike(caller, "input factor", factors.input, factors.output);
  }
  if (factors.is_corrected()) check_corrected(caller, factors);
}

// ---- spectra of the factors ---------------------------------------------------------------------

double epsilon(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    case at::kHalf:
      return 0x1p-10;
    case at::kBFloat16:
      return 0x1p-7;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

// Returns what rounding leaves of an eigenvalue zero, as a fraction of the largest one.
double rounding(const Tensor& factor) {
  return epsilon(factor.scalar_type()) * static_cast<double>(factor.size(0));
}

double largest_magnitude(const Tensor& values) {
  return values.numel() == 0 ? 0 : values.abs().max().item<double>();
}

bool are_all_finite(const Tensor& tensor) { return at::isfinite(tensor).all().item<bool>(); }

// Holds a matrix in the basis of eigenvectors of both factors.
struct Spectrum {
  Tensor output_basis, input_basis;  // [J, J], [I, I]; the latter undefined for a bias
  Tensor values;                     // [J, I], or [J, 1] for a bias
};

struct Eigen {
  Tensor values, vectors;
};

// Rounding leaves eigenvalues zero with either sign. The negative ones are set to zero. Small
// positive ones may be real: they are kept, unless there is no damping to make up for them.
Eigen eigen(const Tensor& factor, double damping) {
  const auto [values, vectors] = eigh(factor.to(working_type(factor)));
  const double limit = rounding(factor) * largest_magnitude(values);
  Tensor is_zero = values.abs().le(limit);
  if (damping > 0) is_zero = is_zero.logical_and(values.lt(0));
  return {values.masked_fill(is_zero, 0), vectors};
}

Spectrum corrected_spectrum(const KroneckerFactors& factors) {
  const at::ScalarType type = working_type(factors.output);
  Spectrum spectrum;
  spectrum.output_basis = factors.output_basis.to(type);
  if (factors.input.defined()) spectrum.input_basis = factors.input_basis.to(type);
  spectrum.values = factors.corrected.to(type).reshape({factors.output.size(0), -1});
  return spectrum;
}

Spectrum product_spectrum(const KroneckerFactors& factors, double damping) {
  const Eigen output = eigen(factors.output, damping);
  Spectrum spectrum{output.vectors, Tensor(), output.values.unsqueeze(1)};
  if (factors.input.defined()) {
    const Eigen input = eigen(factors.input, damping);
    spectrum.input_basis = input.vectors;
    spectrum.values = spectrum.values * input.values.unsqueeze(0);
  }
  return spectrum;
}

MatrixMap spectral_map(const Spectrum& spectrum) {
  return [spectrum](const Tensor& matrices) {
    const Tensor& U = spectrum.output_basis;
    const Tensor& W = spectrum.input_basis;
    Tensor turned = at::matmul(U.t(), matrices);
    if (W.defined()) turned = at::matmul(turned, W);
    turned = at::matmul(U, turned * spectrum.values);
    return W.defined() ? at::matmul(turned, W.t()) : turned;
  };
}

// ---- inverses -----------------------------------------------------------------------------------

MatrixMap scaling(double scale) {
  return [scale](const Tensor& matrices) { return matrices * scale; };
}

// Returns what counts as zero among the eigenvalues without damping. Corrected ones are sums of
// squares, so rounding enters squared; those of the factors have been set to zero already.
double zero_limit(const KroneckerFactors& factors) {
  if (!factors.is_corrected()) return 0;
  const double relative = epsilon(factors.corrected.scalar_type());
  return relative * relative * largest_magnitude(factors.corrected);
}

MatrixMap exact_inverse(const KroneckerFactors& factors, double damping) {
  Spectrum spectrum =
      factors.is_corrected() ? corrected_spectrum(factors) : product_spectrum(factors, damping);
  const double limit = damping > 0 ? 0 : zero_limit(factors);
  spectrum.values = spectrum.values + damping;
  if (spectrum.values.numel() > 0) {
    const double smallest = spectrum.values.abs().min().item<double>();
    // Not-a-number passes: it is a value for the reader of the result.
    TORCH_CHECK_VALUE(!(smallest <= limit),
                      "kronecker inverse: with damping ",
                      damping,
                      " the smallest eigenvalue is ",
                      smallest,
                      " where the largest is ",
                      largest_magnitude(spectrum.values),
                      ": the matrix is singular; pass a larger damping, for instance 1e-3 times "
                      "the mean eigenvalue");
  }
  spectrum.values = spectrum.values.reciprocal();
  return spectral_map(spectrum);
}

// Holds one factor of the trace split with its share of the damping.
struct DampedFactor {
  const char* name;
  Tensor matrix;
  double trace;
  double shift = 0;

  DampedFactor(const char* called, const Tensor& factor)
      : name(called), matrix(factor), trace(factor.diagonal().sum(at::kDouble).item<double>()) {}

  double mean_eigenvalue() const { return trace / static_cast<double>(matrix.size(0)); }
  bool is_zero() const { return largest_magnitude(matrix) == 0; }
};

void check_trace(const DampedFactor& factor) {
  TORCH_CHECK_VALUE(factor.trace > 0,
                    "kronecker inverse: the ",
                    factor.name,
                    " factor has trace ",
                    factor.trace,
                    " but the trace split needs positive semi-definite factors; use "
                    "DampingSplit::kExact");
}

using Solve = std::function<Tensor(const Tensor&)>;  // [K, M] -> (factor + shift)^-1 [K, M]

// Solves with eigenpairs, for where the shift is lost in the rounding of the factor.
Solve spectral_solve(const DampedFactor& factor) {
  const Eigen pairs = eigen(factor.matrix, factor.shift);
  const double smallest = pairs.values.min().item<double>();
  TORCH_CHECK_VALUE(smallest >= 0,
                    "kronecker inverse: the ",
                    factor.name,
                    " factor has eigenvalues from ",
                    smallest,
                    " to ",
                    pairs.values.max().item<double>(),
                    " but the trace split needs positive semi-definite factors; use "
                    "DampingSplit::kExact");
  const Tensor inverse = (pairs.values + factor.shift).reciprocal().unsqueeze(1);
  const Tensor vectors = pairs.vectors;
  return [vectors, inverse](const Tensor& right) {
    return at::matmul(vectors, inverse * at::matmul(vectors.t(), right));
  };
}

Solve solve_with(const DampedFactor& factor) {
  Tensor shifted =
      factor.matrix.to(working_type(factor.matrix), /*non_blocking=*/false, /*copy=*/true);
  shifted.diagonal().add_(factor.shift);
  const auto result = at::linalg_cholesky_ex(shifted);
  if (std::get<1>(result).item<int64_t>() != 0) return spectral_solve(factor);
  const Tensor lower = std::get<0>(result);
  return [lower](const Tensor& right) { return at::cholesky_solve(right, lower); };
}

// Follows equations (B.21) and (B.22) of Dangel's thesis (2023).
MatrixMap trace_split_inverse(const KroneckerFactors& factors, double damping) {
  DampedFactor B("output", factors.output);
  DampedFactor A("input", factors.input);
  if (A.is_zero() || B.is_zero()) return scaling(1 / damping);
  check_trace(A);
  check_trace(B);

  const double pi = std::sqrt(A.mean_eigenvalue() / B.mean_eigenvalue());
  A.shift = pi * std::sqrt(damping);
  B.shift = std::sqrt(damping) / pi;
  const Solve solve_A = solve_with(A);
  const Solve solve_B = solve_with(B);
  return [solve_A, solve_B](const Tensor& matrices) {
    const int64_t V = matrices.size(0), J = matrices.size(1), I = matrices.size(2);
    // The vectors' matrices stand side by side, so that each factor is solved with once.
    const Tensor left = solve_B(matrices.transpose(0, 1).reshape({J, V * I}));
    const Tensor right = solve_A(left.reshape({J, V, I}).permute({2, 1, 0}).reshape({I, V * J}));
    return right.reshape({I, V, J}).permute({1, 2, 0});
  };
}

// Inverts the one factor of a bias, which takes all of the damping.
MatrixMap output_inverse(const KroneckerFactors& factors, double damping) {
  DampedFactor B("output", factors.output);
  if (B.is_zero()) return scaling(1 / damping);
  check_trace(B);
  B.shift = damping;
  const Solve solve_B = solve_with(B);
  return [solve_B](const Tensor& matrices) {
    return solve_B(matrices.squeeze(2).t()).t().unsqueeze(2);
  };
}

MatrixMap inverse_map(const KroneckerFactors& factors, double damping, DampingSplit split) {
  const bool are_finite =
      are_all_finite(factors.output) && (!factors.input.defined() || are_all_finite(factors.input));
  // The decompositions may throw or not return; the reader of the result should see the numbers.
  if (!are_finite) return scaling(std::numeric_limits<double>::quiet_NaN());
  // Without damping there is nothing to split, and only eigenvalues tell a singular factor safely
  // from a regular one.
  if (factors.is_corrected() || split == DampingSplit::kExact || damping == 0) {
    return exact_inverse(factors, damping);
  }
  return factors.input.defined() ? trace_split_inverse(factors, damping)
                                 : output_inverse(factors, damping);
}

}  // namespace

std::shared_ptr<const LinearOperator> kronecker_operator(const KroneckerFactors& factors) {
  const at::NoGradGuard no_grad;
  check_factors("kronecker operator", factors);
  if (factors.is_corrected()) {
    return std::make_shared<FlattenedMap>(factors, spectral_map(corrected_spectrum(factors)));
  }
  const at::ScalarType type = working_type(factors.output);
  const Tensor B = factors.output.detach().to(type);
  const Tensor A = factors.input.defined() ? factors.input.detach().to(type) : Tensor();
  return std::make_shared<FlattenedMap>(factors, [A, B](const Tensor& matrices) {
    const Tensor left = at::matmul(B, matrices);
    return A.defined() ? at::matmul(left, A) : left;
  });
}

std::shared_ptr<const LinearOperator> kronecker_inverse(const KroneckerFactors& factors,
                                                        double damping,
                                                        DampingSplit split) {
  const at::NoGradGuard no_grad;
  check_factors("kronecker inverse", factors);
  TORCH_CHECK_VALUE(damping >= 0 && std::isfinite(damping),
                    "kronecker inverse: damping is ",
                    damping,
                    " but must be finite and not negative; pass for instance 1e-3");
  return std::make_shared<FlattenedMap>(factors, inverse_map(factors, damping, split));
}

}  // namespace flightdeck
