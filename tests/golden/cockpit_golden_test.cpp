// SPDX-License-Identifier: MIT
// Quantities against the numbers of the reference Cockpit: the recorded trajectories are walked
// through under a watch. README.md beside this file tells its formulas.
#include <cmath>
#include <memory>

#include "flightdeck/cockpit.h"
#include "golden/recording.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

namespace F = torch::nn::functional;

// Recorded numbers were checked to about 1e-9.
constexpr double kRecorded = 1e-8;
constexpr int64_t kSteps = 4;  // recorded; the last one has no update

class RecordedRun : public RecordedCase {
 protected:
  // Moves through the recorded parameters "<run>/step<k>/param/<i>" with the recorded batches.
  std::shared_ptr<MemorySink> walk(const std::string& run, std::vector<Quantity> quantities) {
    CockpitOptions options;
    options.strict = true;
    options.grouping = Grouping::by_parameter();
    Cockpit cockpit(model_->named_parameters(), std::move(quantities), options);
    auto sink = std::make_shared<MemorySink>();
    cockpit.add_sink(sink);
    StepOptions told;
    told.learning_rate = learning_rate();
    for (int64_t step = 0; step < kSteps; ++step) {
      move_to(run, step);
      const Tensor losses = losses_at(step);
      StepWatch watch = cockpit.watch(step, losses, told);
      losses.mean().backward();
      watch.end();
    }
    cockpit.finish();
    return sink;
  }

  void move_to(const std::string& run, int64_t step) {
    const torch::NoGradGuard guard;
    std::vector<Tensor> parameters = model_->parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].copy_(
          recording_->of_parameter(run + "step" + std::to_string(step) + "/param", i));
    }
    model_->zero_grad();
  }

  Tensor losses_at(int64_t step) {
    const std::string prefix = "step" + std::to_string(step) + "/";
    const Tensor outputs = model_->forward(recording_->at(prefix + "x"));
    const Tensor targets = recording_->at(prefix + "y");
    if (GetParam().is_regression) {
      return F::mse_loss(outputs, targets, F::MSELossFuncOptions().reduction(torch::kNone))
          .flatten(1)
          .mean(1);
    }
    return F::cross_entropy(outputs, targets, F::CrossEntropyFuncOptions().reduction(torch::kNone));
  }

  // Plain gradient descent: the rate is what leads from the first parameters to the second.
  double learning_rate() const {
    const Tensor gradient = recording_->of_parameter("step0/grad", 0);
    const Tensor step =
        recording_->of_parameter("step0/param", 0) - recording_->of_parameter("step1/param", 0);
    return ((step * gradient).sum() / gradient.square().sum()).item<double>();
  }

  // "ck/step<k>/<name>", one number.
  double recorded(const std::string& run, int64_t step, const std::string& name) const {
    return recording_->at(run + "/step" + std::to_string(step) + "/" + name).item<double>();
  }

  // One number per parameter.
  void expect_per_parameter(const MemorySink& sink,
                            int64_t step,
                            const std::string& quantity,
                            const std::string& recorded) const {
    const Tensor expected = recording_->at("ck/step" + std::to_string(step) + "/" + recorded);
    const auto names = model_->named_parameters().keys();
    const double scale = expected.abs().max().item<double>();
    for (size_t i = 0; i < names.size(); ++i) {
      EXPECT_NEAR(sink.number(step, quantity, names[i]),
                  expected[static_cast<int64_t>(i)].item<double>(),
                  kRecorded * scale)
          << quantity << " of " << names[i] << " at step " << step;
    }
  }

  static void expect_relative(double actual, double expected, const std::string& what) {
    EXPECT_NEAR(actual, expected, kRecorded * std::abs(expected)) << what;
  }

  // The reference has entries outside the range in the end bins.
  static Tensor clamped_counts(const Reading& reading) {
    std::vector<int64_t> counts = reading.counts;
    counts.front() += reading.below;
    counts.back() += reading.above;
    return at::tensor(counts, at::kLong);
  }

  void expect_histogram(const Reading* reading, const std::string& recorded) const {
    ASSERT_NE(reading, nullptr) << recorded;
    ASSERT_EQ(reading->axes.size(), 1u);
    expect_edges(reading->axes[0], recorded + "/edges");
    const Tensor expected = recording_->at(recorded + "/hist").to(at::kCPU, at::kLong);
    EXPECT_TRUE(at::equal(clamped_counts(*reading), expected)) << recorded;
  }

  void expect_joint_histogram(const Reading* reading, const std::string& recorded) const {
    ASSERT_NE(reading, nullptr) << recorded;
    ASSERT_EQ(reading->axes.size(), 2u);
    expect_edges(reading->axes[0], recorded + "/edges_grad");
    expect_edges(reading->axes[1], recorded + "/edges_param");
    expect_counts(*reading, recorded + "/hist");
  }

  void expect_counts(const Reading& reading, const std::string& recorded) const {
    const Tensor expected = recording_->at(recorded).to(at::kCPU, at::kLong);
    EXPECT_TRUE(at::equal(at::tensor(reading.counts, at::kLong), expected.flatten())) << recorded;
  }

  void expect_edges(const ReadingAxis& axis, const std::string& recorded) const {
    const Tensor expected = recording_->at(recorded).to(at::kCPU, at::kDouble);
    EXPECT_EQ(axis.count, expected.numel() - 1) << recorded;
    EXPECT_NEAR(axis.low, expected[0].item<double>(), 1e-12 * std::abs(axis.low)) << recorded;
    EXPECT_NEAR(axis.high, expected[-1].item<double>(), 1e-12 * std::abs(axis.high)) << recorded;
  }
};

TEST_P(RecordedRun, HasTheReferencesNumbers) {
  const Settings ggn = {{"curvature", "ggn"}};
  const auto sink = walk("",
                         {quantity("loss"),
                          quantity("norm_test"),
                          quantity("inner_test"),
                          quantity("ortho_test"),
                          quantity("cabs"),
                          quantity("early_stopping"),
                          quantity("mean_gsnr"),
                          quantity("tic_diag"),
                          quantity("tic_trace"),
                          quantity("tic_diag", ggn).named("tic_diag_ggn"),
                          quantity("tic_trace", ggn).named("tic_trace_ggn")});
  const std::vector<std::pair<const char*, const char*>> numbers = {
      {"loss", "Loss"},
      {"norm_test", "NormTest"},
      {"inner_test", "InnerTest"},
      {"ortho_test", "OrthoTest"},
      {"cabs", "CABS"},
      {"early_stopping", "EarlyStopping"},
      {"mean_gsnr", "MeanGSNR"},
      {"tic_diag", "TICDiag"},
      {"tic_trace", "TICTrace"},
      {"tic_diag_ggn", "TICDiag_ggn"},
      {"tic_trace_ggn", "TICTrace_ggn"}};
  for (int64_t step = 0; step < kSteps - 1; ++step) {
    for (const auto& [ours, theirs] : numbers) {
      expect_relative(sink->number(step, ours),
                      recorded("ck", step, theirs),
                      ours + (" at step " + std::to_string(step)));
    }
  }
}

TEST_P(RecordedRun, HasTheReferencesNumbersPerParameter) {
  const auto sink = walk("",
                         {quantity("distance"),
                          quantity("update_size"),
                          quantity("grad_norm"),
                          quantity("hess_trace"),
                          quantity("hess_trace", {{"curvature", "ggn"}}).named("hess_trace_ggn")});
  for (int64_t step = 0; step < kSteps - 1; ++step) {
    expect_per_parameter(*sink, step, "distance", "Distance");
    expect_per_parameter(*sink, step, "update_size", "UpdateSize");
    expect_per_parameter(*sink, step, "grad_norm", "GradNorm");
    expect_per_parameter(*sink, step, "hess_trace", "HessTrace");
    expect_per_parameter(*sink, step, "hess_trace_ggn", "HessTrace_ggn");
  }
}

TEST_P(RecordedRun, HasTheReferencesAlphas) {
  const std::vector<std::pair<std::string, std::string>> runs = {
      {"ck", ""}, {"ck_momentum", "ck_momentum/"}, {"ck_adam", "ck_adam/"}};
  for (const auto& [name, folder] : runs) {
    const auto sink = walk(folder, {quantity("alpha"), quantity("distance")});
    for (int64_t step = 0; step < kSteps - 1; ++step) {
      expect_relative(sink->number(step, "alpha"),
                      recorded(name, step, "Alpha"),
                      name + " at step " + std::to_string(step));
    }
  }
}

TEST_P(RecordedRun, FitsTheRecordedObservations) {
  for (int64_t step = 0; step < kSteps - 1; ++step) {
    const auto observed = [&](const char* name) {
      return recording_->at("ck/step" + std::to_string(step) + "/alpha_fit/" + name)
          .to(at::kCPU, at::kDouble)
          .flatten();
    };
    ChordView line;
    line.length = observed("t")[-1].item<double>();
    for (int end : {0, 1}) {
      line.loss[end] = observed("f")[end].item<double>();
      line.slope[end] = observed("df")[end].item<double>();
      line.loss_variance[end] = observed("var_f")[end].item<double>();
      line.slope_variance[end] = observed("var_df")[end].item<double>();
    }
    const Value value = quantity("alpha").functions().after_next(line);
    expect_relative(value.fields().at(0).data.item<double>(),
                    recorded("ck", step, "Alpha"),
                    "alpha at step " + std::to_string(step));
  }
}

TEST_P(RecordedRun, HasTheLargestEigenvalueOfTheDenseHessian) {
  const auto sink = walk("",
                         {quantity("hess_max_ev", {{"tolerance", 1e-10}}),
                          quantity("hess_max_ev").named("by_default")});
  for (int64_t step = 0; step < kSteps - 1; ++step) {
    const double largest =
        recording_->at("dense/step" + std::to_string(step) + "/hessian_eigvals")[-1].item<double>();
    expect_relative(sink->number(step, "hess_max_ev"), largest, "to many digits");
    EXPECT_NEAR(sink->number(step, "by_default"), largest, 1e-3 * std::abs(largest));
  }
}

TEST_P(RecordedRun, HasTheReferencesHistograms) {
  const auto sink = walk("", {quantity("grad_hist_1d"), quantity("grad_hist_2d")});
  for (int64_t step = 0; step < kSteps - 1; ++step) {
    const std::string folder = "ck/step" + std::to_string(step);
    expect_histogram(sink->find(step, "grad_hist_1d"), folder + "/GradHist1d");
    expect_joint_histogram(sink->find(step, "grad_hist_2d"), folder + "/GradHist2d");
  }
  const auto names = model_->named_parameters().keys();
  for (size_t i = 0; i < names.size(); ++i) {
    const Reading* reading = sink->find(0, "grad_hist_2d", names[i]);
    ASSERT_NE(reading, nullptr);
    expect_counts(*reading, "ck/step0/GradHist2d/param_" + std::to_string(i) + "/hist");
  }
}

TEST_P(RecordedRun, HasTheReferencesAdaptedHistograms) {
  const auto sink = walk(
      "",
      {quantity(
           "grad_hist_1d",
           {{"bins", 20}, {"low", -0.5}, {"high", 0.5}, {"adapt", "gradients"}, {"padding", 0.1}}),
       quantity("grad_hist_2d",
                {{"gradient_bins", 12},
                 {"gradient_low", -0.5},
                 {"gradient_high", 0.5},
                 {"parameter_bins", 10},
                 {"parameter_low", -0.5},
                 {"parameter_high", 0.5},
                 {"adapt", "both"},
                 {"parameter_padding", 0.1}})});
  for (int64_t step = 0; step < kSteps - 1; ++step) {
    const std::string folder = "ck_adapt/step" + std::to_string(step);
    expect_histogram(sink->find(step, "grad_hist_1d"), folder + "/GradHist1d");
    expect_joint_histogram(sink->find(step, "grad_hist_2d"), folder + "/GradHist2d");
  }
}

INSTANTIATE_TEST_SUITE_P(Cockpit,
                         RecordedRun,
                         ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace flightdeck::tests
