// SPDX-License-Identifier: MIT
// Models with complex tensors against the same models written in real numbers, which see the same
// draws; complex outputs; what is refused. The tables of the other files run over complex models,
// too.
#include <cmath>

#include "curvature/complex_models.h"
#include "errors.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kTwinSamples = 4;

using Field = Tensor ParameterCurvature::*;

// The same numbers, once with complex tensors and once without.
struct Twins {
  std::string name;
  std::function<Model(bool is_complex)> make;
};
void PrintTo(const Twins& twins, std::ostream* stream) { *stream << twins.name; }

// Rotates pairs of features [N, F, 2] by angles [F].
Tensor rotated(const Tensor& pairs, const Tensor& angles, bool is_complex) {
  if (is_complex) {
    const Tensor turns = at::polar(at::ones_like(angles), angles);
    return at::view_as_real(at::view_as_complex(pairs) * turns);
  }
  const Tensor x = pairs.select(-1, 0), y = pairs.select(-1, 1);
  const Tensor cos = angles.cos(), sin = angles.sin();
  return at::stack({x * cos - y * sin, x * sin + y * cos}, -1);
}

Model rotary_net(bool is_complex) {
  const Tensor first = random_parameter({4, 3}), bias = random_parameter({4});
  const Tensor second = random_parameter({3, 4});
  const Tensor hidden = at::linear(random({kTwinSamples, 3}), first, bias).tanh();
  const Tensor turned = rotated(hidden.view({kTwinSamples, 2, 2}), random({2}), is_complex);
  const Tensor outputs = at::linear(turned.flatten(1).sigmoid(), second);
  return {cross_entropies(outputs, random_integers({kTwinSamples}, 3)),
          outputs,
          ParameterList().add("first", first).add("bias", bias).add("second", second)};
}

// A circular convolution of 5 entries, as a product of spectra and as a matrix.
Model filter_net(bool is_complex) {
  const Tensor first = random_parameter({5, 3}), second = random_parameter({3, 5});
  const Tensor kernel = random({5});
  const Tensor hidden = at::linear(random({kTwinSamples, 3}), first).tanh();
  std::vector<Tensor> shifted;
  for (int64_t k = 0; k < 5; ++k) shifted.push_back(kernel.roll(k, 0));
  const Tensor filtered = is_complex ? at::fft_irfft(at::fft_rfft(hidden) * at::fft_rfft(kernel), 5)
                                     : at::matmul(hidden, at::stack(shifted));
  const Tensor outputs = at::linear(filtered.tanh(), second);
  return {mean_squared_errors(outputs, random({kTwinSamples, 3})),
          outputs,
          ParameterList().add("first", first).add("second", second)};
}

class ComplexTwins : public ::testing::TestWithParam<Twins> {
 protected:
  Model make(bool is_complex) const {
    torch::manual_seed(20240301);
    return GetParam().make(is_complex);
  }
  Model complex_ = make(true), real_ = make(false);
};

TEST_P(ComplexTwins, HaveTheSameSampledDiagonalsAndFactors) {
  CurvatureOptions options;
  options.mc_samples = 3;
  options.ekfac = true;
  const CurvatureNeeds what = CurvatureNeed::kDiagGgnMc | CurvatureNeed::kDiagGgnMcPerSample |
                              CurvatureNeed::kTraceGgnMc | CurvatureNeed::kKfac |
                              CurvatureNeed::kKflr;
  const Curvature actual = curvature(complex_.losses, complex_.parameters, what, options);
  const Curvature expected = curvature(real_.losses, real_.parameters, what, options);
  for (Field field : {&ParameterCurvature::diag_ggn_mc,
                      &ParameterCurvature::diag_ggn_mc_per_sample,
                      &ParameterCurvature::trace_ggn_mc}) {
    expect_close(actual.concatenated(field), expected.concatenated(field), "sampled");
  }
  const auto expect_factors = [](const KroneckerFactors& a, const KroneckerFactors& b) {
    ASSERT_EQ(a.input.defined(), b.input.defined());
    expect_close(a.output, b.output, "output");
    if (!a.input.defined()) return;
    expect_close(a.input, b.input, "input");
    // Eigenvectors have no sign, the eigenvalues of a basis do not see it.
    expect_close(a.corrected, b.corrected, "corrected", kCurvatureTolerance);
  };
  for (size_t p = 0; p < actual.parameters.size(); ++p) {
    SCOPED_TRACE(actual.parameters[p].name);
    expect_factors(actual.parameters[p].kfac, expected.parameters[p].kfac);
    expect_factors(actual.parameters[p].kflr, expected.parameters[p].kflr);
  }
}

TEST_P(ComplexTwins, HaveTheSamePositiveCurvature) {
  const Tensor vectors = random({3, entries_of(real_.parameters)});
  for (CurvatureKind kind : {CurvatureKind::kPchClip, CurvatureKind::kPchAbs}) {
    expect_close(curvature_operator(complex_.losses, complex_.parameters, kind)->multiply(vectors),
                 curvature_operator(real_.losses, real_.parameters, kind)->multiply(vectors),
                 "product");
  }
}

TEST_P(ComplexTwins, NeedNoColumnByItself) {
  const Curvature answers = curvature(
      complex_.losses, complex_.parameters, CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian);
  EXPECT_TRUE(answers.remarks.empty()) << answers.remarks.front();
  for (const ParameterCoverage& covered : answers.coverage.parameters) {
    EXPECT_EQ(covered.level, CoverageLevel::kExactFast) << covered.name << ": " << covered.reason;
  }
}

TEST_P(ComplexTwins, HaveNoAveragedMatrixOverComplexEntries) {
  expect_error(
      [&] { return curvature(complex_.losses, complex_.parameters, CurvatureNeed::kKfra); },
      {"kfra", "complex", "KFLR"});
  expect_error([&] { return averaged_blocks(complex_.losses, complex_.parameters); },
               {"averaged_blocks", "complex", "operators"});
}

TEST_P(ComplexTwins, HaveTheEigenvaluesTheCockpitRecords) {
  const auto memory = std::make_shared<MemorySink>();
  Cockpit cockpit(complex_.parameters,
                  std::vector<Quantity>{quantity("hess_max_ev"), quantity("hess_trace")});
  cockpit.add_sink(memory);
  {
    const StepWatch watch = cockpit.watch(0, complex_.losses);
    complex_.losses.mean().backward({}, /*retain_graph=*/true);
  }
  cockpit.flush();
  const DenseCurvature dense =
      dense_curvature(complex_.losses, complex_.outputs, complex_.parameters);
  const double largest = at::linalg_eigvalsh(dense.hessian())[-1].item<double>();
  // The quantity stops at one percent.
  EXPECT_NEAR(memory->number(0, "hess_max_ev"), largest, 1e-2 * std::abs(largest));
  const double trace = dense.hessian().trace().item<double>();
  EXPECT_NEAR(memory->number(0, "hess_trace"), trace, kCurvatureTolerance * std::abs(trace));
}

INSTANTIATE_TEST_SUITE_P(ComplexTwins,
                         ComplexTwins,
                         ::testing::Values(Twins{"rotary", rotary_net},
                                           Twins{"filter", filter_net}),
                         [](const auto& instance) { return instance.param.name; });

// ---- outputs that are complex themselves --------------------------------------------------------

class ComplexOutputs : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    const Tensor weight = random_parameter({3, 2, 2}), bias = random_parameter({2, 2});
    const Tensor x = random({kTwinSamples, 3}).to(at::kComplexDouble);
    outputs_ = at::matmul(x, at::view_as_complex(weight)).tanh() + at::view_as_complex(bias);
    // Not a loss the engine knows, nor a convex one.
    const Tensor z = at::view_as_complex(entries_ = at::view_as_real(outputs_));
    losses_ = at::real(z * z.conj() + 0.4 * z * z * z).sum(1);
    parameters_ = ParameterList().add("weight", weight).add("bias", bias);
  }

  Batch batch(const Tensor& losses, const Tensor& outputs, int64_t size = 0) const {
    BatchOptions options;
    options.outputs = outputs;
    options.batch_size = size;
    return {losses, parameters_, options};
  }

  Tensor outputs_, losses_;
  Tensor entries_;  // the real numbers the outputs consist of
  Parameters parameters_{std::vector<NamedParameter>()};
};

TEST_F(ComplexOutputs, CountAsTheirRealNumbers) {
  CurvatureOptions options;
  options.mc_samples = 2;
  const CurvatureNeeds what =
      CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian | CurvatureNeed::kDiagGgnMc;
  const Curvature actual = curvature(batch(losses_, outputs_), what, options);
  const Curvature expected = curvature(batch(losses_, entries_), what, options);
  for (Field field : {&ParameterCurvature::diag_ggn,
                      &ParameterCurvature::diag_hessian,
                      &ParameterCurvature::diag_ggn_mc}) {
    expect_close(actual.concatenated(field), expected.concatenated(field), "diagonal");
  }
  expect_close(Vivit(batch(losses_, outputs_)).gram_eigenvalues().sum(),
               expected.concatenated(&ParameterCurvature::diag_ggn).sum(),
               "eigenvalues");
}

TEST_F(ComplexOutputs, HaveTheProductsOfTheDenseMatrices) {
  const DenseCurvature dense = dense_curvature(losses_, entries_, parameters_);
  const Tensor ggn = mean_congruence(dense.jacobians, positive_part(dense.output_hessians));
  const Tensor units = at::eye(entries_of(parameters_), doubles());
  const auto product = [&](const Batch& of, CurvatureKind kind) {
    return curvature_operator(of, kind)->multiply(units);
  };
  expect_close(
      product(batch(losses_, outputs_), CurvatureKind::kGgn), ggn, "GGN", kCurvatureTolerance);
  const Batch mean = batch(losses_.mean(), outputs_, kTwinSamples);
  expect_close(product(mean, CurvatureKind::kGgn), ggn, "GGN", kCurvatureTolerance);
  expect_close(product(mean, CurvatureKind::kEmpiricalFisher),
               dense.empirical_fisher(),
               "Fisher",
               kCurvatureTolerance);
}

}  // namespace
}  // namespace flightdeck::tests
