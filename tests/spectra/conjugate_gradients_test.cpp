// SPDX-License-Identifier: MIT
// Linear systems by conjugate gradients against dense solutions.
#include <cmath>

#include "flightdeck/spectra.h"
#include "spectra/matrices.h"

namespace flightdeck::tests {
namespace {

class ConjugateGradientsTest : public SeededTest {};

Tensor definite_matrix(int64_t D) { return matrix_with(at::linspace(0.1, 4, D).to(at::kDouble)); }

Tensor relative_residuals(const Tensor& matrix, const Tensor& b, const Tensor& x) {
  return ((b - x.mm(matrix)).norm(2, 1) / b.norm(2, 1)).cpu();
}

TEST_F(ConjugateGradientsTest, SolveEveryLine) {
  const Tensor matrix = definite_matrix(60), b = random({4, 60});
  SolveOptions options;
  options.tolerance = 1e-10;
  const CountingOperator op(matrix);
  const Solution solution = conjugate_gradients(op, b, options);
  EXPECT_TRUE(solution.all_converged());
  EXPECT_EQ(solution.products, op.products);
  const Tensor residuals = relative_residuals(matrix, b, solution.vectors);
  EXPECT_LE(residuals.max().item<double>(), 1e-10);
  EXPECT_TRUE(at::allclose(residuals, solution.residuals, 1e-2, 1e-13));
  EXPECT_TRUE(at::allclose(solution.vectors, at::linalg_solve(matrix, b.t()).t(), 1e-7, 1e-8));
}

TEST_F(ConjugateGradientsTest, SpendNothingOnLinesThatAreDone) {
  const Tensor matrix = definite_matrix(40);
  const Tensor eigenvector = std::get<1>(at::linalg_eigh(matrix)).t()[5];
  const Tensor b = at::stack({at::zeros({40}, doubles()), eigenvector, random({40})});
  const CountingOperator op(matrix);
  const Solution solution = conjugate_gradients(op, b);
  EXPECT_TRUE(solution.all_converged());
  EXPECT_EQ(solution.iterations[0], 0);
  EXPECT_EQ(solution.iterations[1], 1);
  EXPECT_GT(solution.iterations[2], 10);
  EXPECT_EQ(solution.vectors[0].abs().max().item<double>(), 0);
  EXPECT_EQ(solution.residuals[0].item<double>(), 0);
  // Each line that iterated was checked once.
  EXPECT_EQ(op.products, 1 + solution.iterations[2] + 2);
}

TEST_F(ConjugateGradientsTest, BeginAtTheStart) {
  const Tensor matrix = definite_matrix(40), b = random({2, 40});
  SolveOptions options;
  const Solution cold = conjugate_gradients(DenseOperator(matrix), b, options);
  options.start = cold.vectors.clone();
  const Solution again = conjugate_gradients(DenseOperator(matrix), b, options);
  EXPECT_EQ(again.iterations, std::vector<int64_t>(2, 0));
  EXPECT_TRUE(again.all_converged());
  options.start += 1e-4;
  const Solution warm = conjugate_gradients(DenseOperator(matrix), b, options);
  EXPECT_TRUE(warm.all_converged());
  EXPECT_LT(warm.iterations[0], cold.iterations[0]);
}

TEST_F(ConjugateGradientsTest, TakeFewerIterationsWithAPreconditioner) {
  const Tensor scales = at::logspace(0, 5, 80).to(doubles());
  const Tensor noise = random({80, 80});
  const Tensor matrix = at::diag(scales) + 0.005 * noise.mm(noise.t());
  const DenseOperator inverse(at::diag(scales.reciprocal()));
  SolveOptions options;
  options.max_iterations = 500;
  const Tensor b = random({1, 80});
  const Solution plain = conjugate_gradients(DenseOperator(matrix), b, options);
  options.preconditioner = &inverse;
  const Solution better = conjugate_gradients(DenseOperator(matrix), b, options);
  EXPECT_TRUE(better.all_converged());
  EXPECT_LT(2 * better.iterations[0], plain.iterations[0]);
  EXPECT_LE(relative_residuals(matrix, b, better.vectors).max().item<double>(), 1e-6);
}

TEST_F(ConjugateGradientsTest, StopAtNegativeCurvatureAndSayWhere) {
  Tensor diagonal = at::linspace(1, 2, 30).to(doubles());
  diagonal[29] = -1;
  const Tensor matrix = at::diag(diagonal);
  Tensor b = random({2, 30});
  b[0][29] = 0;  // this line never sees the negative direction
  const Solution solution = conjugate_gradients(DenseOperator(matrix), b);
  EXPECT_EQ(solution.negative_curvature, (std::vector<bool>{false, true}));
  EXPECT_EQ(solution.converged, (std::vector<bool>{true, false}));
  EXPECT_TRUE(solution.vectors.isfinite().all().item<bool>());
  EXPECT_TRUE(at::allclose(
      relative_residuals(matrix, b, solution.vectors), solution.residuals, 1e-6, 1e-6));
  const Solution none = conjugate_gradients(DenseOperator(-at::eye(3, doubles())), random({3}));
  EXPECT_TRUE(none.negative_curvature[0]);
  EXPECT_EQ(none.vectors.abs().max().item<double>(), 0);
  EXPECT_EQ(none.residuals.item<double>(), 1);
}

TEST_F(ConjugateGradientsTest, BeyondTheBudgetAreFlagged) {
  const Tensor matrix = definite_matrix(100), b = random({1, 100});
  SolveOptions options;
  options.max_iterations = 3;
  const Solution solution = conjugate_gradients(DenseOperator(matrix), b, options);
  EXPECT_FALSE(solution.all_converged());
  EXPECT_FALSE(solution.negative_curvature[0]);
  EXPECT_EQ(solution.iterations[0], 3);
  EXPECT_LT(solution.residuals[0].item<double>(), 1);
  EXPECT_TRUE(at::allclose(
      relative_residuals(matrix, b, solution.vectors), solution.residuals, 1e-8, 1e-12));
}

TEST_F(ConjugateGradientsTest, InFloatsReportResidualsThatAreTrue) {
  const Tensor matrix = matrix_with(at::logspace(-2, 0, 60).to(at::kDouble));
  SolveOptions options;
  options.tolerance = 1e-5;
  options.max_iterations = 400;
  const Tensor b = random({2, 60});
  const Solution solution =
      conjugate_gradients(DenseOperator(matrix.to(at::kFloat)), b.to(at::kFloat), options);
  const Tensor residuals = relative_residuals(matrix, b, solution.vectors.to(at::kDouble));
  EXPECT_TRUE(solution.all_converged());
  // Evaluating b - A x in floats is off by about 1e-7 |A| |x| / |b|, up to 1e-5 here.
  EXPECT_LE(residuals.max().item<double>(), 2e-5);
}

TEST_F(ConjugateGradientsTest, ThatTheTypeCannotHoldAreFlagged) {
  // The recurrence claims 1e-9 sooner or later; b - A x in floats never does.
  const Tensor matrix = definite_matrix(60).to(at::kFloat), b = random({1, 60}).to(at::kFloat);
  SolveOptions options;
  options.tolerance = 1e-9;
  const Solution solution = conjugate_gradients(DenseOperator(matrix), b, options);
  EXPECT_FALSE(solution.all_converged());
  EXPECT_LE(relative_residuals(matrix, b, solution.vectors).item<float>(), 1e-5);
}

TEST_F(ConjugateGradientsTest, FlagProductsThatAreNotFinite) {
  CountingOperator op(definite_matrix(50));
  op.finite_products = 4;
  const Tensor b = random({1, 50});
  const Solution solution = conjugate_gradients(op, b);
  EXPECT_FALSE(solution.is_finite);
  EXPECT_FALSE(solution.all_converged());
  EXPECT_EQ(solution.iterations[0], 4);
  EXPECT_TRUE(solution.vectors.isfinite().all().item<bool>());
  const Solution bad = conjugate_gradients(DenseOperator(definite_matrix(50)), b / 0.0);
  EXPECT_FALSE(bad.is_finite);
  EXPECT_FALSE(bad.all_converged());
}

TEST_F(ConjugateGradientsTest, RefuseShapesThatDoNotFit) {
  const DenseOperator op(definite_matrix(5));
  EXPECT_THROW(static_cast<void>(conjugate_gradients(op, random({2, 4}))), c10::ValueError);
  SolveOptions options;
  options.start = random({1, 5});
  EXPECT_THROW(static_cast<void>(conjugate_gradients(op, random({2, 5}), options)),
               c10::ValueError);
  const DenseOperator other(definite_matrix(4));
  options = {};
  options.preconditioner = &other;
  EXPECT_THROW(static_cast<void>(conjugate_gradients(op, random({2, 5}), options)),
               c10::ValueError);
}

}  // namespace
}  // namespace flightdeck::tests
