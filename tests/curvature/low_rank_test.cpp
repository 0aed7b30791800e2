// SPDX-License-Identifier: MIT
// What the low rank of the GGN gives away cheaply, against dense matrices: eigenpairs by any
// criterion, damped inverses, damping from noise, and the factor itself.
#include "curvature/models.h"
#include "errors.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

Tensor joined(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) flat.push_back(part.flatten(1));
  return at::cat(flat, 1);
}

Tensor eye(int64_t size) { return at::eye(size, doubles()); }

// Of some entries, of the chosen samples.
Tensor dense_ggn(const DenseCurvature& dense,
                 const std::vector<int64_t>& samples,
                 const Parameters& parameters,
                 const std::vector<size_t>& group) {
  const Tensor entries = entries_of_group(parameters, group);
  return dense.select(samples).ggn().index_select(0, entries).index_select(1, entries);
}

std::vector<size_t> all_of(const Parameters& parameters) {
  std::vector<size_t> all(parameters.size());
  for (size_t p = 0; p < all.size(); ++p) all[p] = p;
  return all;
}

// ---- inverse ------------------------------------------------------------------------------------

class LowRankOfModel : public ModelTest {
 protected:
  void expect_inverse(const VivitOptions& options, const BatchOptions& said = {}) const {
    const Vivit vivit(Batch(losses(), parameters(), said), options);
    auto groups = options.groups;
    if (groups.empty()) groups = {all_of(parameters())};
    for (size_t group = 0; group < groups.size(); ++group) {
      const Tensor ggn = dense_ggn(dense(), said.samples, parameters(), groups[group]);
      const int64_t D = ggn.size(0);
      for (double damping : {1e-2, 3.0}) {
        const auto inverse = vivit.inverse(damping, group);
        ASSERT_EQ(inverse->dim(), D);
        for (int64_t count : {1, 4}) {
          const Tensor vectors = random({count, D});
          expect_close(inverse->multiply(vectors),
                       at::linalg_solve(ggn + damping * eye(D), vectors.t()).t(),
                       "inverse times vectors",
                       kCurvatureTolerance);
        }
      }
    }
  }
};

TEST_P(LowRankOfModel, InverseIsThatOfTheDampedGgn) { expect_inverse({}); }

TEST_P(LowRankOfModel, InverseOfSomeSamplesIsThatOfTheirGgn) {
  BatchOptions said;
  said.samples = some_samples();
  VivitOptions options;
  options.gradients = false;
  expect_inverse(options, said);
}

TEST_P(LowRankOfModel, InverseOfEachParameterAloneIsThatOfItsBlock) {
  VivitOptions options;
  options.groups = each_alone(parameters());
  expect_inverse(options);
}

TEST_P(LowRankOfModel, InverseIsTheSameWhenNothingIsKept) {
  BatchOptions said;
  said.memory.keep_bytes = 0;
  said.memory.stack_bytes = 1;
  said.memory.scratch_bytes = 1;
  expect_inverse({}, said);
}

TEST_P(LowRankOfModel, InverseTimesMinusTheGradientIsTheNewtonStep) {
  const Vivit vivit(losses(), parameters());
  const auto ggn = curvature_operator(losses(), parameters(), CurvatureKind::kGgn);
  std::vector<Tensor> step;
  for (const Tensor& part : vivit.newton_step(at::full({1}, 0.3, doubles()), -1, true)) {
    step.push_back(part.flatten());
  }
  expect_close(vivit.inverse(0.3)->multiply(-ggn->gradient().unsqueeze(0)).squeeze(0),
               at::cat(step),
               "step",
               kCurvatureTolerance);
}

// ---- eigenpairs by a criterion ------------------------------------------------------------------

TEST_P(LowRankOfModel, DirectionsOfAnyCriterionAreThoseOfAll) {
  const Vivit vivit(losses(), parameters());
  const Tensor values = vivit.eigenvalues();
  const int64_t count = (values > 1e-5 * values.max()).sum().item<int64_t>();
  const double low = values[count - 1].item<double>(), high = values[count / 2].item<double>();
  std::vector<int64_t> upper, odd;
  for (int64_t k = 0; k < count; ++k) {
    const double value = values[k].item<double>();
    if (value >= low && value <= high) upper.push_back(k);
    if (k % 2 == 1) odd.insert(odd.begin(), k);
  }
  std::vector<std::pair<Directions, std::vector<int64_t>>> cases;
  cases.emplace_back(Directions::at(odd), odd);
  cases.emplace_back(Directions::within(low, high), upper);
  cases.emplace_back(Directions::where([=](double v) { return v >= low && v <= high; }), upper);
  const Tensor vectors = joined(vivit.eigenvectors(count));
  for (const auto& [which, positions] : cases) {
    const Tensor index = at::tensor(positions, at::kLong).to(values.device());
    const Tensor own = vectors.index_select(0, index);
    expect_close(joined(vivit.eigenvectors(which)), own, "eigenvectors", kCurvatureTolerance);
    expect_close(vivit.gammas(which), dense().gradients.matmul(own.t()), "gammas", 1e-6);
    expect_close(vivit.lambdas(which),
                 at::einsum("kd,nde,ke->nk", {own, dense().ggns(), own}),
                 "lambdas",
                 kCurvatureTolerance);
    if (positions.empty()) continue;
    std::vector<Tensor> step;
    for (const Tensor& part : vivit.newton_step(at::full({1}, 0.1, doubles()), which)) {
      step.push_back(part.flatten());
    }
    const Tensor along = own.mv(dense().gradient()) / (values.index_select(0, index) + 0.1);
    expect_close(at::cat(step), -along.matmul(own), "Newton step", 1e-6);
  }
}

TEST_P(LowRankOfModel, StepsTakeADampingForEachDirectionAndOneForTheRest) {
  const Vivit vivit(losses(), parameters());
  const Tensor values = vivit.eigenvalues();
  const int64_t count = (values > 1e-3 * values.max()).sum().item<int64_t>();
  const Tensor vectors = joined(vivit.eigenvectors(count));
  const Tensor damping = at::linspace(0.05, 1.0, count + 1, doubles());
  const Tensor gradient = dense().gradient(), gammas = vectors.mv(gradient);
  const Tensor along = gammas / (values.slice(0, 0, count) + damping.slice(0, 0, count));
  const Tensor rest = (gradient - gammas.matmul(vectors)) / damping[count];
  std::vector<Tensor> step;
  for (const Tensor& part : vivit.newton_step(damping, count, /*trivial=*/true)) {
    step.push_back(part.flatten());
  }
  expect_close(at::cat(step), -(along.matmul(vectors) + rest), "Newton step", kCurvatureTolerance);
}

// ---- the factor ---------------------------------------------------------------------------------

Tensor joined_factor(const std::vector<ParameterFactor>& factors) {
  std::vector<Tensor> flat;
  for (const ParameterFactor& each : factors) flat.push_back(each.factor.flatten(2));
  return at::cat(flat, 2);  // [K, S, D]
}

TEST_P(LowRankOfModel, FactorTimesItselfIsTheGgn) {
  for (const std::vector<int64_t>& samples : {std::vector<int64_t>(), some_samples()}) {
    for (int64_t stack_bytes : {int64_t{1}, int64_t{1} << 29}) {
      BatchOptions said;
      said.samples = samples;
      said.memory.stack_bytes = stack_bytes;
      const auto factors = ggn_factor(Batch(losses(), parameters(), said));
      ASSERT_EQ(factors.size(), parameters().size());
      for (size_t p = 0; p < factors.size(); ++p) {
        EXPECT_EQ(factors[p].name, parameters()[p].name);
        EXPECT_EQ(factors[p].factor.sizes().slice(2), parameters()[p].tensor.sizes());
      }
      const Tensor V = joined_factor(factors);
      const DenseCurvature of_samples = dense().select(samples);
      expect_close(at::einsum("knd,kne->nde", {V, V}),
                   of_samples.ggns(),
                   "columns of each sample",
                   kCurvatureTolerance);
      const Tensor backpack = V / std::sqrt(double(V.size(1)));
      expect_close(at::einsum("knd,kne->de", {backpack, backpack}),
                   of_samples.ggn(),
                   "with BackPACK's scaling",
                   kCurvatureTolerance);
    }
  }
}

TEST_P(LowRankOfModel, FactorHasTheGramMatrixOfVivit) {
  for (LossColumns columns : {LossColumns::kExact, LossColumns::kSampled}) {
    GgnFactorOptions asked;
    VivitOptions options;
    asked.columns = options.columns = columns;
    asked.mc_samples = options.mc_samples = 3;
    asked.seed = options.seed = 5;
    const Batch batch(losses(), parameters());
    const Tensor V = joined_factor(ggn_factor(batch, asked)).flatten(0, 1);
    const double N = static_cast<double>(batch_size());
    expect_close(
        Vivit(batch, options).gram(), V.matmul(V.t()) / N, "Gram matrix", kCurvatureTolerance);
  }
}

TEST_P(LowRankOfModel, SampledFactorTimesItselfIsTheGgnInTheMean) {
  // As for diagonals from as many draws.
  GgnFactorOptions asked;
  asked.columns = LossColumns::kSampled;
  asked.mc_samples = 300;
  const Tensor V = joined_factor(ggn_factor(Batch(losses(), parameters()), asked));
  const double trace = dense().ggn().trace().item<double>();
  EXPECT_NEAR(V.square().sum().item<double>() / double(batch_size()), trace, 0.2 * trace);
}

INSTANTIATE_TEST_SUITE_P(Models, LowRankOfModel, ::testing::ValuesIn(models()), name_of_model);

// ---- the rest -----------------------------------------------------------------------------------

class LowRankOfPerceptron : public SeededTest {
 protected:
  Model model_ = make_model(model_named("sigmoid_perceptron"));
  Vivit vivit_{model_.losses, model_.parameters};
};

TEST_F(LowRankOfPerceptron, NamesDirectionsThatAreNotThere) {
  const std::string rank = std::to_string(vivit_.rank());
  expect_error(
      [&] {
        return vivit_.eigenvectors(Directions::at({0, vivit_.rank()}));
      },
      {rank, "count from 0"});
  expect_error([&] { return vivit_.eigenvectors(Directions::at({-1})); }, {"-1", rank});
  expect_error([&] { return vivit_.gammas(Directions::at({1, 0, 1})); }, {"1", "twice"});
  expect_error([&] { return Directions::within(2, 1); }, {"2", "1", "lower end"});
  EXPECT_EQ(vivit_.gammas(Directions::within(1e9, 1e10)).size(1), 0);
}

TEST_F(LowRankOfPerceptron, InverseNamesWhatItCannotTake) {
  expect_error([&] { return vivit_.inverse(0.0); }, {"damping", "positive"});
  expect_error([&] { return vivit_.inverse(1.0, 7); }, {"group 7", "1"});
  expect_error(
      [&] {
        return vivit_.inverse(1.0)->multiply(at::ones({1, 3}, doubles()));
      },
      {"[1, 3]", "D = "});
  expect_error([&] { return vivit_.newton_step(at::ones({2}, doubles()), 3, /*trivial=*/true); },
               {"2 entries", "3 directions", "one for the rest"});
}

TEST_F(LowRankOfPerceptron, InverseOutlivesItsVivitAndPreconditions) {
  const auto ggn = curvature_operator(model_.losses, model_.parameters, CurvatureKind::kGgn);
  const auto inverse = Vivit(model_.losses, model_.parameters).inverse(1e-3);
  const DampedOperator damped(*ggn, 1e-3);
  SolveOptions options;
  options.preconditioner = inverse.get();
  const Solution solution = conjugate_gradients(damped, random({2, ggn->dim()}), options);
  EXPECT_TRUE(solution.all_converged());
  for (int64_t iterations : solution.iterations) EXPECT_LE(iterations, 2);
}

// ---- damping from noise -------------------------------------------------------------------------

TEST(NoiseDamping, IsTheFormulaWrittenOut) {
  const std::vector<std::vector<double>> gamma = {{1.0, -2.0}, {3.0, 0.5}, {0.5, 0.25}};
  const std::vector<std::vector<double>> lambda = {{4.0, 0.1}, {2.0, 0.3}};
  const auto mean_and_variance = [](const std::vector<std::vector<double>>& lines, size_t k) {
    double mean = 0, squares = 0;
    for (const auto& line : lines) mean += line[k] / double(lines.size());
    for (const auto& line : lines) squares += (line[k] - mean) * (line[k] - mean);
    return std::make_pair(mean, squares / double(lines.size() - 1) / double(lines.size()));
  };
  const auto tensor = [](const std::vector<std::vector<double>>& lines) {
    std::vector<Tensor> all;
    for (const auto& line : lines) all.push_back(at::tensor(line, at::kDouble));
    return at::stack(all);
  };
  NoiseDampingOptions options;
  options.damping = 0.7;
  options.caution = 2;
  const Tensor actual = noise_damping(tensor(gamma), tensor(lambda), options);
  for (size_t k = 0; k < 2; ++k) {
    const auto [slope, slope_noise] = mean_and_variance(gamma, k);
    const auto [curvature, curvature_noise] = mean_and_variance(lambda, k);
    EXPECT_NEAR(actual[int64_t(k)].item<double>(),
                0.7 + curvature * slope_noise / (slope * slope) + 2 * std::sqrt(curvature_noise),
                1e-12);
  }
}

// The expected loss of the quadratic model after a step of `factor` Newton steps, when the slope
// that is seen is the true one with this noise.
double expected_loss(double slope, double curvature, double noise, double factor) {
  double total = 0;
  for (double error : {-std::sqrt(noise), std::sqrt(noise)}) {  // mean 0, variance `noise`
    const double step = -factor * (slope + error) / curvature;
    total += (slope * step + 0.5 * curvature * step * step) / 2;
  }
  return total;
}

TEST(NoiseDamping, GivesTheStepOfLeastExpectedLoss) {
  torch::manual_seed(3);
  const Tensor gammas = at::randn({8, 5}, at::kDouble) + 0.5;
  const Tensor lambdas = at::rand({8, 5}, at::kDouble) + 0.1;
  NoiseDampingOptions options;
  options.caution = 0;
  const Tensor damping = noise_damping(gammas, lambdas, options);
  for (int64_t k = 0; k < 5; ++k) {
    const double slope = gammas.mean(0)[k].item<double>();
    const double curvature = lambdas.mean(0)[k].item<double>();
    const double noise = gammas.var(0, true)[k].item<double>() / 8;
    const double own = curvature / (curvature + damping[k].item<double>());
    const double reached = expected_loss(slope, curvature, noise, own);
    for (double factor = 0; factor <= 1.0; factor += 0.01) {
      EXPECT_LE(reached, expected_loss(slope, curvature, noise, factor) + 1e-12);
    }
  }
}

TEST(NoiseDamping, IsNothingWithoutNoiseAndEndlessWithoutSlope) {
  NoiseDampingOptions options;
  const Tensor same = at::ones({3, 1}, at::kDouble);
  EXPECT_EQ(noise_damping(same, same, options).item<double>(), 0.0);
  EXPECT_EQ(noise_damping(same * 0, same, options).item<double>(), 0.0);
  const Tensor cancels = at::tensor({-1.0, 0.0, 1.0}, at::kDouble).unsqueeze(1);
  EXPECT_TRUE(std::isinf(noise_damping(cancels, same, options).item<double>()));
}

TEST(NoiseDamping, NamesWhatItCannotTake) {
  const Tensor two = at::ones({4, 2}, at::kDouble), one = at::ones({1, 2}, at::kDouble);
  expect_error([&] { return noise_damping(two, two.slice(1, 1)); }, {"[4, 2]", "[4, 1]"});
  expect_error([&] { return noise_damping(one, two); }, {"gammas", "[1, 2]", "two samples"});
  NoiseDampingOptions options;
  options.caution = -1;
  expect_error([&] { return noise_damping(two, two, options); }, {"caution", "-1"});
}

}  // namespace
}  // namespace flightdeck::tests
