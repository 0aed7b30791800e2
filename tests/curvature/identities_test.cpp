// SPDX-License-Identifier: MIT
// What must hold between the answers themselves, whatever the model.
#include "curvature/complex_models.h"
#include "curvature/models.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

std::vector<ModelCase> piecewise_linear_models() {
  std::vector<ModelCase> chosen;
  for (const ModelCase& model : models()) {
    if (model.is_piecewise_linear) chosen.push_back(model);
  }
  return chosen;
}

class PiecewiseLinearModel : public ModelTest {};

TEST_P(PiecewiseLinearModel, HasEqualDiagonalsOfGgnAndHessian) {
  const Curvature answers =
      curvature(losses(), parameters(), CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian);
  expect_close(answers.concatenated(&ParameterCurvature::diag_hessian),
               answers.concatenated(&ParameterCurvature::diag_ggn),
               "diagonal",
               kCurvatureTolerance);
}

TEST_P(PiecewiseLinearModel, HasEqualBlocksOfGgnHessianAndPositiveCurvatureHessian) {
  ProductOptions options;
  options.groups = each_alone(parameters());
  const Tensor vectors = random({3, entries_of(parameters())});
  const auto product = [&](CurvatureKind kind) {
    return curvature_operator(losses(), parameters(), kind, options)->multiply(vectors);
  };
  const Tensor ggn = product(CurvatureKind::kGgn);
  expect_close(product(CurvatureKind::kHessian), ggn, "Hessian", kCurvatureTolerance);
  expect_close(product(CurvatureKind::kPchClip), ggn, "PCH, clipped", kCurvatureTolerance);
  expect_close(product(CurvatureKind::kPchAbs), ggn, "PCH, absolute", kCurvatureTolerance);
}

INSTANTIATE_TEST_SUITE_P(Models,
                         PiecewiseLinearModel,
                         ::testing::ValuesIn(piecewise_linear_models()),
                         name_of_model);

class CurvatureOfModel : public ModelTest {
 protected:
  Tensor multiply(CurvatureKind kind, const Tensor& vectors) const {
    return curvature_operator(losses(), parameters(), kind)->multiply(vectors);
  }
};

TEST_P(CurvatureOfModel, HasOneTrace) {
  const Curvature answers = curvature(
      losses(),
      parameters(),
      CurvatureNeed::kDiagGgn | CurvatureNeed::kTraceGgn | CurvatureNeed::kDiagGgnPerSample);
  const Vivit vivit(losses(), parameters());
  const Tensor trace = answers.total.trace_ggn;
  const auto expect_trace = [&](const Tensor& sum, const char* what) {
    expect_close(sum, trace, what, kCurvatureTolerance);
  };
  expect_trace(answers.concatenated(&ParameterCurvature::diag_ggn).sum(), "diagonal");
  expect_trace(answers.concatenated(&ParameterCurvature::diag_ggn_per_sample).sum(), "samples");
  expect_trace(vivit.gram().trace(), "Gram matrix");
  expect_trace(vivit.gram_eigenvalues().sum(), "eigenvalues of the Gram matrix");
  expect_trace(vivit.eigenvalues().sum(), "nontrivial eigenvalues");
}

TEST_P(CurvatureOfModel, HasTheDiagonalsOfItsOperators) {
  const Curvature answers =
      curvature(losses(), parameters(), CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian);
  const Tensor units = at::eye(entries_of(parameters()), doubles());
  expect_close(answers.concatenated(&ParameterCurvature::diag_ggn),
               multiply(CurvatureKind::kGgn, units).diagonal(),
               "diagonal of the GGN",
               kCurvatureTolerance);
  expect_close(answers.concatenated(&ParameterCurvature::diag_hessian),
               multiply(CurvatureKind::kHessian, units).diagonal(),
               "diagonal of the Hessian",
               kCurvatureTolerance);
}

TEST_P(CurvatureOfModel, HasSymmetricOperators) {
  const Tensor vectors = random({3, entries_of(parameters())});
  for (CurvatureKind kind :
       {CurvatureKind::kHessian, CurvatureKind::kGgn, CurvatureKind::kEmpiricalFisher}) {
    const Tensor forms = multiply(kind, vectors).matmul(vectors.t());
    expect_close(forms.t(), forms, "transposed", kCurvatureTolerance);
  }
}

TEST_P(CurvatureOfModel, HasNoNegativeCurvatureInGgnAndFisher) {
  const Tensor vectors = random({20, entries_of(parameters())});
  for (CurvatureKind kind : {CurvatureKind::kGgn, CurvatureKind::kEmpiricalFisher}) {
    const Tensor forms = (multiply(kind, vectors) * vectors).sum(1);
    EXPECT_GE(forms.min().item<double>(), -kCurvatureTolerance * forms.max().item<double>());
  }
}

TEST_P(CurvatureOfModel, HasAGramMatrixOfGradientsThatIsTheEmpiricalFishers) {
  const Vivit vivit(losses(), parameters());
  const double N = static_cast<double>(batch_size());
  const Tensor units = at::eye(entries_of(parameters()), doubles());
  const Tensor fisher = multiply(CurvatureKind::kEmpiricalFisher, units);
  expect_close(vivit.gradient_gram().trace() / N, fisher.trace(), "trace", kCurvatureTolerance);
  expect_close(vivit.gradient_gram().square().sum() / (N * N),
               fisher.square().sum(),
               "squared entries",
               kCurvatureTolerance);
}

INSTANTIATE_TEST_SUITE_P(Models, CurvatureOfModel, ::testing::ValuesIn(models()), name_of_model);
INSTANTIATE_TEST_SUITE_P(ComplexModels,
                         CurvatureOfModel,
                         ::testing::ValuesIn(complex_models()),
                         name_of_model);

// A single sample's gradients by a linear layer are outer products, so nothing is approximated.
TEST(CurvatureOfOneSample, IsTheProductOfItsKroneckerFactors) {
  for (const char* name :
       {"relu_perceptron", "sigmoid_perceptron", "tanh_perceptron_summed_error"}) {
    SCOPED_TRACE(name);
    const Model model = make_model(model_named(name));
    const DenseCurvature dense = dense_curvature(model.losses, model.outputs, model.parameters);
    const Tensor ggn = dense.select({2}).ggn();
    const Batch batch = Batch(model.losses, model.parameters).of({2});
    const Curvature answers = curvature(batch, CurvatureNeed::kKflr | CurvatureNeed::kKfra);
    for (size_t i = 0; i < model.parameters.size(); ++i) {
      const Tensor expected = block(ggn, model.parameters, {i});
      const ParameterCurvature& answer = answers.parameters[i];
      for (const KroneckerFactors& factors : {answer.kflr, answer.kfra}) {
        ASSERT_TRUE(factors.defined()) << answer.name;
        const Tensor product =
            factors.input.defined() ? at::kron(factors.output, factors.input) : factors.output;
        expect_close(product, expected, answer.name, kCurvatureTolerance);
      }
    }
  }
}

}  // namespace
}  // namespace flightdeck::tests
