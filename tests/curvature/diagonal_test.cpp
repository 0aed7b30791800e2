// SPDX-License-Identifier: MIT
// Diagonals and traces of the GGN and the Hessian against the dense matrices, for every model of
// the table; and what sampling promises.
#include <cmath>

#include "curvature/complex_models.h"
#include "curvature/models.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

constexpr CurvatureNeeds kExactNeeds =
    CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian | CurvatureNeed::kDiagGgnPerSample |
    CurvatureNeed::kDiagHessianPerSample | CurvatureNeed::kTraceGgn | CurvatureNeed::kTraceHessian;
constexpr CurvatureNeeds kSampledNeeds =
    CurvatureNeed::kDiagGgnMc | CurvatureNeed::kDiagGgnMcPerSample | CurvatureNeed::kTraceGgnMc;

using Field = Tensor ParameterCurvature::*;

struct ExpectedField {
  CurvatureNeed need;
  Field field;
  const char* name;
  Tensor value;  // [D], [N, D], or [P] for traces
};

// The sum of each parameter's entries of a diagonal [D], as a tensor [P].
Tensor sums_by_parameter(const Tensor& diagonal, const Parameters& parameters) {
  const std::vector<int64_t> offsets = offsets_of(parameters);
  std::vector<Tensor> sums;
  for (size_t i = 0; i < parameters.size(); ++i) {
    sums.push_back(diagonal.slice(0, offsets[i], offsets[i + 1]).sum());
  }
  return at::stack(sums);
}

std::vector<ExpectedField> expected_fields(const DenseCurvature& dense,
                                           const Parameters& parameters) {
  const double N = static_cast<double>(dense.batch_size());
  const Tensor ggn = dense.ggns().diagonal(0, 1, 2) / N;
  const Tensor hessian = dense.hessians.diagonal(0, 1, 2) / N;
  using Answer = ParameterCurvature;
  return {
      {CurvatureNeed::kDiagGgn, &Answer::diag_ggn, "diag_ggn", ggn.sum(0)},
      {CurvatureNeed::kDiagHessian, &Answer::diag_hessian, "diag_hessian", hessian.sum(0)},
      {CurvatureNeed::kDiagGgnPerSample, &Answer::diag_ggn_per_sample, "diag_ggn_per_sample", ggn},
      {CurvatureNeed::kDiagHessianPerSample,
       &Answer::diag_hessian_per_sample,
       "diag_hessian_per_sample",
       hessian},
      {CurvatureNeed::kTraceGgn,
       &Answer::trace_ggn,
       "trace_ggn",
       sums_by_parameter(ggn.sum(0), parameters)},
      {CurvatureNeed::kTraceHessian,
       &Answer::trace_hessian,
       "trace_hessian",
       sums_by_parameter(hessian.sum(0), parameters)},
  };
}

bool is_trace(Field field) {
  return field == &ParameterCurvature::trace_ggn || field == &ParameterCurvature::trace_ggn_mc ||
         field == &ParameterCurvature::trace_hessian;
}

// Traces add up entries of both signs; their scale is that of what was added.
void expect_trace(const Tensor& actual, const Tensor& expected, double scale, const char* what) {
  ASSERT_TRUE(actual.defined()) << what;
  EXPECT_EQ(actual.dim(), 0) << what;
  EXPECT_LE((actual - expected).abs().item<double>(), kCurvatureTolerance * scale) << what;
}

void expect_dense(const Curvature& answers,
                  const DenseCurvature& dense,
                  const Parameters& parameters,
                  CurvatureNeeds what) {
  EXPECT_EQ(answers.batch_size, dense.batch_size());
  ASSERT_EQ(answers.parameters.size(), parameters.size());
  const double scale = dense.hessian().diagonal().abs().sum().item<double>() +
                       dense.ggn().diagonal().sum().item<double>();
  for (const ExpectedField& expected : expected_fields(dense, parameters)) {
    SCOPED_TRACE(expected.name);
    if (!what.has(expected.need)) {
      for (const ParameterCurvature& answer : answers.parameters) {
        EXPECT_FALSE((answer.*expected.field).defined()) << answer.name << " was not asked for";
      }
    } else if (is_trace(expected.field)) {
      for (size_t i = 0; i < parameters.size(); ++i) {
        expect_trace(answers.parameters[i].*expected.field,
                     expected.value[static_cast<int64_t>(i)],
                     scale,
                     answers.parameters[i].name.c_str());
      }
      expect_trace(answers.total.*expected.field, expected.value.sum(), scale, "total");
    } else {
      expect_close(
          answers.concatenated(expected.field), expected.value, expected.name, kCurvatureTolerance);
    }
  }
}

class DiagonalsOfModel : public ModelTest {
 protected:
  Curvature ask(CurvatureNeeds what, const CurvatureOptions& options = {}) const {
    return curvature(losses(), parameters(), what, options);
  }
  void expect_exact(const BatchOptions& options) const {
    expect_dense(curvature(Batch(losses(), parameters(), options), kExactNeeds),
                 dense().select(options.samples),
                 parameters(),
                 kExactNeeds);
  }
};

TEST_P(DiagonalsOfModel, AreThoseOfTheDenseMatrices) { expect_exact({}); }

TEST_P(DiagonalsOfModel, AreTheSameWhenAskedForOneAtATime) {
  for (const ExpectedField& field : expected_fields(dense(), parameters())) {
    SCOPED_TRACE(field.name);
    expect_dense(ask(field.need), dense(), parameters(), field.need);
  }
}

TEST_P(DiagonalsOfModel, AreTheSameBesideATraceOfEitherMatrix) {
  for (CurvatureNeed diagonal : {CurvatureNeed::kDiagGgn, CurvatureNeed::kDiagHessian}) {
    for (CurvatureNeed trace : {CurvatureNeed::kTraceGgn, CurvatureNeed::kTraceHessian}) {
      expect_dense(ask(diagonal | trace), dense(), parameters(), diagonal | trace);
    }
  }
}

TEST_P(DiagonalsOfModel, AreThoseOfTheChosenSamples) {
  BatchOptions options;
  options.samples = some_samples();
  expect_exact(options);
}

TEST_P(DiagonalsOfModel, AreTheSameWithStacksOfOneColumn) {
  BatchOptions options;
  options.memory.stack_bytes = 1;
  options.memory.scratch_bytes = 1;
  expect_exact(options);
}

TEST_P(DiagonalsOfModel, AreTheSameWithTheOutputsNamed) {
  BatchOptions options;
  options.outputs = model_.outputs;
  expect_exact(options);
}

TEST_P(DiagonalsOfModel, HaveTheShapesOfTheParameters) {
  const Curvature answers = ask(kExactNeeds);
  for (const NamedParameter& parameter : parameters()) {
    const ParameterCurvature& answer = answers.at(parameter.name);
    std::vector<int64_t> stacked = parameter.tensor.sizes().vec();
    stacked.insert(stacked.begin(), batch_size());
    EXPECT_EQ(answer.diag_ggn.sizes(), parameter.tensor.sizes());
    EXPECT_EQ(answer.diag_hessian.sizes(), parameter.tensor.sizes());
    EXPECT_EQ(answer.diag_ggn_per_sample.sizes(), at::IntArrayRef(stacked));
    EXPECT_EQ(answer.diag_hessian_per_sample.sizes(), at::IntArrayRef(stacked));
    EXPECT_EQ(answer.diag_ggn.scalar_type(), parameter.tensor.scalar_type());
    EXPECT_FALSE(answer.diag_ggn.requires_grad());
  }
}

TEST_P(DiagonalsOfModel, CoverEveryParameter) {
  const Curvature answers = ask(CurvatureNeed::kDiagGgn);
  ASSERT_EQ(answers.coverage.parameters.size(), parameters().size());
  for (const ParameterCoverage& covered : answers.coverage.parameters) {
    EXPECT_NE(covered.level, CoverageLevel::kRefused) << covered.name << ": " << covered.reason;
  }
}

TEST_P(DiagonalsOfModel, LeaveTheModelAsItWas) {
  clear_gradients(parameters());
  const Tensor state = generator_state();
  std::vector<Tensor> before;
  for (const Tensor& tensor : tensors_of(parameters())) before.push_back(tensor.detach().clone());
  ask(kExactNeeds | kSampledNeeds);
  EXPECT_TRUE(at::equal(generator_state(), state)) << "the generator was used";
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_TRUE(at::equal(parameters()[i].tensor, before[i])) << parameters()[i].name;
    EXPECT_FALSE(parameters()[i].tensor.grad().defined()) << parameters()[i].name;
  }
  EXPECT_NO_THROW(losses().mean().backward()) << "the graph is not usable any more";
}

TEST_P(DiagonalsOfModel, OfSampledGradientsApproachTheExactOnes) {
  // A would-be gradient's squared norm varies about as much as it is large; with M draws for each
  // of N samples that leaves 2 % of the trace. Entries vary more than their sum.
  constexpr double kOfTrace = 0.15;
  constexpr double kOfDiagonal = 0.3;
  CurvatureOptions options;
  options.mc_samples = 1000;
  const Curvature answers = ask(kSampledNeeds, options);
  const Tensor exact = dense().ggn().diagonal();
  const Tensor sampled = answers.concatenated(&ParameterCurvature::diag_ggn_mc);
  EXPECT_LE((sampled - exact).norm().item<double>(), kOfDiagonal * exact.norm().item<double>());
  EXPECT_NEAR(answers.total.trace_ggn_mc.item<double>(),
              exact.sum().item<double>(),
              kOfTrace * exact.sum().item<double>());
  expect_close(answers.concatenated(&ParameterCurvature::diag_ggn_mc_per_sample).sum(0),
               sampled,
               "sum of the samples' diagonals",
               kCurvatureTolerance);
}

INSTANTIATE_TEST_SUITE_P(Models, DiagonalsOfModel, ::testing::ValuesIn(models()), name_of_model);
INSTANTIATE_TEST_SUITE_P(ComplexModels,
                         DiagonalsOfModel,
                         ::testing::ValuesIn(complex_models()),
                         name_of_model);

// ---- scalar losses
// -------------------------------------------------------------------------------

class DiagonalsFromAScalar : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    net_ = on_device(nn::Sequential(nn::Linear(4, 5), nn::Sigmoid(), nn::Linear(5, 3)));
    outputs_ = net_->forward(random({6, 4}));
    labels_ = random_integers({6}, 3);
    targets_ = random({6, 3});
  }

  void expect_same(const Tensor& loss, Reduction reduction, const Tensor& individual) const {
    const Parameters parameters = net_->named_parameters();
    const DenseCurvature dense = dense_curvature(individual, outputs_, parameters);
    BatchOptions options;
    options.batch_size = 6;
    options.reduction = reduction;
    const Batch batch(loss, parameters, options);
    expect_dense(curvature(batch, kExactNeeds), dense, parameters, kExactNeeds);
    const std::vector<int64_t> samples = {4, 1, 0};
    expect_dense(
        curvature(batch.of(samples), kExactNeeds), dense.select(samples), parameters, kExactNeeds);
  }

  nn::Sequential net_ = nullptr;
  Tensor outputs_, labels_, targets_;
};

TEST_F(DiagonalsFromAScalar, AreThoseOfItsLossesForMeanCrossEntropy) {
  expect_same(nn::functional::cross_entropy(outputs_, labels_),
              Reduction::kMean,
              cross_entropies(outputs_, labels_));
}

TEST_F(DiagonalsFromAScalar, AreThoseOfItsLossesForSummedCrossEntropy) {
  expect_same(cross_entropies(outputs_, labels_).sum(),
              Reduction::kSum,
              cross_entropies(outputs_, labels_));
  const auto options = nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
  expect_same(nn::functional::cross_entropy(outputs_, labels_, options),
              Reduction::kSum,
              cross_entropies(outputs_, labels_));
}

TEST_F(DiagonalsFromAScalar, AreThoseOfItsLossesForMeanSquaredError) {
  expect_same(nn::functional::mse_loss(outputs_, targets_),
              Reduction::kMean,
              mean_squared_errors(outputs_, targets_));
}

TEST_F(DiagonalsFromAScalar, AreThoseOfItsLossesForSummedSquaredError) {
  const auto options = nn::functional::MSELossFuncOptions().reduction(torch::kSum);
  expect_same(nn::functional::mse_loss(outputs_, targets_, options),
              Reduction::kSum,
              mean_squared_errors(outputs_, targets_) * 3.0);
}

// ---- sampling
// ------------------------------------------------------------------------------------

class SampledDiagonals : public SeededTest {
 protected:
  // The error of the diagonal from M draws, relative and as root mean square over a few seeds.
  static double error_of_draws(const Model& model, const Tensor& exact, int64_t draws) {
    constexpr uint64_t kSeeds = 8;
    double squares = 0.0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Tensor error = ask(model, draws, seed) - exact;
      squares += error.square().sum().item<double>() / exact.square().sum().item<double>();
    }
    return std::sqrt(squares / static_cast<double>(kSeeds));
  }

  static Tensor ask(const Model& model, int64_t draws, uint64_t seed) {
    CurvatureOptions options;
    options.mc_samples = draws;
    options.seed = seed;
    return curvature(model.losses, model.parameters, CurvatureNeed::kDiagGgnMc, options)
        .concatenated(&ParameterCurvature::diag_ggn_mc);
  }
};

TEST_F(SampledDiagonals, HaveAnErrorThatFallsWithTheRootOfTheDraws) {
  for (const char* name :
       {"sigmoid_perceptron", "tanh_perceptron_squared_error", "gelu_perceptron_binary"}) {
    SCOPED_TRACE(name);
    const Model model = make_model(model_named(name));
    const Tensor exact = curvature(model.losses, model.parameters, CurvatureNeed::kDiagGgn)
                             .concatenated(&ParameterCurvature::diag_ggn);
    const double first = error_of_draws(model, exact, 4) * std::sqrt(4.0);
    EXPECT_GT(first, 1e-3) << "four draws per sample cannot be exact";
    for (int64_t draws : {64, 1024}) {
      const double later =
          error_of_draws(model, exact, draws) * std::sqrt(static_cast<double>(draws));
      EXPECT_LE(later, 3.0 * first) << draws;
      EXPECT_GE(later, first / 3.0) << draws;
    }
  }
}

TEST_F(SampledDiagonals, AreTheSameForTheSameSeedAndOthersForAnother) {
  const Model model = make_model(model_named("sigmoid_perceptron"));
  const Tensor first = ask(model, 2, 11);
  torch::manual_seed(1);
  EXPECT_TRUE(identical(ask(model, 2, 11), first));
  EXPECT_FALSE(identical(ask(model, 2, 12), first));
}

// ---- batch normalisation
// -------------------------------------------------------------------------

TEST(DiagonalsBelowBatchNorm, WithConstantStatisticsAreThoseOfDetachedStatistics) {
  torch::manual_seed(20240229);
  auto first = on_device(nn::Linear(4, 5));
  auto norm = on_device(nn::BatchNorm1d(5));
  auto head = on_device(nn::Linear(5, 3));
  const Parameters parameters =
      ParameterList().add("first", first).add("norm", norm).add("head", head);
  const Tensor hidden = first(random({6, 4}));
  const Tensor labels = random_integers({6}, 3);
  const Tensor mean = hidden.detach().mean(0);
  const Tensor deviation = (hidden.detach().var(0, /*unbiased=*/false) + 1e-5).sqrt();
  const Tensor outputs = head(((hidden - mean) / deviation * norm->weight + norm->bias).tanh());
  const DenseCurvature dense =
      dense_curvature(cross_entropies(outputs, labels), outputs, parameters);

  BatchOptions options;
  options.batch_norm = BatchNormPolicy::kConstantStatistics;
  const Tensor losses = cross_entropies(head(norm(hidden).tanh()), labels);
  const CurvatureNeeds what = CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagGgnPerSample;
  expect_dense(curvature(Batch(losses, parameters, options), what), dense, parameters, what);
}

// ---- losses of no known kind ----

// Two towers whose outputs are held against each other by the angle between them.
class DiagonalsBelowAnyLoss : public SeededTest {
 protected:
  Tensor tower(int64_t which, const Tensor& inputs) const {
    const Tensor outputs =
        inputs.matmul(weights_[2 * which]).tanh().matmul(weights_[2 * which + 1]);
    return outputs / outputs.square().sum(1, true).sqrt();
  }

  Tensor losses(int64_t count) const {
    const Tensor first = first_inputs_.narrow(0, 0, count),
                 second = second_inputs_.narrow(0, 0, count);
    return 1 - (tower(0, first) * tower(1, second)).sum(1);
  }

  void expect_exact(const Tensor& losses, const Curvature& answers) const {
    const auto count = losses.size(0);
    std::vector<Tensor> rows;
    for (int64_t n = 0; n < count; ++n) {
      const auto pulled = torch::autograd::grad({losses[n]}, weights_, {}, true, true);
      std::vector<Tensor> flat;
      for (const Tensor& part : pulled) flat.push_back(part.reshape({-1}));
      rows.push_back(jacobian(at::cat(flat), weights_).diagonal());
    }
    const Tensor expected = at::stack(rows) / static_cast<double>(count);
    expect_close(answers.concatenated(&ParameterCurvature::diag_hessian_per_sample),
                 expected,
                 "diagonals of the Hessians",
                 kCurvatureTolerance);
    expect_close(answers.concatenated(&ParameterCurvature::diag_hessian),
                 expected.sum(0),
                 "diagonal of the Hessian",
                 kCurvatureTolerance);
    expect_close(
        answers.total.trace_hessian, expected.sum(), "trace of the Hessian", kCurvatureTolerance);
  }

  const CurvatureNeeds what_ = CurvatureNeed::kDiagHessian | CurvatureNeed::kDiagHessianPerSample |
                               CurvatureNeed::kTraceHessian;
  const Tensor first_inputs_ = random({3, 4}), second_inputs_ = random({3, 5});
  const std::vector<Tensor> weights_ = {random_parameter({4, 3}),
                                        random_parameter({3, 3}),
                                        random_parameter({5, 2}),
                                        random_parameter({2, 3})};
};

TEST_F(DiagonalsBelowAnyLoss, OfTheHessianComeFromColumns) {
  const Tensor all = losses(3);
  CurvatureOptions options;
  options.max_slow_entries = 0;
  const Curvature answers = curvature(all, weights_, what_, options);
  expect_exact(all, answers);
  for (const ParameterCoverage& covered : answers.coverage.parameters) {
    EXPECT_EQ(covered.level, CoverageLevel::kExactFast) << covered.name << ": " << covered.reason;
  }
}

TEST_F(DiagonalsBelowAnyLoss, OfTheHessianAreThoseOfChosenSamplesAndOfOne) {
  const Tensor one = losses(1);
  expect_exact(one, curvature(one, weights_, what_));
  const Tensor all = losses(3);
  const Curvature chosen = curvature(Batch(all, weights_).of({2, 0}), what_);
  const Curvature apart =
      curvature(all.index_select(0, at::tensor({2, 0}).to(all.device())), weights_, what_);
  expect_close(chosen.concatenated(&ParameterCurvature::diag_hessian_per_sample),
               apart.concatenated(&ParameterCurvature::diag_hessian_per_sample),
               "diagonals of two samples",
               kCurvatureTolerance);
}

TEST_F(DiagonalsBelowAnyLoss, OfTheHessianHaveTermsThatAllSamplesShare) {
  const Tensor all = losses(3) + 0.5 * weights_[0].pow(3).sum();
  expect_exact(all, curvature(all, weights_, what_));
}

TEST_F(DiagonalsBelowAnyLoss, OfTheHessianGoEntryByEntryWhereSamplesMeet) {
  const Tensor all = losses(3) * losses(3).exp().sum();
  const Curvature answers = curvature(all, weights_, CurvatureNeed::kTraceHessian);
  std::vector<Tensor> flat;
  for (const Tensor& part : torch::autograd::grad({all.mean()}, weights_, {}, true, true)) {
    flat.push_back(part.reshape({-1}));
  }
  expect_close(answers.total.trace_hessian,
               jacobian(at::cat(flat), weights_).diagonal().sum(),
               "trace of the Hessian",
               kCurvatureTolerance);
}

TEST(DiagonalsInPieces, TellHowFarTheyAre) {
  const Model model = make_model(model_named("relu_perceptron"));
  std::vector<int64_t> done, all;
  BatchOptions limits;
  limits.memory.stack_bytes = 1;  // one column at a time
  const Batch batch(model.losses, model.parameters, limits);
  CurvatureOptions options;
  options.on_columns = [&](int64_t count, int64_t columns) {
    done.push_back(count);
    all.push_back(columns);
  };
  static_cast<void>(curvature(batch, CurvatureNeed::kDiagGgn, options));
  ASSERT_FALSE(done.empty());
  for (size_t k = 0; k < done.size(); ++k) {
    EXPECT_EQ(done[k], static_cast<int64_t>(k) + 1);
    EXPECT_EQ(all[k], static_cast<int64_t>(done.size()));
  }
}

}  // namespace
}  // namespace flightdeck::tests
