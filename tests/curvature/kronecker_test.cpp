// SPDX-License-Identifier: MIT
// Kronecker operators and their inverses against the matrices written down with at::kron.
#include "flightdeck/kronecker.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tensors.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kJ = 3, kI = 4;
constexpr double kDamping = 0.3;
// Products and solves of matrices of a dozen lines with condition numbers below a thousand.
constexpr double kDouble = 1e-11;
constexpr double kFloat = 1e-4;
// Eight bits of significand in the vectors that come in and go out.
constexpr double kBFloat16 = 2e-2;

Tensor identity(int64_t size) { return torch::eye(size, doubles()); }

// Positive semi-definite, of the given rank.
Tensor covariance(int64_t size, int64_t rank) {
  const Tensor rows = random({rank, size});
  return rows.t().mm(rows) / static_cast<double>(rank);
}

// Far from symmetric in its two factors, so that a swap shows: traces and sizes differ.
KroneckerFactors weight_factors() {
  KroneckerFactors factors;
  factors.output = 0.2 * covariance(kJ, 7);
  factors.input = 5.0 * covariance(kI, 9);
  return factors;
}

KroneckerFactors bias_factors() {
  KroneckerFactors factors;
  factors.output = covariance(kJ, 7);
  return factors;
}

KroneckerFactors corrected(KroneckerFactors factors) {
  factors.output_basis = std::get<1>(at::linalg_eigh(factors.output));
  if (factors.input.defined()) {
    factors.input_basis = std::get<1>(at::linalg_eigh(factors.input));
    factors.corrected = random({kJ, kI}).square() + 0.1;
  } else {
    factors.corrected = random({kJ}).square() + 0.1;
  }
  return factors;
}

// The matrix an operator stands for, from its products with unit vectors.
Tensor written_down(const LinearOperator& op) {
  return op.multiply(torch::eye(op.dim(), op.options())).t();
}

Tensor dense(const KroneckerFactors& factors) {
  if (!factors.is_corrected()) {
    return factors.input.defined() ? at::kron(factors.output, factors.input) : factors.output;
  }
  const Tensor basis = factors.input.defined() ? at::kron(factors.output_basis, factors.input_basis)
                                               : factors.output_basis;
  return basis.mm(torch::diag(factors.corrected.flatten())).mm(basis.t());
}

Tensor dense_inverse(const KroneckerFactors& factors, double damping) {
  const Tensor matrix = dense(factors);
  return torch::inverse(matrix + damping * identity(matrix.size(0)));
}

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance = kDouble) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  const double error = (actual.to(at::kDouble) - expected).abs().max().item<double>();
  EXPECT_LE(error, tolerance * expected.abs().max().item<double>());
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_mentions(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(message.find(word), std::string::npos) << "\"" << word << "\" is not in: " << message;
  }
}

class Kronecker : public SeededTest {};
class KroneckerInverse : public SeededTest {};

// ---- products -----------------------------------------------------------------------------------

TEST_F(Kronecker, EqualsTheProductOfItsFactors) {
  const KroneckerFactors factors = weight_factors();
  const auto op = kronecker_operator(factors);
  EXPECT_EQ(op->dim(), kJ * kI);
  expect_close(written_down(*op), dense(factors));
}

TEST_F(Kronecker, OfABiasIsTheOutputFactor) {
  const KroneckerFactors factors = bias_factors();
  const auto op = kronecker_operator(factors);
  EXPECT_EQ(op->dim(), kJ);
  expect_close(written_down(*op), factors.output);
}

TEST_F(Kronecker, UsesTheCorrectedEigenvaluesWherePresent) {
  for (const KroneckerFactors& factors : {corrected(weight_factors()), corrected(bias_factors())}) {
    expect_close(written_down(*kronecker_operator(factors)), dense(factors));
  }
}

TEST_F(Kronecker, TakesTheWeightLineByLine) {
  const KroneckerFactors factors = weight_factors();
  const Tensor weight = random({kJ, kI});
  const Tensor product = kronecker_operator(factors)->multiply(weight.reshape({1, -1}));
  expect_close(product.reshape({kJ, kI}), factors.output.mm(weight).mm(factors.input));
}

TEST_F(Kronecker, IsSymmetricAndActsOnEachLineAlone) {
  const KroneckerFactors factors = weight_factors();
  const Tensor vectors = random({5, kJ * kI});
  for (const auto& op : {kronecker_operator(factors),
                         kronecker_operator(corrected(factors)),
                         kronecker_inverse(factors, kDamping),
                         kronecker_inverse(factors, kDamping, DampingSplit::kExact)}) {
    const Tensor matrix = written_down(*op);
    expect_close(matrix, matrix.t());
    expect_close(op->multiply(vectors), vectors.mm(matrix));
  }
}

TEST_F(Kronecker, RecordsNoGradient) {
  KroneckerFactors factors = weight_factors();
  factors.output.requires_grad_();
  const Tensor vectors = random({1, kJ * kI}).requires_grad_();
  EXPECT_FALSE(kronecker_operator(factors)->multiply(vectors).requires_grad());
  EXPECT_FALSE(kronecker_inverse(factors, kDamping)->multiply(vectors).requires_grad());
}

TEST_F(Kronecker, ReadsVectorsOfAnyStrides) {
  const KroneckerFactors factors = weight_factors();
  const Tensor vectors = random({kJ * kI, 2}).t();
  expect_close(kronecker_inverse(factors, kDamping)->multiply(vectors),
               kronecker_inverse(factors, kDamping)->multiply(vectors.contiguous()));
}

// ---- inverses -----------------------------------------------------------------------------------

TEST_F(KroneckerInverse, OfTheExactSplitIsTheInverse) {
  for (const KroneckerFactors& factors : {weight_factors(), bias_factors()}) {
    const auto inverse = kronecker_inverse(factors, kDamping, DampingSplit::kExact);
    expect_close(written_down(*inverse), dense_inverse(factors, kDamping));
    const Tensor vectors = random({2, inverse->dim()});
    const Tensor there = kronecker_operator(factors)->multiply(vectors) + kDamping * vectors;
    expect_close(inverse->multiply(there), vectors);
  }
}

TEST_F(KroneckerInverse, OfTheTraceSplitFollowsTheFormula) {
  const KroneckerFactors factors = weight_factors();
  const double pi = std::sqrt(factors.input.trace().item<double>() * kJ /
                              (kI * factors.output.trace().item<double>()));
  const Tensor input = factors.input + pi * std::sqrt(kDamping) * identity(kI);
  const Tensor output = factors.output + std::sqrt(kDamping) / pi * identity(kJ);
  expect_close(written_down(*kronecker_inverse(factors, kDamping)),
               at::kron(torch::inverse(output), torch::inverse(input)));
}

TEST_F(KroneckerInverse, OfABiasNeedsNoSplit) {
  const KroneckerFactors factors = bias_factors();
  expect_close(written_down(*kronecker_inverse(factors, kDamping)),
               dense_inverse(factors, kDamping));
}

TEST_F(KroneckerInverse, OfCorrectedFactorsIsExactWhateverTheSplit) {
  for (const KroneckerFactors& factors : {corrected(weight_factors()), corrected(bias_factors())}) {
    for (const DampingSplit split : {DampingSplit::kTrace, DampingSplit::kExact}) {
      expect_close(written_down(*kronecker_inverse(factors, kDamping, split)),
                   dense_inverse(factors, kDamping));
    }
  }
}

TEST_F(KroneckerInverse, WithoutDampingIsTheInverseOfRegularFactors) {
  const KroneckerFactors factors = weight_factors();
  for (const DampingSplit split : {DampingSplit::kTrace, DampingSplit::kExact}) {
    expect_close(written_down(*kronecker_inverse(factors, 0, split)), dense_inverse(factors, 0));
  }
}

TEST_F(KroneckerInverse, OfIndefiniteFactorsIsExact) {
  KroneckerFactors factors = weight_factors();
  factors.output = torch::diag(torch::tensor({1.0, -2.0, 3.0}, doubles()));
  expect_close(written_down(*kronecker_inverse(factors, kDamping, DampingSplit::kExact)),
               dense_inverse(factors, kDamping));
}

TEST_F(KroneckerInverse, OfAZeroFactorDividesByTheDamping) {
  KroneckerFactors zero_output = weight_factors(), zero_input = zero_output, zero_bias;
  zero_output.output = torch::zeros({kJ, kJ}, doubles());
  zero_input.input = torch::zeros({kI, kI}, doubles());
  zero_bias.output = zero_output.output;
  for (const KroneckerFactors& factors : {zero_output, zero_input, zero_bias}) {
    for (const DampingSplit split : {DampingSplit::kTrace, DampingSplit::kExact}) {
      const auto inverse = kronecker_inverse(factors, kDamping, split);
      expect_close(written_down(*inverse), identity(inverse->dim()) / kDamping);
    }
  }
}

TEST_F(KroneckerInverse, SurvivesADampingLostInTheRounding) {
  // Rank one up to rounding, which left an eigenvalue of -1.2e-7: no Cholesky factor exists.
  KroneckerFactors factors;
  const double above_one = 1 + std::numeric_limits<float>::epsilon();
  factors.output = torch::tensor({1.0, above_one, above_one, 1.0}, doubles()).reshape({2, 2});
  factors.output = factors.output.to(at::kFloat);
  const double damping = 1e-16;
  const Tensor difference = torch::tensor({{1.0, -1.0}}, doubles()).to(at::kFloat);
  for (const DampingSplit split : {DampingSplit::kTrace, DampingSplit::kExact}) {
    const auto inverse = kronecker_inverse(factors, damping, split);
    expect_close(damping * inverse->multiply(difference), difference.to(at::kDouble), kFloat);
  }

  factors.input = torch::ones({1, 1}, doubles()).to(at::kFloat);
  const double share = std::sqrt(damping);  // both factors have mean eigenvalue 1
  const Tensor split = kronecker_inverse(factors, damping)->multiply(difference);
  expect_close(share * split, difference.to(at::kDouble), kFloat);
}

TEST_F(KroneckerInverse, ComputesInTheTypeOfTheFactors) {
  const KroneckerFactors exact = weight_factors();
  const Tensor vectors = random({2, kJ * kI});
  const Tensor expected = kronecker_inverse(exact, kDamping)->multiply(vectors);
  const auto compare = [&](at::ScalarType type, double tolerance) {
    KroneckerFactors factors;
    factors.output = exact.output.to(type);
    factors.input = exact.input.to(type);
    const auto inverse = kronecker_inverse(factors, kDamping);
    EXPECT_EQ(inverse->options().dtype(), type);
    const Tensor solved = inverse->multiply(vectors.to(type));
    EXPECT_EQ(solved.scalar_type(), type);
    expect_close(solved, expected, tolerance);
  };
  compare(at::kFloat, kFloat);
  compare(at::kBFloat16, kBFloat16);
}

TEST_F(KroneckerInverse, PassesOnNotANumber) {
  for (const DampingSplit split : {DampingSplit::kTrace, DampingSplit::kExact}) {
    KroneckerFactors factors = weight_factors();
    factors.input[0][0] = std::numeric_limits<double>::quiet_NaN();
    const Tensor solved =
        kronecker_inverse(factors, kDamping, split)->multiply(random({1, kJ * kI}));
    EXPECT_TRUE(torch::isnan(solved).all().item<bool>());
  }
}

// ---- errors -------------------------------------------------------------------------------------

TEST_F(KroneckerInverse, OfASingularMatrixNeedsDamping) {
  KroneckerFactors singular = weight_factors();
  singular.input = covariance(kI, 2);
  KroneckerFactors zero = corrected(weight_factors());
  zero.corrected[1][2] = 0;
  KroneckerFactors bias;
  bias.output = torch::zeros({kJ, kJ}, doubles());
  for (const KroneckerFactors& factors : {singular, zero, bias}) {
    for (const DampingSplit split : {DampingSplit::kTrace, DampingSplit::kExact}) {
      expect_mentions(error_of([&] { return kronecker_inverse(factors, 0, split); }),
                      {"damping 0", "smallest eigenvalue is 0", "pass a larger damping"});
    }
  }
}

TEST_F(KroneckerInverse, RefusesABadDamping) {
  for (const double damping : {-0.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    expect_mentions(error_of([&] { return kronecker_inverse(weight_factors(), damping); }),
                    {"damping is ", "finite and not negative"});
  }
}

TEST_F(KroneckerInverse, OfTheTraceSplitRefusesIndefiniteFactors) {
  KroneckerFactors factors = weight_factors();
  factors.output = -factors.output;
  expect_mentions(error_of([&] { return kronecker_inverse(factors, kDamping); }),
                  {"the output factor has trace -", "DampingSplit::kExact"});
  factors.output = torch::diag(torch::tensor({1.0, -0.9, 3.0}, doubles()));
  expect_mentions(error_of([&] { return kronecker_inverse(factors, 1e-4); }),
                  {"the output factor has eigenvalues from -0.9 to 3", "DampingSplit::kExact"});
}

TEST_F(Kronecker, RefusesFactorsThatDoNotFit) {
  expect_mentions(error_of([] { return kronecker_operator({}); }), {"no output factor", "kKfac"});

  KroneckerFactors factors = weight_factors();
  factors.input = random({kI, kI + 1});
  expect_mentions(error_of([&] { return kronecker_operator(factors); }),
                  {"input factor", "[4, 5]"});

  factors.input = covariance(kI, kI).to(at::kFloat);
  expect_mentions(error_of([&] { return kronecker_operator(factors); }), {"Float", "Double"});

  KroneckerFactors no_basis = corrected(weight_factors());
  no_basis.input_basis = Tensor();
  expect_mentions(error_of([&] { return kronecker_operator(no_basis); }),
                  {"no input basis", "[4, 4]"});

  KroneckerFactors too_few = corrected(weight_factors());
  too_few.corrected = random({kJ});
  expect_mentions(error_of([&] { return kronecker_operator(too_few); }), {"3 corrected", "12"});
}

TEST_F(Kronecker, RefusesVectorsThatDoNotFit) {
  const auto op = kronecker_operator(weight_factors());
  expect_mentions(error_of([&] { op->multiply(random({kJ * kI})); }), {"[12]", "[V, 12]"});
  expect_mentions(error_of([&] { op->multiply(random({2, 7})); }), {"[2, 7]", "[V, 12]"});
  expect_mentions(error_of([&] {
                    op->multiply(random({1, kJ * kI}).to(at::kFloat));
                  }),
                  {"Float", "Double", ".to(operator.options())"});
}

}  // namespace
}  // namespace flightdeck::tests
