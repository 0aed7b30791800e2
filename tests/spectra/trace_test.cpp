// SPDX-License-Identifier: MIT
// Estimates of trace and diagonal: right on average, with errors that say how far off they are.
#include <cmath>

#include "flightdeck/spectra.h"
#include "spectra/matrices.h"

namespace flightdeck::tests {
namespace {

class TraceTest : public SeededTest {};
class DiagonalTest : public SeededTest {};

constexpr TraceMethod kMethods[] = {
    TraceMethod::kHutchinson, TraceMethod::kHutchPlusPlus, TraceMethod::kXTrace};

TEST_F(TraceTest, IsRightOnAverageAndItsErrorsAreCalibrated) {
  const Tensor matrix = outlier_matrix(100) + 0.2 * at::eye(100, doubles());
  const double truth = matrix.trace().item<double>();
  constexpr int64_t kTrials = 300;
  for (const TraceMethod method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    TraceOptions options;
    options.method = method;
    options.products = 30;
    double sum = 0, squares = 0, claimed = 0;
    for (int64_t trial = 0; trial < kTrials; ++trial) {
      options.seed = 1000 + trial;
      const Estimate estimate = trace(DenseOperator(matrix), options);
      sum += estimate.value - truth;
      squares += std::pow(estimate.value - truth, 2);
      claimed += std::pow(estimate.standard_error, 2);
      ASSERT_EQ(estimate.products, 30);
      ASSERT_FALSE(estimate.exact);
    }
    const double deviation = std::sqrt(squares / kTrials);
    // Four standard errors of the mean over the trials.
    EXPECT_NEAR(sum / kTrials, 0, 4 * deviation / std::sqrt(static_cast<double>(kTrials)));
    const double ratio = std::sqrt(claimed / kTrials) / deviation;
    EXPECT_GT(ratio, 0.75);
    EXPECT_LT(ratio, 1.35);
  }
}

TEST_F(TraceTest, OfASpectrumThatFallsIsBestByXTrace) {
  const Tensor matrix = matrix_with(at::arange(200, at::kDouble).mul(-0.5).exp());
  double errors[3] = {0, 0, 0};
  for (int64_t trial = 0; trial < 30; ++trial) {
    for (size_t k = 0; k < 3; ++k) {
      TraceOptions options;
      options.method = kMethods[k];
      options.seed = trial;
      errors[k] +=
          std::abs(trace(DenseOperator(matrix), options).value - matrix.trace().item<double>());
    }
  }
  EXPECT_LT(errors[1], 0.2 * errors[0]);
  EXPECT_LT(errors[2], errors[1]);
}

TEST_F(TraceTest, OfALowRankIsExactByXTraceAndHutchPlusPlus) {
  const Tensor g = random({80, 6});
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    const Tensor matrix = g.mm(g.t()).to(type);
    const double truth = matrix.trace().item<double>();
    const double tolerance = (type == at::kDouble ? 1e-11 : 1e-5) * truth;
    for (const TraceMethod method : {TraceMethod::kXTrace, TraceMethod::kHutchPlusPlus}) {
      TraceOptions options;
      options.method = method;
      const Estimate estimate = trace(DenseOperator(matrix), options);
      EXPECT_NEAR(estimate.value, truth, tolerance);
      EXPECT_LE(estimate.standard_error, tolerance);
      EXPECT_LE(estimate.products, 30);
    }
  }
}

TEST_F(TraceTest, OfADiagonalMatrixIsExactByRandomSigns) {
  TraceOptions options;
  options.method = TraceMethod::kHutchinson;
  options.products = 2;
  const Tensor matrix = at::diag(random({40}));
  const Estimate estimate = trace(DenseOperator(matrix), options);
  EXPECT_NEAR(estimate.value, matrix.trace().item<double>(), 1e-12);
  EXPECT_LE(estimate.standard_error, 1e-12);
}

TEST_F(TraceTest, IsExactWhenTheBudgetCoversEveryEntry) {
  const Tensor matrix = outlier_matrix(30);
  for (const TraceMethod method : kMethods) {
    TraceOptions options;
    options.method = method;
    options.block = 7;
    const CountingOperator op(matrix);
    const Estimate estimate = trace(op, options);
    EXPECT_TRUE(estimate.exact);
    EXPECT_NEAR(estimate.value, matrix.trace().item<double>(), 1e-11);
    EXPECT_EQ(estimate.standard_error, 0);
    EXPECT_EQ(estimate.products, 30);
    EXPECT_EQ(op.products, 30);
  }
}

TEST_F(TraceTest, OfZeroIsZero) {
  for (const TraceMethod method : kMethods) {
    TraceOptions options;
    options.method = method;
    const Estimate estimate = trace(DenseOperator(at::zeros({50, 50}, doubles())), options);
    EXPECT_EQ(estimate.value, 0);
    EXPECT_EQ(estimate.standard_error, 0);
  }
}

TEST_F(TraceTest, DoesNotDependOnTheBlock) {
  const Tensor matrix = outlier_matrix(60);
  for (const TraceMethod method : kMethods) {
    TraceOptions options;
    options.method = method;
    const double whole = trace(DenseOperator(matrix), options).value;
    options.block = 4;
    EXPECT_NEAR(trace(DenseOperator(matrix), options).value, whole, 1e-9);
  }
}

TEST_F(TraceTest, FromTheFewestProductsHasNoErrorToReport) {
  const Tensor matrix = outlier_matrix(60);
  for (const TraceMethod method : kMethods) {
    TraceOptions options;
    options.method = method;
    options.products = method == TraceMethod::kHutchinson ? 1
                       : method == TraceMethod::kXTrace   ? 2
                                                          : 3;
    const Estimate estimate = trace(DenseOperator(matrix), options);
    EXPECT_TRUE(std::isfinite(estimate.value));
    EXPECT_TRUE(std::isnan(estimate.standard_error));
    --options.products;
    EXPECT_THROW(static_cast<void>(trace(DenseOperator(matrix), options)), c10::ValueError);
  }
}

TEST_F(TraceTest, LeavesTheRandomGeneratorAloneAndFlagsWhatIsNotFinite) {
  const Tensor matrix = outlier_matrix(60), before = generator_state();
  for (const TraceMethod method : kMethods) {
    TraceOptions options;
    options.method = method;
    EXPECT_EQ(trace(DenseOperator(matrix), options).value,
              trace(DenseOperator(matrix), options).value);
    for (const int64_t finite_products : {0, 17}) {
      CountingOperator op(matrix);
      op.finite_products = finite_products;
      const Estimate estimate = trace(op, options);
      EXPECT_FALSE(estimate.is_finite);
      EXPECT_TRUE(std::isnan(estimate.value));
    }
  }
  EXPECT_TRUE(generator_state().equal(before));
}

// ---- diagonal -----------------------------------------------------------------------------------

TEST_F(DiagonalTest, IsRightOnAverageAndItsErrorsAreCalibrated) {
  const Tensor matrix = outlier_matrix(60), truth = matrix.diagonal();
  constexpr int64_t kTrials = 300;
  for (const DiagonalMethod method : {DiagonalMethod::kHutchinson, DiagonalMethod::kXDiag}) {
    SCOPED_TRACE(static_cast<int>(method));
    Tensor sum = at::zeros({60}, doubles()), squares = sum.clone(), claimed = sum.clone();
    for (int64_t trial = 0; trial < kTrials; ++trial) {
      DiagonalOptions options;
      options.method = method;
      options.seed = 500 + trial;
      const DiagonalEstimate estimate = diagonal(DenseOperator(matrix), options);
      sum += estimate.value - truth;
      squares += (estimate.value - truth).square();
      claimed += estimate.standard_error.square();
      ASSERT_EQ(estimate.products, 30);
    }
    // Sixty entries at once: five standard errors of their means over the trials.
    const Tensor scores = sum.abs() / (squares.sqrt() + 1e-12);
    EXPECT_LT(scores.max().item<double>(), 5);
    const double ratio = std::sqrt(claimed.sum().item<double>() / squares.sum().item<double>());
    EXPECT_GT(ratio, 0.75);
    EXPECT_LT(ratio, 1.35);
  }
}

TEST_F(DiagonalTest, OfALowRankIsExactByXDiag) {
  const Tensor g = random({80, 6}), matrix = g.mm(g.t());
  DiagonalOptions options;
  options.method = DiagonalMethod::kXDiag;
  const DiagonalEstimate estimate = diagonal(DenseOperator(matrix), options);
  EXPECT_TRUE(at::allclose(estimate.value, matrix.diagonal(), 1e-9, 1e-10));
  EXPECT_LT(estimate.standard_error.max().item<double>(), 1e-9);
}

TEST_F(DiagonalTest, IsExactForADiagonalMatrixAndForABudgetOfEveryEntry) {
  const Tensor entries = random({50});
  const DiagonalEstimate signs = diagonal(DenseOperator(at::diag(entries)));
  EXPECT_TRUE(at::allclose(signs.value, entries, 1e-12, 1e-12));
  const Tensor matrix = outlier_matrix(30).to(at::kFloat);
  const DiagonalEstimate units = diagonal(DenseOperator(matrix));
  EXPECT_TRUE(units.exact);
  EXPECT_TRUE(units.value.equal(matrix.diagonal()));
  EXPECT_EQ(units.value.scalar_type(), at::kFloat);
}

TEST_F(DiagonalTest, OfOneSampleHasNoErrorToReport) {
  DiagonalOptions options;
  options.products = 1;
  const DiagonalEstimate estimate = diagonal(DenseOperator(outlier_matrix(40)), options);
  EXPECT_TRUE(estimate.standard_error.isnan().all().item<bool>());
  options.method = DiagonalMethod::kXDiag;
  EXPECT_THROW(static_cast<void>(diagonal(DenseOperator(outlier_matrix(40)), options)),
               c10::ValueError);
}

TEST_F(DiagonalTest, FlagsWhatIsNotFinite) {
  for (const DiagonalMethod method : {DiagonalMethod::kHutchinson, DiagonalMethod::kXDiag}) {
    for (const int64_t finite_products : {0, 20}) {
      CountingOperator op(outlier_matrix(40));
      op.finite_products = finite_products;
      DiagonalOptions options;
      options.method = method;
      EXPECT_FALSE(diagonal(op, options).is_finite);
    }
  }
}

}  // namespace
}  // namespace flightdeck::tests
