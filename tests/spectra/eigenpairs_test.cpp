// SPDX-License-Identifier: MIT
// Eigenpairs from products against dense decompositions.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "flightdeck/spectra.h"
#include "spectra/matrices.h"

namespace flightdeck::tests {
namespace {

class EigenpairsTest : public SeededTest {};

// The eigenvalues asked for, by a dense decomposition.
Tensor expected_values(const Tensor& matrix, const EigenOptions& options) {
  const Tensor all = std::get<0>(at::linalg_eigh(matrix.cpu()));
  const int64_t D = all.size(0);
  return at::cat({all.slice(0, D - options.largest, D).flip(0), all.slice(0, 0, options.smallest)});
}

void expect_right(const Tensor& matrix, const EigenOptions& options, const Eigenpairs& pairs) {
  const Tensor expected = expected_values(matrix, options);
  ASSERT_EQ(pairs.values.sizes(), expected.sizes());
  EXPECT_TRUE(pairs.all_converged());
  EXPECT_TRUE(pairs.is_finite);
  const double norm = at::linalg_eigvalsh(matrix.cpu()).abs().max().item<double>();
  const Tensor sizes = expected.abs().clamp_min(options.floor * norm);
  const Tensor excess = (pairs.values - expected).abs() - options.tolerance * sizes - 1e-12 * norm;
  EXPECT_LE(excess.max().item<double>(), 0) << pairs.values << expected;
  // Residuals tell the truth, and vectors have length one.
  EXPECT_TRUE(at::allclose(residuals_of(matrix, pairs), pairs.residuals, 1e-6, 1e-12 * norm))
      << residuals_of(matrix, pairs) << pairs.residuals;
  const Tensor norms = pairs.vectors.norm(2, 1).cpu();
  EXPECT_TRUE(at::allclose(norms, at::ones_like(norms), 1e-10, 1e-10));
}

struct Case {
  const char* name;
  std::function<Tensor()> eigenvalues;
};

const Case kCases[] = {
    {"AnOutlierOverABulk",
     [] {
       return at::cat({at::tensor({12.0}), at::linspace(-1, 1, 79).to(at::kDouble)});
     }},
    {"Indefinite", [] { return at::linspace(-3, 2, 60).to(at::kDouble); }},
    {"Clustered",
     [] {
       return at::cat({at::tensor({5.0, 4.999, 4.998}),
                       at::linspace(0, 1, 57).to(at::kDouble),
                       at::tensor({-2.0, -2.001})});
     }},
    {"SemidefiniteOfLowRank",
     [] {
       return at::cat({at::tensor({7.0, 3.0, 1.0, 0.5}), at::zeros({56}, at::kDouble)});
     }},
    {"Multiple",
     [] {
       return at::cat({at::full({2}, 5.0, at::kDouble),
                       at::full({30}, 1.0, at::kDouble),
                       at::full({8}, -1.0, at::kDouble)});
     }},
    {"Identity", [] { return at::ones({20}, at::kDouble); }},
    {"Zero", [] { return at::zeros({20}, at::kDouble); }},
    {"Tiny", [] { return at::linspace(-1e-30, 3e-30, 25).to(at::kDouble); }},
    {"OfThreeEntries",
     [] {
       return at::tensor({3.0, -1.0, 0.5});
     }},
};

class EverySpectrum : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { torch::manual_seed(11); }
};

TEST_P(EverySpectrum, HasItsEndsFound) {
  const Tensor matrix = matrix_with(GetParam().eigenvalues());
  EigenOptions options;
  options.largest = 3;
  options.smallest = 2;
  options.tolerance = 1e-6;
  options.max_products = 1000;
  for (const int64_t block : {0, 3}) {
    options.block = block;
    SCOPED_TRACE(block);
    expect_right(matrix, options, eigenpairs(DenseOperator(matrix), options));
  }
}

TEST_P(EverySpectrum, HasItsLargestFoundByLobpcg) {
  const Tensor matrix = matrix_with(GetParam().eigenvalues());
  EigenOptions options;
  options.largest = 2;
  options.smallest = 1;
  options.tolerance = 1e-5;
  options.max_products = 3000;
  options.method = EigenMethod::kLobpcg;
  expect_right(matrix, options, eigenpairs(DenseOperator(matrix), options));
}

TEST_P(EverySpectrum, IsWhollyFoundWhenAllOfItIsAskedFor) {
  const Tensor matrix = matrix_with(GetParam().eigenvalues());
  EigenOptions options;
  options.largest = options.smallest = matrix.size(0);
  const Eigenpairs pairs = eigenpairs(DenseOperator(matrix), options);
  expect_right(matrix, options, pairs);
  EXPECT_EQ(pairs.products, matrix.size(0));
}

INSTANTIATE_TEST_SUITE_P(Eigenpairs,
                         EverySpectrum,
                         testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(EigenpairsTest, OfOneAndTwoEntriesAreFound) {
  EigenOptions options;
  options.smallest = 1;
  for (const int64_t D : {1, 2}) {
    const Tensor matrix = matrix_with(at::tensor({-2.0, 3.0}).slice(0, 0, D));
    const Eigenpairs pairs = eigenpairs(DenseOperator(matrix), options);
    expect_right(matrix, options, pairs);
    EXPECT_LE(pairs.products, D);
  }
}

TEST_F(EigenpairsTest, OfADiagonalAreItsEntries) {
  const Tensor matrix = at::diag(at::linspace(1, 50, 50).to(doubles()));
  EigenOptions options;
  options.largest = 4;
  options.tolerance = 1e-8;
  expect_right(matrix, options, eigenpairs(DenseOperator(matrix), options));
}

TEST_F(EigenpairsTest, AreFoundWithFewVectorsInMemory) {
  const Tensor matrix = matrix_with(at::linspace(0, 1, 120).to(at::kDouble));
  EigenOptions options;
  options.largest = 2;
  options.smallest = 1;
  options.tolerance = 1e-5;
  options.floor = 1e-2;
  options.max_basis = 12;
  options.max_products = 2000;
  const Eigenpairs pairs = eigenpairs(DenseOperator(matrix), options);
  expect_right(matrix, options, pairs);
  EXPECT_GT(pairs.products, 12);  // restarts were needed
}

TEST_F(EigenpairsTest, HoldTheirToleranceOverManySpectra) {
  // With half a thousandth of risk each, none of forty operators may miss the tolerance.
  EigenOptions options;
  options.largest = 3;
  options.smallest = 1;
  for (int64_t trial = 0; trial < 40; ++trial) {
    const Tensor g = random({70, 40});
    const Tensor matrix = g.mm(g.t()) / 40 - 0.3 * at::diag(random({70}).abs());
    options.seed = trial;
    const Eigenpairs pairs = eigenpairs(DenseOperator(matrix), options);
    SCOPED_TRACE(trial);
    expect_right(matrix, options, pairs);
  }
}

TEST_F(EigenpairsTest, AreFoundForRandomQuestions) {
  const auto draw = [](int64_t low, int64_t high) {
    return low + random_integers({}, high - low + 1).item<int64_t>();
  };
  for (int64_t trial = 0; trial < 150; ++trial) {
    const int64_t D = draw(1, 40);
    Tensor values = random({D});
    if (trial % 3 == 0) values = values.round();              // multiple eigenvalues
    if (trial % 4 == 0) values = values * (random({D}) > 0);  // low rank
    const Tensor matrix = matrix_with(values) * std::pow(10.0, static_cast<double>(draw(-6, 6)));
    EigenOptions options;
    options.largest = draw(0, std::min<int64_t>(D, 4));
    options.smallest = draw(options.largest == 0 ? 1 : 0, std::min<int64_t>(D, 4));
    // A multiple eigenvalue is promised once per line of the block.
    const Tensor copies = std::get<2>(at::_unique2(values, true, false, /*return_counts=*/true));
    const int64_t most = copies.max().item<int64_t>();
    options.block = std::max(draw(0, 3), most > 1 ? most : 0);
    if (trial % 2 == 0) options.start = random({draw(1, 3), D});
    options.tolerance = 1e-8;
    const int64_t block = std::max({options.block, options.largest, options.smallest});
    if (trial % 5 == 0)
      options.max_basis = options.largest + options.smallest + 3 * block + 1 + draw(0, 5);
    if (trial % 7 == 0) options.method = EigenMethod::kLobpcg;
    options.max_products = 5000;
    options.seed = trial;
    SCOPED_TRACE(trial);
    expect_right(matrix, options, eigenpairs(DenseOperator(matrix), options));
  }
}

TEST_F(EigenpairsTest, StopLongBeforeTheBudgetForAnOutlier) {
  const CountingOperator op(outlier_matrix(400));
  const Eigenpairs pairs = eigenpairs(op);
  EXPECT_TRUE(pairs.all_converged());
  EXPECT_LE(pairs.products, 14);
  EXPECT_EQ(pairs.products, op.products);
}

TEST_F(EigenpairsTest, CutShortAreBetterFromTheVectorsOfAnOperatorThatMovedALittle) {
  const int64_t D = 300;
  const Tensor matrix = outlier_matrix(D), change = random({D, D});
  const Tensor moved = matrix + 0.002 * (change + change.t());
  for (const int64_t pairs : {1, 3}) {
    EigenOptions options;
    options.largest = pairs;
    const Tensor found = eigenpairs(DenseOperator(matrix), options).vectors;
    options.max_products = 3 * pairs;
    const Tensor expected = expected_values(moved, options);
    const Eigenpairs cold = eigenpairs(DenseOperator(moved), options);
    options.start = found;
    const Eigenpairs warm = eigenpairs(DenseOperator(moved), options);
    EXPECT_FALSE(warm.all_converged());
    EXPECT_LT(((warm.values - expected) / expected).abs().max().item<double>(), 1e-3);
    EXPECT_GT(((cold.values - expected) / expected).abs().max().item<double>(), 1e-2);
  }
}

TEST_F(EigenpairsTest, FromAnEigenvectorAreProvedLikeAnyOther) {
  const Tensor matrix = outlier_matrix(100);
  EigenOptions options;
  const Eigenpairs cold = eigenpairs(DenseOperator(matrix), options);
  options.start = cold.vectors;
  const Eigenpairs warm = eigenpairs(DenseOperator(matrix), options);
  expect_right(matrix, options, warm);
  EXPECT_GT(warm.products, 1);
  EXPECT_LE(warm.products, cold.products + 2);
}

TEST_F(EigenpairsTest, AreThoseThatOvertookTheStart) {
  Tensor eigenvalues = at::linspace(0, 1, 60).to(at::kDouble);
  eigenvalues[10] = 10;
  eigenvalues[20] = 12;
  const Tensor matrix = at::diag(eigenvalues.to(doubles()));
  EigenOptions options;
  options.tolerance = 1e-2;
  options.start = at::zeros({60}, doubles());
  options.start[10] = 1;
  expect_right(matrix, options, eigenpairs(DenseOperator(matrix), options));
}

TEST_F(EigenpairsTest, IgnoreStartLinesOfNoUse) {
  const Tensor matrix = outlier_matrix(60);
  EigenOptions options;
  options.start = random({4, 60});
  options.start[0].zero_();
  options.start[1][7] = std::numeric_limits<double>::quiet_NaN();
  options.start[3].copy_(options.start[2] * 2);
  expect_right(matrix, options, eigenpairs(DenseOperator(matrix), options));
  options.start = at::zeros({1, 60}, doubles());
  expect_right(matrix, options, eigenpairs(DenseOperator(matrix), options));
}

TEST_F(EigenpairsTest, LookBeyondAStartThatIsAnEigenvector) {
  Tensor diagonal = at::linspace(-1, 1, 40).to(doubles());
  diagonal[5] = 9;
  diagonal[6] = 4;
  EigenOptions options;
  options.start = at::zeros({40}, doubles());
  options.start[6] = 1;  // the second largest
  expect_right(at::diag(diagonal), options, eigenpairs(DenseOperator(at::diag(diagonal)), options));
}

TEST_F(EigenpairsTest, OfFloatsAreAsGoodAsFloats) {
  const Tensor matrix = outlier_matrix(200);
  EigenOptions options;
  options.largest = 4;
  options.smallest = 2;
  const Eigenpairs pairs = eigenpairs(DenseOperator(matrix.to(at::kFloat)), options);
  EXPECT_TRUE(pairs.all_converged());
  EXPECT_EQ(pairs.vectors.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(pairs.values, expected_values(matrix, options), 1e-3, 1e-5));
  EXPECT_TRUE(at::allclose(residuals_of(matrix, pairs), pairs.residuals, 1e-2, 1e-5));
}

TEST_F(EigenpairsTest, BeyondTheBudgetAreFlaggedAndGiveTheirBest) {
  const Tensor matrix = matrix_with(at::linspace(0, 1, 200).to(at::kDouble));
  EigenOptions options;
  options.largest = 2;
  options.tolerance = 1e-10;
  options.max_products = 7;
  for (const EigenMethod method : {EigenMethod::kLanczos, EigenMethod::kLobpcg}) {
    options.method = method;
    const CountingOperator op(matrix);
    const Eigenpairs pairs = eigenpairs(op, options);
    EXPECT_LE(op.products, 7);
    EXPECT_EQ(pairs.converged, std::vector<bool>(2, false));
    EXPECT_GT(pairs.values[0].item<double>(), 0.5);
    EXPECT_TRUE(at::allclose(residuals_of(matrix, pairs), pairs.residuals, 1e-8, 1e-12));
  }
  options.max_products = 1;
  const Eigenpairs one = eigenpairs(DenseOperator(matrix), options);
  EXPECT_EQ(one.products, 1);
  EXPECT_TRUE(std::isfinite(one.values[0].item<double>()));
  EXPECT_TRUE(std::isnan(one.values[1].item<double>()));
  EXPECT_FALSE(one.all_converged());
}

TEST_F(EigenpairsTest, EndWithAFlagAtAProductThatIsNotFinite) {
  const Tensor matrix = outlier_matrix(50);
  for (const EigenMethod method : {EigenMethod::kLanczos, EigenMethod::kLobpcg}) {
    for (const int64_t finite_products : {0, 3}) {
      CountingOperator op(matrix);
      op.finite_products = finite_products;
      EigenOptions options;
      options.method = method;
      const Eigenpairs pairs = eigenpairs(op, options);
      EXPECT_FALSE(pairs.is_finite);
      EXPECT_FALSE(pairs.all_converged());
      EXPECT_LE(op.products, finite_products + 2);
      EXPECT_EQ(std::isnan(pairs.values[0].item<double>()), finite_products == 0);
    }
  }
}

TEST_F(EigenpairsTest, LeaveTheRandomGeneratorAloneAndRepeatThemselves) {
  const Tensor matrix = outlier_matrix(50);
  const Tensor before = generator_state(),
               before_cpu = at::globalContext().defaultGenerator(at::kCPU).get_state();
  const Eigenpairs first = eigenpairs(DenseOperator(matrix));
  EXPECT_TRUE(generator_state().equal(before));
  EXPECT_TRUE(at::globalContext().defaultGenerator(at::kCPU).get_state().equal(before_cpu));
  torch::manual_seed(99);
  EXPECT_TRUE(eigenpairs(DenseOperator(matrix)).vectors.equal(first.vectors));
  EigenOptions options;
  options.seed = 1;
  EXPECT_FALSE(eigenpairs(DenseOperator(matrix), options).vectors.equal(first.vectors));
}

TEST_F(EigenpairsTest, RecordNoGraph) {
  const Tensor matrix = outlier_matrix(20).requires_grad_(true);
  EXPECT_FALSE(eigenpairs(DenseOperator(matrix)).vectors.requires_grad());
}

// An operator that returns its argument must not have it changed under its hands.
class SameVectors : public LinearOperator {
 public:
  int64_t dim() const override { return 6; }
  at::TensorOptions options() const override { return doubles(); }
  Tensor multiply(const Tensor& vectors) const override { return vectors; }
};

TEST_F(EigenpairsTest, OfAnOperatorThatReturnsItsArgumentAreOne) {
  EigenOptions options;
  options.largest = 4;
  expect_right(at::eye(6, doubles()), options, eigenpairs(SameVectors(), options));
}

TEST_F(EigenpairsTest, OfADampedOperatorAreShifted) {
  const Tensor matrix = outlier_matrix(30);
  const DenseOperator dense(matrix);
  EigenOptions options;
  options.tolerance = 1e-8;
  const Tensor plain = eigenpairs(dense, options).values;
  const Tensor damped = eigenpairs(DampedOperator(dense, 2.5), options).values;
  EXPECT_NEAR((damped - plain).item<double>(), 2.5, 1e-6);
}

std::string message_of(const EigenOptions& options) {
  try {
    static_cast<void>(eigenpairs(DenseOperator(at::eye(5, doubles())), options));
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST_F(EigenpairsTest, RefuseWhatCannotBe) {
  EigenOptions options;
  options.largest = 6;
  EXPECT_NE(
      message_of(options).find("6 pairs were asked for at the upper end but the operator has 5"),
      std::string::npos);
  options = {};
  options.largest = 0;
  EXPECT_NE(message_of(options).find("at least one pair"), std::string::npos);
  options = {};
  options.max_products = 0;
  EXPECT_NE(message_of(options).find("max_products is 0"), std::string::npos);
  options = {};
  options.max_basis = 2;
  EXPECT_NE(message_of(options).find("max_basis is 2"), std::string::npos);
  options = {};
  options.start = random({4});
  EXPECT_NE(message_of(options).find("the start has shape [4]"), std::string::npos);
  EXPECT_THROW(DenseOperator(random({2, 3})), c10::ValueError);
  EXPECT_THROW(static_cast<void>(eigenpairs(DenseOperator(at::eye(3, at::kLong)))),
               c10::ValueError);
}

}  // namespace
}  // namespace flightdeck::tests
