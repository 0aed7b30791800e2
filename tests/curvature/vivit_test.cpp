// SPDX-License-Identifier: MIT
// The low-rank view of the GGN against the dense matrix: spectrum, eigenvectors, per-sample
// derivatives along them and Newton steps, for every model of the table.
#include "curvature/complex_models.h"
#include "curvature/models.h"
#include "errors.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

// Eigenvalues below this fraction of the largest have eigenvectors that the Gram matrix gives with
// less than ten digits; the tests compare those above.
constexpr double kWellConditioned = 1e-5;

// Descending eigenvalues, filled up with zeros.
Tensor padded(const Tensor& values, int64_t length) {
  return at::cat({values, at::zeros({length - values.numel()}, values.options())});
}

// The two spectra are equal but for zeros.
void expect_spectrum(const Tensor& actual, const Tensor& matrix, const std::string& what) {
  const int64_t length = std::max(actual.numel(), matrix.size(0));
  expect_close(padded(actual, length),
               padded(at::linalg_eigvalsh(matrix).flip(0), length),
               what,
               kCurvatureTolerance);
}

// Parts [V, *shape] (or [*shape] each) of a group as lines of one matrix [V, D_group].
Tensor joined(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.flatten(1));
  return at::cat(flat, 1);
}
Tensor joined_step(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.flatten());
  return at::cat(flat);
}

int64_t well_conditioned(const Vivit& vivit, size_t group = 0) {
  const Tensor values = vivit.eigenvalues(group);
  return (values > kWellConditioned * values.max()).sum().item<int64_t>();
}

// What belongs to one group of parameters, from the dense oracle.
struct GroupOracle {
  Tensor ggn;        // [D, D]
  Tensor ggns;       // [N_ggn, D, D]
  Tensor gradients;  // [N, D]
};

GroupOracle of_group(const DenseCurvature& dense,
                     const std::vector<int64_t>& samples,
                     const VivitOptions& options,
                     const Parameters& parameters,
                     const std::vector<size_t>& group) {
  const Tensor entries = entries_of_group(parameters, group);
  const Tensor ggns =
      dense.select(samples).ggns().index_select(1, entries).index_select(2, entries);
  const Tensor gradients =
      dense.select(options.gradient_samples).gradients.index_select(1, entries);
  return {ggns.mean(0), ggns, gradients};
}

void expect_eigenvectors(const Vivit& vivit, const GroupOracle& oracle, size_t group) {
  const int64_t count = well_conditioned(vivit, group);
  const Tensor vectors = joined(vivit.eigenvectors(count, group));  // [count, D]
  const Tensor values = vivit.eigenvalues(group).slice(0, 0, count);
  expect_close(vectors.matmul(vectors.t()),
               at::eye(count, values.options()),
               "inner products of eigenvectors",
               kCurvatureTolerance);
  expect_close(vectors.matmul(oracle.ggn),
               values.unsqueeze(1) * vectors,
               "GGN times eigenvectors",
               kCurvatureTolerance);
}

// The signs of eigenvectors are arbitrary; the magnitudes of what lies along them are not.
void expect_derivatives(const Vivit& vivit, const GroupOracle& oracle, size_t group) {
  const int64_t count = well_conditioned(vivit, group);
  const Tensor vectors = joined(vivit.eigenvectors(count, group));
  expect_close(vivit.gammas(count, group).abs(),
               oracle.gradients.matmul(vectors.t()).abs(),
               "gammas",
               kCurvatureTolerance);
  const Tensor lambdas = vivit.lambdas(count, group);
  expect_close(lambdas,
               at::einsum("kd,nde,ke->nk", {vectors, oracle.ggns, vectors}),
               "lambdas",
               kCurvatureTolerance);
  expect_close(lambdas.mean(0),
               vivit.eigenvalues(group).slice(0, 0, count),
               "means of lambdas",
               kCurvatureTolerance);
  expect_close(vivit.gammas(count, group).mean(0).abs(),
               vectors.mv(oracle.gradients.mean(0)).abs(),
               "means of gammas",
               kCurvatureTolerance);
}

// -sum_k gamma_k / (lambda_k + damping_k) e_k. The e_k are those of the answers: where eigenvalues
// coincide and dampings do not, the step depends on which were chosen.
Tensor step_along(const Tensor& vectors, const GroupOracle& oracle, const Tensor& damping) {
  const Tensor lambdas = (vectors.matmul(oracle.ggn) * vectors).sum(1);
  const Tensor gammas = vectors.mv(oracle.gradients.mean(0));
  return -(gammas / (lambdas + damping)).unsqueeze(0).matmul(vectors).squeeze(0);
}

Tensor damped_solution(const GroupOracle& oracle, double damping) {
  const Tensor damped = oracle.ggn + damping * at::eye(oracle.ggn.size(0), oracle.ggn.options());
  return -at::linalg_solve(damped, oracle.gradients.mean(0));
}

void expect_steps(const Vivit& vivit, const GroupOracle& oracle, size_t group) {
  const int64_t count = well_conditioned(vivit, group);
  const Tensor vectors = joined(vivit.eigenvectors(count, group));
  const Tensor one = at::full({1}, 0.1, doubles());
  const Tensor each = at::linspace(0.05, 1.0, count, doubles());
  for (const Tensor& damping : {one, each}) {
    expect_close(joined_step(vivit.newton_step(damping, count, false, group)),
                 step_along(vectors, oracle, damping),
                 "Newton step",
                 kCurvatureTolerance);
  }
  expect_close(joined_step(vivit.newton_step(one, -1, true, group)),
               damped_solution(oracle, 0.1),
               "Newton step with the trivial directions",
               kCurvatureTolerance);
}

class VivitOfModel : public ModelTest {
 protected:
  Vivit make(const VivitOptions& options = {}) const {
    return Vivit(losses(), parameters(), options);
  }

  std::vector<std::vector<size_t>> groups_of(const VivitOptions& options) const {
    if (!options.groups.empty()) return options.groups;
    std::vector<size_t> all(parameters().size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    return {all};
  }

  // Everything there is to ask, held against the dense GGN.
  void expect_dense(const VivitOptions& options, const BatchOptions& said = {}) const {
    const Vivit vivit(Batch(losses(), parameters(), said), options);
    const std::vector<std::vector<size_t>> groups = groups_of(options);
    ASSERT_EQ(vivit.groups(), groups.size());
    for (size_t group = 0; group < groups.size(); ++group) {
      SCOPED_TRACE(group);
      const GroupOracle oracle =
          of_group(dense(), said.samples, options, parameters(), groups[group]);
      // A bias that the softmax of attention cancels has nothing but rounding.
      if (oracle.ggn.abs().max().item<double>() < 1e-24) continue;
      expect_spectrum(vivit.gram_eigenvalues(group), oracle.ggn, "spectrum");
      expect_spectrum(vivit.gram_eigenvalues(group), vivit.gram(group), "Gram spectrum");
      expect_close(vivit.gradient_gram(group),
                   oracle.gradients.matmul(oracle.gradients.t()),
                   "Gram matrix of gradients",
                   kCurvatureTolerance);
      EXPECT_EQ(vivit.rank(group), vivit.eigenvalues(group).numel());
      expect_spectrum(vivit.eigenvalues(group), oracle.ggn, "nontrivial eigenvalues");
      expect_eigenvectors(vivit, oracle, group);
      expect_derivatives(vivit, oracle, group);
      expect_steps(vivit, oracle, group);
    }
  }
};

TEST_P(VivitOfModel, HasTheStructureOfTheDenseGgn) { expect_dense({}); }

TEST_P(VivitOfModel, OfSomeSamplesHasTheStructureOfTheirGgn) {
  BatchOptions said;
  said.samples = some_samples();
  expect_dense({}, said);
}

TEST_P(VivitOfModel, TakesGradientsOfOtherSamples) {
  BatchOptions said;
  said.samples = some_samples();
  VivitOptions options;
  options.gradient_samples = {1, 2, 0};
  expect_dense(options, said);
}

TEST_P(VivitOfModel, OfEachParameterAloneHasTheStructureOfTheBlocks) {
  VivitOptions options;
  options.groups = each_alone(parameters());
  expect_dense(options);
}

TEST_P(VivitOfModel, LeavesOutParametersThatAreInNoGroup) {
  VivitOptions options;
  options.groups = {{parameters().size() - 1, 0}};
  expect_dense(options);
}

TEST_P(VivitOfModel, IsTheSameWhenNothingIsKept) {
  BatchOptions said;
  said.memory.keep_bytes = 0;
  said.memory.stack_bytes = 1;
  said.memory.scratch_bytes = 1;
  expect_dense({}, said);
}

TEST_P(VivitOfModel, IsTheSameWithTheOutputsNamed) {
  BatchOptions said;
  said.outputs = model_.outputs;
  expect_dense({}, said);
}

TEST_P(VivitOfModel, OfSampledGradientsIsConsistentAndKeepsTheTrace) {
  // As for diagonals from as many draws.
  constexpr double kOfTrace = 0.2;
  constexpr int64_t M = 200;
  VivitOptions options;
  options.columns = LossColumns::kSampled;
  options.mc_samples = M;
  const Vivit vivit = make(options);
  EXPECT_EQ(vivit.gram().size(0), M * batch_size());
  EXPECT_LE(vivit.rank(), std::min(M * batch_size(), entries_of(parameters())));
  const double trace = dense().ggn().trace().item<double>();
  EXPECT_NEAR(vivit.eigenvalues().sum().item<double>(), trace, kOfTrace * trace);

  const int64_t count = std::min<int64_t>(3, well_conditioned(vivit));
  const Tensor vectors = joined(vivit.eigenvectors(count));
  expect_close(vectors.matmul(vectors.t()),
               at::eye(count, doubles()),
               "inner products of eigenvectors",
               kCurvatureTolerance);
  expect_close(vivit.lambdas(count).mean(0),
               vivit.eigenvalues().slice(0, 0, count),
               "means of lambdas",
               kCurvatureTolerance);
  expect_close(vivit.gammas(count).abs(),
               dense().gradients.matmul(vectors.t()).abs(),
               "gammas",
               kCurvatureTolerance);
}

TEST_P(VivitOfModel, OfFewSampledGradientsHasAsManyDirectionsAtMost) {
  VivitOptions options;
  options.columns = LossColumns::kSampled;
  const Vivit first = make(options);
  EXPECT_LE(first.rank(), batch_size());
  EXPECT_TRUE(identical(make(options).gram(), first.gram())) << "the seed is the same";
  // Few labels of few samples may be drawn alike once.
  bool differs = false;
  for (options.seed = 1; options.seed <= 8 && !differs; ++options.seed) {
    differs = !identical(make(options).gram(), first.gram());
  }
  EXPECT_TRUE(differs) << "the seed is another";
}

TEST_P(VivitOfModel, RefusesMoreDirectionsThanThereAre) {
  const Vivit vivit = make();
  const int64_t count = vivit.rank() + 1;
  const std::vector<std::string> words = {std::to_string(count), std::to_string(vivit.rank())};
  expect_mentions(error_of([&] { return vivit.eigenvectors(count); }), words);
  expect_mentions(error_of([&] { return vivit.gammas(count); }), words);
  expect_mentions(error_of([&] { return vivit.lambdas(count); }), words);
  const Tensor damping = at::ones({1}, doubles());
  expect_mentions(error_of([&] { return vivit.newton_step(damping, count); }), words);
}

TEST_P(VivitOfModel, LeavesTheModelAsItWas) {
  clear_gradients(parameters());
  const Tensor state = generator_state();
  VivitOptions options;
  options.columns = LossColumns::kSampled;
  options.mc_samples = 2;
  static_cast<void>(make(options).eigenvectors(1));
  EXPECT_TRUE(at::equal(generator_state(), state));
  for (const Tensor& gradient : gradients_of(parameters())) EXPECT_FALSE(gradient.defined());
  EXPECT_NO_THROW(losses().mean().backward());
}

INSTANTIATE_TEST_SUITE_P(Models, VivitOfModel, ::testing::ValuesIn(models()), name_of_model);
INSTANTIATE_TEST_SUITE_P(ComplexModels,
                         VivitOfModel,
                         ::testing::ValuesIn(complex_models()),
                         name_of_model);

// ---- the rest
// ------------------------------------------------------------------------------------

class VivitOfPerceptron : public SeededTest {
 protected:
  Model model_ = make_model(model_named("sigmoid_perceptron"));
};

TEST_F(VivitOfPerceptron, MayBeMoved) {
  Vivit first(model_.losses, model_.parameters);
  const Tensor values = first.eigenvalues();
  Vivit second = std::move(first);
  EXPECT_TRUE(identical(second.eigenvalues(), values));
}

TEST_F(VivitOfPerceptron, HasTheLeadingDirectionFirst) {
  const Vivit vivit(model_.losses, model_.parameters);
  const Tensor values = vivit.gram_eigenvalues();
  EXPECT_TRUE(identical(values, std::get<0>(values.sort(0, /*descending=*/true))));
  EXPECT_TRUE(identical(vivit.eigenvalues(), values.slice(0, 0, vivit.rank())));
  const auto ggn = curvature_operator(model_.losses, model_.parameters, CurvatureKind::kGgn);
  const Tensor leading = joined(vivit.eigenvectors(1));
  expect_close((ggn->multiply(leading) * leading).sum(), values[0], "largest eigenvalue");
}

TEST_F(VivitOfPerceptron, CountsEigenvaluesAboveTheGivenFraction) {
  const Tensor all = Vivit(model_.losses, model_.parameters).gram_eigenvalues();
  const double largest = all.max().item<double>();
  VivitOptions options;
  for (double fraction : {0.5, 0.1, 1e-3}) {
    options.rank_tolerance = fraction;
    const Vivit vivit(model_.losses, model_.parameters, options);
    EXPECT_EQ(vivit.rank(), (all > fraction * largest).sum().item<int64_t>()) << fraction;
  }
}

TEST_F(VivitOfPerceptron, HasItsSpectrumWithoutGradients) {
  VivitOptions options;
  options.gradients = false;
  const Vivit vivit(model_.losses, model_.parameters, options);
  expect_close(vivit.eigenvalues(),
               Vivit(model_.losses, model_.parameters).eigenvalues(),
               "eigenvalues",
               kCurvatureTolerance);
  expect_mentions(error_of([&] { return vivit.gammas(1); }), {"gradients"});
}

TEST_F(VivitOfPerceptron, NumbersGramLinesByColumnAndThenSample) {
  const Vivit vivit(model_.losses, model_.parameters);
  const DenseCurvature dense = dense_curvature(model_.losses, model_.outputs, model_.parameters);
  const int64_t N = dense.batch_size();
  // However the loss Hessian was factored, the columns of sample n make up its GGN: with the Gram
  // matrix as [K, N, K, N], the squares over both columns are <G_n, G_m> / N².
  const Tensor gram = vivit.gram().view({-1, N, vivit.gram().size(0) / N, N});
  const Tensor ggns = dense.ggns().flatten(1) / static_cast<double>(N);
  expect_close(gram.square().sum(at::IntArrayRef({0, 2})),
               ggns.matmul(ggns.t()),
               "inner products of the samples' GGNs",
               kCurvatureTolerance);
}

TEST_F(VivitOfPerceptron, DividesSquaredMeanByUnbiasedVariance) {
  const Tensor values = random({6, 3});
  expect_close(Vivit::signal_to_noise(values),
               values.mean(0).square() / values.var(0, /*unbiased=*/true),
               "signal to noise");
}

TEST_F(VivitOfPerceptron, TakesAScalarLoss) {
  const Tensor values = Vivit(model_.losses, model_.parameters).eigenvalues();
  BatchOptions options;
  options.batch_size = model_.losses.size(0);
  for (Reduction reduction : {Reduction::kMean, Reduction::kSum}) {
    options.reduction = reduction;
    const bool is_mean = reduction == Reduction::kMean;
    const Tensor loss = is_mean ? model_.losses.mean() : model_.losses.sum();
    const Vivit vivit(Batch(loss, model_.parameters, options));
    expect_close(vivit.eigenvalues(), values, "eigenvalues", kCurvatureTolerance);
  }
}

}  // namespace
}  // namespace flightdeck::tests
