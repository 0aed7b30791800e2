// SPDX-License-Identifier: MIT
// Quantities of individual gradients against explicit sums over samples and entries.
#include <cmath>

#include "quantities/watched_run.h"

namespace flightdeck::tests {
namespace {

double squared(const Tensor& vector) { return number(vector.square().sum()); }

// Unbiased variance per entry, one sample after the other.
Tensor variance(const Facts& facts) {
  Tensor sum = at::zeros_like(facts.mean());
  for (int64_t n = 0; n < facts.N(); ++n) sum += (facts.rows[n] - facts.mean()).square();
  return sum / static_cast<double>(facts.N() - 1);
}

// sum over samples of f(g_n), over N (N - 1)
template <typename Function>
double scatter(const Facts& facts, const Function& function) {
  double sum = 0;
  for (int64_t n = 0; n < facts.N(); ++n) sum += function(facts.rows[n]);
  return sum / static_cast<double>(facts.N() * (facts.N() - 1));
}

double norm_test(const Facts& facts) {
  const Tensor g = facts.mean();
  return std::sqrt(scatter(facts, [&](const Tensor& row) { return squared(row - g); }) /
                   squared(g));
}

double inner_test(const Facts& facts) {
  const Tensor g = facts.mean();
  return std::sqrt(scatter(
      facts, [&](const Tensor& row) { return std::pow(number(row.dot(g)) / squared(g) - 1, 2); }));
}

double ortho_test(const Facts& facts) {
  const Tensor g = facts.mean();
  return std::sqrt(scatter(facts, [&](const Tensor& row) {
    return squared(row - row.dot(g) / squared(g) * g) / squared(g);
  }));
}

double cabs(const Facts& facts) {
  const auto N = static_cast<double>(facts.N());
  return facts.rate * number(variance(facts).sum()) * (N - 1) / N / number(facts.losses.mean());
}

double early_stopping(const Facts& facts) {
  const Tensor ratios = facts.mean().square() / (variance(facts) + 1e-5);
  return 1 - static_cast<double>(facts.N()) / static_cast<double>(facts.D()) * number(ratios.sum());
}

double mean_gsnr(const Facts& facts) {
  const auto N = static_cast<double>(facts.N());
  const Tensor biased = variance(facts) * ((N - 1) / N);
  return number((facts.mean().square() / (biased + 1e-5)).mean());
}

double grad_noise_scale(const Facts& facts) {
  const double noise = number(variance(facts).sum());
  return noise / (squared(facts.mean()) - noise / static_cast<double>(facts.N()));
}

double grad_cosine(const Facts& facts) {
  double sum = 0, pairs = 0;
  for (int64_t n = 0; n < facts.N(); ++n) {
    for (int64_t m = 0; m < facts.N(); ++m) {
      const double lengths = number(facts.rows[n].norm() * facts.rows[m].norm());
      if (n == m || lengths == 0) continue;
      sum += number(facts.rows[n].dot(facts.rows[m])) / lengths;
      ++pairs;
    }
  }
  return sum / pairs;
}

double largest_over_median(const Facts& facts) {
  const Tensor norms = std::get<0>(facts.rows.norm(2, 1).sort());
  const int64_t N = facts.N();
  return number(norms[N - 1] / ((norms[N / 2] + norms[(N - 1) / 2]) / 2));
}

class GradientNoise : public RunTest {};

TEST_P(GradientNoise, LossIsTheMeanOfTheLosses) {
  const auto mean = [](const Facts& facts) { return number(facts.losses.mean()); };
  expect_textbook("loss", mean, /*has_groups=*/false);
}

TEST_P(GradientNoise, GradNormIsTheNormOfTheMean) {
  expect_textbook("grad_norm", [](const Facts& facts) { return number(facts.mean().norm()); });
}

TEST_P(GradientNoise, TestsAreTheTextbooks) {
  expect_textbook("norm_test", norm_test);
  expect_textbook("inner_test", inner_test);
}

// What is left when scatter along the mean is taken from all scatter: of gradients that are all
// parallel, rounding remains. Squares are compared, because the root magnifies it.
TEST_P(GradientNoise, OrthoTestIsTheTextbooks) {
  for (int64_t step = 0; step < WatchedRun::kSteps; ++step) {
    for (const auto& [group, entries] : run().entries) {
      const Facts facts = run().steps[step].within(entries);
      const double actual = run().sink->number(step, "ortho_test", group);
      const double expected = ortho_test(facts);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(actual)) << group;
        continue;
      }
      EXPECT_NEAR(actual * actual,
                  expected * expected,
                  1e-8 * expected * expected + 1e-12 * std::pow(norm_test(facts), 2))
          << group << " at step " << step;
    }
  }
}

TEST_P(GradientNoise, NormTestIsMadeOfInnerAndOrtho) {
  const MemorySink& sink = *run().sink;
  for (const auto& [group, entries] : run().entries) {
    const double norm = sink.number(0, "norm_test", group);
    const double inner = sink.number(0, "inner_test", group);
    const double ortho = sink.number(0, "ortho_test", group);
    expect_number(inner * inner + ortho * ortho, norm * norm, group);
  }
}

TEST_P(GradientNoise, CriteriaOfVarianceAreTheTextbooks) {
  expect_textbook("cabs", cabs);
  expect_textbook("early_stopping", early_stopping);
  expect_textbook("mean_gsnr", mean_gsnr);
}

TEST_P(GradientNoise, NoiseScaleIsTheTextbooks) {
  expect_textbook("grad_noise_scale", grad_noise_scale);
  const auto noise = [](const Facts& facts) { return number(variance(facts).sum()); };
  expect_textbook("grad_noise_scale", noise, true, false, "noise");
}

TEST_P(GradientNoise, CosineIsTheMeanOverPairs) { expect_textbook("grad_cosine", grad_cosine); }

TEST_P(GradientNoise, OutliersAreTheLargestNorms) {
  expect_textbook("sample_outliers", largest_over_median);
  const Facts& facts = run().steps[0];
  const auto listed = static_cast<size_t>(std::min<int64_t>(facts.N(), 5));
  const Reading* samples = run().sink->find(0, "sample_outliers", "", "samples");
  const Reading* norms = run().sink->find(0, "sample_outliers", "", "norms");
  ASSERT_NE(samples, nullptr);
  ASSERT_NE(norms, nullptr);
  ASSERT_EQ(samples->list.size(), listed);
  ASSERT_EQ(norms->list.size(), listed);
  const Tensor sorted = std::get<0>(facts.rows.norm(2, 1).sort(0, /*descending=*/true));
  for (size_t k = 0; k < listed; ++k) {
    expect_number(norms->list[k], number(sorted[static_cast<int64_t>(k)]), "norm");
    const auto n = static_cast<int64_t>(samples->list[k]);
    expect_number(norms->list[k], number(facts.rows[n].norm()), "norm of the listed sample");
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, GradientNoise, ::testing::ValuesIn(run_cases()), name_of_run);

// ---- degenerate batches -------------------------------------------------------------------------

// Two samples of one linear unit with squared loss: gradients are known by hand.
std::shared_ptr<MemorySink> watch_line(const Tensor& inputs, const Tensor& targets) {
  const Tensor weight = at::ones({1}, doubles()).requires_grad_();
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(ParameterList().add("weight", weight),
                  {quantity("norm_test"),
                   quantity("inner_test"),
                   quantity("ortho_test"),
                   quantity("early_stopping"),
                   quantity("mean_gsnr"),
                   quantity("grad_noise_scale"),
                   quantity("grad_cosine"),
                   quantity("sample_outliers"),
                   quantity("cabs")},
                  options);
  auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  StepOptions told;
  told.learning_rate = 0.5;
  const Tensor losses = (weight * inputs - targets).square() / 2;
  StepWatch watch = cockpit.watch(0, losses, told);
  losses.mean().backward();
  watch.end();
  cockpit.finish();
  return sink;
}

TEST(DegenerateBatch, OfOneHasNothingToSayAboutScatter) {
  const auto sink = watch_line(at::full({1}, 2.0, doubles()), at::full({1}, 1.0, doubles()));
  for (const char* name : {"norm_test",
                           "inner_test",
                           "ortho_test",
                           "early_stopping",
                           "mean_gsnr",
                           "grad_noise_scale",
                           "grad_cosine"}) {
    EXPECT_EQ(sink->find(0, name), nullptr) << name;
    bool is_told = false;
    for (const Note& note : sink->notes()) {
      is_told |= note.quantity == name && note.kind == NoteKind::kRemark &&
                 note.text.find("two samples") != std::string::npos;
    }
    EXPECT_TRUE(is_told) << name;
  }
  EXPECT_EQ(sink->number(0, "cabs"), 0);
  EXPECT_EQ(sink->number(0, "sample_outliers"), 1);
}

TEST(DegenerateBatch, OfEqualSamplesHasNoNoise) {
  const auto sink = watch_line(at::full({4}, 2.0, doubles()), at::full({4}, 1.0, doubles()));
  EXPECT_EQ(sink->number(0, "norm_test"), 0);
  EXPECT_EQ(sink->number(0, "inner_test"), 0);
  EXPECT_EQ(sink->number(0, "ortho_test"), 0);
  EXPECT_EQ(sink->number(0, "grad_noise_scale"), 0);
  EXPECT_NEAR(sink->number(0, "grad_cosine"), 1, 1e-12);
  // g = (2 - 1) 2 = 2 without variance: 1 - 4 g²/1e-5 and g²/1e-5.
  expect_number(sink->number(0, "early_stopping"), 1 - 4 * 4 / 1e-5, "early_stopping");
  expect_number(sink->number(0, "mean_gsnr"), 4 / 1e-5, "mean_gsnr");
}

TEST(DegenerateBatch, WhoseGradientsCancelIsAllNoise) {
  const auto sink = watch_line(at::tensor({1.0, 1.0}, at::kDouble).to(test_device()),
                               at::tensor({0.0, 2.0}, at::kDouble).to(test_device()));
  EXPECT_EQ(sink->number(0, "norm_test"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(sink->number(0, "early_stopping"), 1);
  EXPECT_EQ(sink->number(0, "mean_gsnr"), 0);
  EXPECT_NEAR(sink->number(0, "grad_cosine"), -1, 1e-12);
  // Variance 2 over the two samples: signal 0 - 2/2.
  EXPECT_NEAR(sink->number(0, "grad_noise_scale"), -2, 1e-12);
  // Rate 0.5, biased variance 1, mean loss 1/2.
  EXPECT_NEAR(sink->number(0, "cabs"), 1, 1e-12);
}

TEST(DegenerateBatch, AtAMinimumHasNoDirection) {
  const auto sink = watch_line(at::ones({3}, doubles()), at::ones({3}, doubles()));
  EXPECT_TRUE(std::isnan(sink->number(0, "norm_test")));
  EXPECT_TRUE(std::isnan(sink->number(0, "inner_test")));
  EXPECT_TRUE(std::isnan(sink->number(0, "grad_cosine")));
  EXPECT_EQ(sink->number(0, "early_stopping"), 1);
  EXPECT_EQ(sink->number(0, "mean_gsnr"), 0);
}

}  // namespace
}  // namespace flightdeck::tests
