// SPDX-License-Identifier: MIT
// The engine against numbers of BackPACK on six recorded models; README.md beside this file says
// where the numbers come from and how their scaling differs from ours.
#include "check_model.h"
#include "golden/recording.h"

namespace flightdeck::tests {
namespace {

class GoldenCase : public RecordedCase {
 protected:
  void expect_recorded(const Gradients& answers) const {
    const double N = static_cast<double>(answers.batch_size);
    for (size_t i = 0; i < answers.parameters.size(); ++i) {
      const ParameterGradients& answer = answers.parameters[i];
      const auto expect = [&](const char* name, const Tensor& converted) {
        expect_close(converted, recording_->of_parameter(name, i), name + (" of " + answer.name));
      };
      expect("bp/grad", answer.mean);
      expect("bp/grad_batch", answer.individual / N);
      expect("bp/batch_l2", answer.norms.square() / (N * N));
      expect("bp/sum_grad_squared", answer.second_moment / N);
      expect("bp/variance", answer.variance / (N * N));
      expect("bp/batch_dot", answer.gram / (N * N));
    }
  }

  static Needs recorded_needs() {
    return Need::kMean | Need::kIndividual | Need::kNorms | Need::kSecondMoment | Need::kVariance |
           Need::kGram;
  }
};

TEST_P(GoldenCase, IsRebuiltWithTheRecordedLosses) {
  expect_close(outputs(), recording_->at("step0/output"), "outputs");
  expect_close(losses(), recording_->at("step0/individual_losses"), "losses");
  expect_close(mean_loss(), recording_->at("step0/loss"), "loss");
}

TEST_P(GoldenCase, MatchesThroughItsOwnBackward) {
  expect_recorded(gradients(losses(), model_->named_parameters(), recorded_needs()));
}

TEST_P(GoldenCase, MatchesThroughAWatch) {
  const Tensor watched = losses();
  Watch watch(watched, model_->named_parameters(), recorded_needs());
  watched.mean().backward();
  expect_recorded(watch.finish());
  const std::vector<Tensor> accumulated = gradients_of(model_->named_parameters());
  for (size_t i = 0; i < accumulated.size(); ++i) {
    expect_close(accumulated[i], recording_->of_parameter("bp/grad", i), ".grad");
  }
}

TEST_P(GoldenCase, MatchesForEachNeedAlone) {
  Gradients together;
  const Parameters parameters = model_->named_parameters();
  together.parameters.resize(parameters.size());
  const std::vector<std::pair<Need, Tensor ParameterGradients::*>> fields = {
      {Need::kMean, &ParameterGradients::mean},
      {Need::kIndividual, &ParameterGradients::individual},
      {Need::kNorms, &ParameterGradients::norms},
      {Need::kSecondMoment, &ParameterGradients::second_moment},
      {Need::kVariance, &ParameterGradients::variance},
      {Need::kGram, &ParameterGradients::gram}};
  for (const auto& [need, field] : fields) {
    const Gradients answers = gradients(losses(), parameters, need);
    together.batch_size = answers.batch_size;
    for (size_t i = 0; i < parameters.size(); ++i) {
      together.parameters[i].*field = answers.parameters[i].*field;
    }
  }
  expect_recorded(together);
}

TEST_P(GoldenCase, MatchesFromTheScalarLoss) {
  BatchOptions options;
  options.batch_size = batch_size();
  const Batch batch(mean_loss(), model_->named_parameters(), options);
  expect_recorded(gradients(batch, recorded_needs()));
}

TEST_P(GoldenCase, MatchesForTheRecordedSubset) {
  const Batch batch(losses(), model_->named_parameters());
  const Gradients answers = gradients(batch.of(recording_->samples("sub_idx")), Need::kIndividual);
  // Recorded with the 1/N of the whole batch.
  const double N = static_cast<double>(batch_size());
  for (size_t i = 0; i < answers.parameters.size(); ++i) {
    expect_close(answers.parameters[i].individual / N,
                 recording_->of_parameter("bp/grad_batch_sub", i),
                 answers.parameters[i].name);
  }
}

TEST_P(GoldenCase, CountsTheRecordedHistograms) {
  GradientOptions options;
  options.histograms = {Bins()};
  options.joint_histograms = {JointBins()};
  const Tensor watched = losses();
  Watch watch(watched, model_->named_parameters(), {}, options);
  watched.mean().backward();
  const Gradients answers = watch.finish();
  // Recorded with entries outside the range in the first and last bin.
  const Tensor raw = answers.total.histograms[0];
  Tensor clamped = raw.slice(0, 1, -2).clone();
  clamped[0] += raw[0];
  clamped[-1] += raw[-2];
  EXPECT_TRUE(clamped.equal(recording_->at("ck/step0/GradHist1d/hist").to(at::kLong)));
  EXPECT_TRUE(answers.total.joint_histograms[0].equal(
      recording_->at("ck/step0/GradHist2d/hist").to(at::kLong)));
  for (size_t i = 0; i < answers.parameters.size(); ++i) {
    const std::string name = "ck/step0/GradHist2d/param_" + std::to_string(i) + "/hist";
    EXPECT_TRUE(answers.parameters[i].joint_histograms[0].equal(recording_->at(name).to(at::kLong)))
        << answers.parameters[i].name;
  }
}

TEST_P(GoldenCase, HasTheRecordedArrivedNorms) {
  const Tensor watched = losses();
  Watch watch(watched, model_->named_parameters(), Need::kArrivedNorm);
  watched.mean().backward();
  expect_close(watch.finish().concatenated(&ParameterGradients::arrived_norm),
               recording_->at("ck/step0/GradNorm"),
               "arrived norms");
}

INSTANTIATE_TEST_SUITE_P(BackPack,
                         GoldenCase,
                         ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace flightdeck::tests
