// SPDX-License-Identifier: MIT
// Complex tensors between real parameters and losses, and what becomes of complex parameters.
#include <set>

#include "check_model.h"
#include "curvature/complex_models.h"
#include "errors.h"

namespace flightdeck::tests {
namespace {

// Between these models' parameters and their uses lies an op that is applied sample by sample.
Path path_of(const std::string& model) {
  static const std::set<std::string> slow = {"complex_convolution",
                                             "magnitudes_of_complex_data",
                                             "phases_and_mixed_types",
                                             "polar_weights",
                                             "weights_of_parts"};
  return slow.count(model) > 0 ? Path::kExact : Path::kFast;
}

class GradientsOfComplexModel : public ModelTest {};

TEST_P(GradientsOfComplexModel, AreThoseOfPlainAutograd) {
  check_model(losses(), parameters(), path_of(GetParam().name));
}

INSTANTIATE_TEST_SUITE_P(ComplexModels,
                         GradientsOfComplexModel,
                         ::testing::ValuesIn(complex_models()),
                         name_of_model);

class ComplexEntries : public SeededTest {};

TEST_F(ComplexEntries, OfAScalarLossGiveRowsOfTheirSamples) {
  const Tensor x = random({4, 3});
  const Tensor weight = random_parameter({3, 2, 2});
  const Tensor z = at::matmul(x.to(at::kComplexDouble), at::view_as_complex(weight));
  const Tensor losses = z.abs().square().sum(1);
  check_scalar_loss(losses.mean(), Reduction::kMean, losses, ParameterList().add("weight", weight));
}

TEST_F(ComplexEntries, MayHaveSamplesThatMeet) {
  const Tensor weight = random_parameter({2, 3});
  const Tensor z = at::fft_fft(at::linear(random({4, 3}), weight), {}, /*dim=*/0);
  check_model(z.abs().sum(1), ParameterList().add("weight", weight), Path::kExact);
}

TEST_F(ComplexEntries, InSinglePrecisionGiveRowsInSinglePrecision) {
  const Tensor weight = random_parameter({3, 2, 2}).detach().to(at::kFloat).requires_grad_();
  const Tensor x = random({4, 3}).to(at::kFloat);
  const Tensor z = at::matmul(x.to(at::kComplexFloat), at::view_as_complex(weight));
  check_model(z.abs().square().sum(1), ParameterList().add("weight", weight));
}

TEST_F(ComplexEntries, OfAParameterAreRefusedByNameWithTheRemedy) {
  const Tensor weight = at::complex(random({3, 2}), random({3, 2})).requires_grad_();
  const Tensor losses = at::matmul(random({4, 3}).to(weight.dtype()), weight).abs().sum(1);
  const Parameters parameters = ParameterList().add("spectral.weight", weight);
  const std::vector<std::string> words = {"spectral.weight", "ComplexDouble", "view_as_complex"};
  expect_error([&] { return gradients(losses, parameters, Need::kNorms); }, words);
  expect_error([&] { return coverage(losses, parameters, Need::kNorms); }, words);
  expect_error([&] { Watch(losses, parameters, Need::kNorms); }, words);
  expect_error([&] { return curvature(losses, parameters, CurvatureNeed::kDiagGgn); }, words);
  expect_error([&] { return curvature_operator(losses, parameters, CurvatureKind::kHessian); },
               words);
  expect_error([&] { return averaged_blocks(losses, parameters); }, words);
  expect_error([&] { return Vivit(losses, parameters); }, words);
  expect_error([&] { Cockpit(parameters, "economy"); }, words);
}

TEST_F(ComplexEntries, OfAParameterThatIsNotAskedForAreAllRight) {
  const Tensor own = random_parameter({3, 3});
  const Tensor other = at::complex(random({3, 2}), random({3, 2})).requires_grad_();
  const Tensor z = at::matmul(at::linear(random({4, 3}), own).to(other.dtype()), other);
  check_model(z.abs().square().sum(1), ParameterList().add("own", own));
}

}  // namespace
}  // namespace flightdeck::tests
