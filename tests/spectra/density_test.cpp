// SPDX-License-Identifier: MIT
// Stochastic Lanczos quadrature against the spectrum itself.
#include <cmath>

#include "flightdeck/spectra.h"
#include "spectra/matrices.h"

namespace flightdeck::tests {
namespace {

class SpectralDensityTest : public SeededTest {};

double integral(const SpectralDensity& density) {
  return at::trapezoid(density.density, density.grid).item<double>();
}

TEST_F(SpectralDensityTest, IntegratesToOne) {
  const SpectralDensity density = spectral_density(DenseOperator(outlier_matrix(100)));
  EXPECT_NEAR(integral(density), 1, 1e-4);
  EXPECT_TRUE(at::allclose(density.weights.sum(1), at::ones({4}, at::kDouble)));
  EXPECT_GE(density.density.min().item<double>(), 0);
  EXPECT_EQ(density.products, 4 * 40);
}

TEST_F(SpectralDensityTest, HasTheMomentsOfTheSpectrum) {
  const Tensor values = at::linspace(-1, 2, 500).to(at::kDouble);
  DensityOptions options;
  options.starts = 10;
  options.steps = 15;
  const SpectralDensity density =
      spectral_density(DenseOperator(at::diag(values).to(test_device())), options);
  EXPECT_NEAR(density.moment(0), 1, 1e-12);
  for (const int64_t power : {1, 2, 3, 4}) {
    // A start's moment spreads by sqrt(2/D) times that of the spectrum's powers, which is below 5.
    const double spread = 5 * std::sqrt(2.0 / (500 * 10));
    EXPECT_NEAR(density.moment(power), values.pow(power).mean().item<double>(), 4 * spread);
  }
}

TEST_F(SpectralDensityTest, OfOneStartIsExactInTheMomentsOfThatStart) {
  // With as many steps as entries the rule is the spectral measure itself: nodes are eigenvalues.
  const Tensor values = at::tensor({-3.0, -1.0, 0.5, 2.0, 7.0});
  DensityOptions options;
  options.starts = 1;
  options.steps = 8;
  const SpectralDensity density = spectral_density(DenseOperator(matrix_with(values)), options);
  EXPECT_TRUE(at::allclose(density.nodes[0].slice(0, 0, 5), values, 1e-10, 1e-10));
  EXPECT_EQ(density.weights[0].slice(0, 5, 8).abs().sum().item<double>(), 0);
  EXPECT_EQ(density.products, 5);
  EXPECT_NEAR(integral(density), 1, 1e-4);
}

TEST_F(SpectralDensityTest, OfAMultipleOfTheIdentityIsOnePeak) {
  for (const double value : {0.0, 3.0}) {
    const SpectralDensity density = spectral_density(DenseOperator(at::eye(30, doubles()) * value));
    EXPECT_NEAR(integral(density), 1, 1e-4);
    const int64_t peak = density.density.argmax().item<int64_t>();
    EXPECT_NEAR(density.grid[peak].item<double>(), value, density.width);
    EXPECT_EQ(density.products, 4);
  }
}

TEST_F(SpectralDensityTest, KeepsToTheGridAndWidthItIsGiven) {
  DensityOptions options;
  options.low = -2;
  options.high = 2;
  options.points = 101;
  options.width = 0.2;
  const SpectralDensity density = spectral_density(DenseOperator(outlier_matrix(100)), options);
  EXPECT_EQ(density.grid.sizes(), at::IntArrayRef({101}));
  EXPECT_EQ(density.grid[0].item<double>(), -2);
  EXPECT_EQ(density.grid[100].item<double>(), 2);
  EXPECT_EQ(density.width, 0.2);
  // The three outliers are off the grid, and weigh 3% on average.
  EXPECT_NEAR(integral(density), 0.97, 0.025);
}

TEST_F(SpectralDensityTest, LeavesTheRandomGeneratorAlone) {
  const Tensor matrix = outlier_matrix(30), before = generator_state();
  const SpectralDensity first = spectral_density(DenseOperator(matrix));
  EXPECT_TRUE(generator_state().equal(before));
  EXPECT_TRUE(spectral_density(DenseOperator(matrix)).density.equal(first.density));
}

TEST_F(SpectralDensityTest, IsUnknownAfterAProductThatIsNotFinite) {
  CountingOperator op(outlier_matrix(30));
  op.finite_products = 5;
  const SpectralDensity density = spectral_density(op);
  EXPECT_FALSE(density.is_finite);
  EXPECT_EQ(density.products, 6);
  EXPECT_TRUE(density.density.isnan().all().item<bool>());
}

TEST_F(SpectralDensityTest, RefusesAnEmptyGrid) {
  DensityOptions options;
  options.low = options.high = 1;
  EXPECT_THROW(static_cast<void>(spectral_density(DenseOperator(outlier_matrix(9)), options)),
               c10::ValueError);
}

}  // namespace
}  // namespace flightdeck::tests
