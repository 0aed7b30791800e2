// SPDX-License-Identifier: MIT
// Histograms of individual gradients: counts through the passes equal those of the written-out
// rows.
#include "rows/histogram.h"

#include "errors.h"
#include "passes/small_models.h"

namespace flightdeck::tests {
namespace {

class Histograms : public SmallModelTest {
 protected:
  void SetUp() override {
    SmallModelTest::SetUp();
    options_.histograms = {Bins{}, Bins{0.05, 0.7, 13}};
    options_.joint_histograms = {JointBins{}, JointBins{{-0.1, 0.3, 7}, {-0.2, 0.1, 4}}};
  }

  static Tensor joint_counts(const Tensor& rows, const Tensor& values, const JointBins& bins) {
    Tensor counts = at::zeros({bins.gradients.count, bins.parameters.count}, at::kLong);
    const auto bin = [](const Tensor& entries, const Bins& b) {
      return bin_index(entries.clamp(b.low, b.high), b).cpu();
    };
    const Tensor row_bins = bin(rows.reshape({rows.size(0), -1}), bins.gradients);
    const Tensor value_bins = bin(values.detach().reshape({-1}), bins.parameters);
    const auto row_bin = row_bins.accessor<int64_t, 2>();
    const auto value_bin = value_bins.accessor<int64_t, 1>();
    auto count = counts.accessor<int64_t, 2>();
    for (int64_t n = 0; n < row_bins.size(0); ++n) {
      for (int64_t i = 0; i < row_bins.size(1); ++i) ++count[row_bin[n][i]][value_bin[i]];
    }
    return counts;
  }

  void expect_counts(const Gradients& answers, const Gradients& rows) {
    std::vector<Tensor> totals(options_.histograms.size()), joint(options_.joint_histograms.size());
    const auto expect = [](const Tensor& actual, const Tensor& counts, Tensor& total) {
      EXPECT_EQ(actual.scalar_type(), at::kLong);
      EXPECT_TRUE(actual.cpu().equal(counts)) << actual.cpu() - counts;
      total = total.defined() ? total + counts : counts;
    };
    for (size_t p = 0; p < answers.parameters.size(); ++p) {
      SCOPED_TRACE(answers.parameters[p].name);
      const Tensor& individual = rows.parameters[p].individual;
      const ParameterGradients& answer = answers.parameters[p];
      ASSERT_EQ(answer.histograms.size(), totals.size());
      for (size_t k = 0; k < totals.size(); ++k) {
        const Tensor counts = count_into_bins(individual, options_.histograms[k]).cpu();
        expect(answer.histograms[k], counts, totals[k]);
      }
      ASSERT_EQ(answer.joint_histograms.size(), joint.size());
      for (size_t k = 0; k < joint.size(); ++k) {
        const Tensor counts =
            joint_counts(individual, parameters()[p].tensor, options_.joint_histograms[k]);
        expect(answer.joint_histograms[k], counts, joint[k]);
      }
    }
    for (size_t k = 0; k < totals.size(); ++k) {
      EXPECT_TRUE(answers.total.histograms[k].cpu().equal(totals[k]));
    }
    for (size_t k = 0; k < joint.size(); ++k) {
      EXPECT_TRUE(answers.total.joint_histograms[k].cpu().equal(joint[k]));
    }
  }

  Gradients rows() const { return gradients(batch(), Need::kIndividual); }

  Batch batch() const { return {losses(), parameters(), said_}; }

  BatchOptions said_;
  GradientOptions options_;
};

TEST_P(Histograms, CountEveryEntryOfEveryRow) {
  expect_counts(gradients(losses(), parameters(), {}, options_), rows());
  said_.memory.scratch_bytes = 256;
  expect_counts(gradients(batch(), {}, options_), rows());
}

TEST_P(Histograms, CountTheSameBesideOtherAnswers) {
  const Needs what = Need::kNorms | Need::kMeanDots | Need::kVariance;
  expect_counts(gradients(losses(), parameters(), what, options_), rows());
  expect_counts(gradients(losses(), parameters(), what | Need::kIndividual, options_), rows());
}

TEST_P(Histograms, CountTheChosenSamples) {
  said_.samples = {losses().size(0) - 1};
  expect_counts(gradients(batch(), {}, options_), rows());
}

TEST_P(Histograms, CountRowsWithoutTheFactorOfTheReduction) {
  const std::vector<std::function<Tensor(const Tensor&)>> reductions = {
      [](const Tensor& l) { return l.mean(); },
      [](const Tensor& l) { return l.sum(); },
      [](const Tensor& l) { return l.mean() * 1024.0; },
      [this](const Tensor& l) { return (l * weights()).sum(); }};
  for (const auto& reduce : reductions) {
    const Tensor watched = losses();
    Watch watch(watched, parameters(), Need::kNorms, options_);
    reduce(watched).backward();
    const Gradients answers = watch.finish();
    const Gradients expected = gradients(losses(), parameters(), Need::kNorms);
    expect_counts(answers, rows());
    EXPECT_TRUE(at::allclose(answers.total.norms, expected.total.norms));
  }
}

TEST_P(Histograms, LeaveTheGradientAsItIs) {
  losses().mean().backward();
  const std::vector<Tensor> unwatched = gradients_of(parameters());
  clear_gradients(parameters());
  options_.keep_rows = true;
  const Tensor watched = losses();
  Watch watch(watched,
              parameters(),
              Need::kArrivedNorm | Need::kMeanDots | Need::kNorms | Need::kVariance,
              options_);
  watched.mean().backward();
  const Gradients answers = watch.finish();
  EXPECT_TRUE(identical(gradients_of(parameters()), unwatched));
}

TEST_P(Histograms, CountNaNApart) {
  Tensor bad = at::ones({losses().size(0)}, doubles());
  bad[0] = std::numeric_limits<double>::quiet_NaN();
  const Gradients answers = gradients(losses() * bad, parameters(), {}, options_);
  const Tensor counts = answers.total.histograms[0].cpu();
  const int64_t all = counts.sum().item<int64_t>(),
                joint = answers.total.joint_histograms[0].sum().item<int64_t>();
  const int64_t not_a_number = counts[-1].item<int64_t>();
  EXPECT_GT(not_a_number, 0);
  EXPECT_EQ(joint, all - not_a_number);
}

FLIGHTDECK_WITH_SMALL_MODELS(Histograms);

TEST(HistogramOptions, RefuseBinsThatHoldNothing) {
  const Tensor weight = random_parameter({3});
  for (const Bins& bins : {Bins{1, 1, 5}, Bins{2, -2, 5}, Bins{-1, 1, 0}, Bins{-INFINITY, 1, 5}}) {
    GradientOptions options;
    options.histograms = {bins};
    EXPECT_THROW(
        static_cast<void>(gradients(losses_of(random({2, 3}) * weight), {{weight}}, {}, options)),
        c10::ValueError);
    options.histograms.clear();
    options.joint_histograms = {JointBins{bins, Bins()}};
    EXPECT_THROW(
        static_cast<void>(gradients(losses_of(random({2, 3}) * weight), {{weight}}, {}, options)),
        c10::ValueError);
  }
}

}  // namespace
}  // namespace flightdeck::tests
