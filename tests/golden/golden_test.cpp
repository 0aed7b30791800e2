// SPDX-License-Identifier: MIT
// The engine against numbers of BackPACK on six recorded models; README.md beside this file says
// where the numbers come from and how their scaling differs from ours.
#include <fstream>
#include <functional>
#include <iterator>

#include "check_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

// One recorded case: its tensors by name.
class Recording {
 public:
  explicit Recording(const std::string& name) {
    const std::string path = std::string(FLIGHTDECK_TESTS_DIR) + "/golden/" + name + ".pt";
    std::ifstream file(path, std::ios::binary);
    TORCH_CHECK(file, "golden test: cannot read ", path);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    for (const auto& entry : torch::pickle_load(bytes).toGenericDict()) {
      if (entry.value().isTensor()) {
        tensors_.insert(entry.key().toStringRef(), entry.value().toTensor());
      }
    }
  }

  Tensor at(const std::string& name) const { return tensors_[name].to(test_device()); }
  Tensor of_parameter(const std::string& name, size_t index) const {
    return at(name + "/" + std::to_string(index));
  }

 private:
  torch::OrderedDict<std::string, Tensor> tensors_;
};

struct Case {
  const char* name;
  std::function<nn::Sequential()> model;
  bool is_regression;
};

void PrintTo(const Case& golden, std::ostream* stream) { *stream << golden.name; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"logreg", [] { return nn::Sequential(nn::Flatten(), nn::Linear(12, 4)); }, false},
      {"mlp_relu",
       [] {
         return nn::Sequential(
             nn::Linear(10, 9), nn::ReLU(), nn::Linear(9, 7), nn::ReLU(), nn::Linear(7, 4));
       },
       false},
      {"mlp_sigmoid",
       [] {
         return nn::Sequential(
             nn::Linear(10, 8), nn::Sigmoid(), nn::Linear(8, 6), nn::Sigmoid(), nn::Linear(6, 3));
       },
       false},
      {"cnn_relu",
       [] {
         return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 3, 3).padding(1)),
                               nn::ReLU(),
                               nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)),
                               nn::Conv2d(nn::Conv2dOptions(3, 4, 3)),
                               nn::ReLU(),
                               nn::Flatten(),
                               nn::Linear(16, 3));
       },
       false},
      {"cnn_deepobs_like",
       [] {
         return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 4, 3)),
                               nn::ReLU(),
                               nn::ZeroPad2d(nn::ZeroPad2dOptions({0, 1, 0, 1})),
                               nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2)),
                               nn::ZeroPad2d(nn::ZeroPad2dOptions(1)),
                               nn::Conv2d(nn::Conv2dOptions(4, 4, 3)),
                               nn::ReLU(),
                               nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2)),
                               nn::Flatten(),
                               nn::Linear(4, 5),
                               nn::ReLU(),
                               nn::Linear(5, 3));
       },
       false},
      {"linreg_mse", [] { return nn::Sequential(nn::Linear(6, 1)); }, true},
  };
  return all;
}

class GoldenCase : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    recording_ = std::make_unique<Recording>(GetParam().name);
    model_ = on_device(GetParam().model());
    torch::NoGradGuard guard;
    std::vector<Tensor> parameters = model_->parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor recorded = recording_->of_parameter("step0/param", i);
      ASSERT_EQ(parameters[i].sizes(), recorded.sizes());
      parameters[i].copy_(recorded);
    }
  }

  Tensor outputs() { return model_->forward(recording_->at("step0/x")); }

  Tensor losses() {
    const Tensor targets = recording_->at("step0/y");
    if (GetParam().is_regression) {
      return F::mse_loss(outputs(), targets, F::MSELossFuncOptions().reduction(torch::kNone))
          .flatten(1)
          .mean(1);
    }
    return F::cross_entropy(
        outputs(), targets, F::CrossEntropyFuncOptions().reduction(torch::kNone));
  }

  // The loss as the recorded systems took it: one number.
  Tensor mean_loss() {
    const Tensor targets = recording_->at("step0/y");
    return GetParam().is_regression ? F::mse_loss(outputs(), targets)
                                    : F::cross_entropy(outputs(), targets);
  }

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

  std::unique_ptr<Recording> recording_;
  nn::Sequential model_ = nullptr;
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
  GradientOptions options;
  options.batch_size = recording_->at("step0/x").size(0);
  expect_recorded(gradients(mean_loss(), model_->named_parameters(), recorded_needs(), options));
}

TEST_P(GoldenCase, MatchesForTheRecordedSubset) {
  const Tensor subset = recording_->at("sub_idx").to(at::kCPU, at::kLong).contiguous();
  GradientOptions options;
  options.samples.assign(subset.data_ptr<int64_t>(), subset.data_ptr<int64_t>() + subset.numel());
  const Gradients answers =
      gradients(losses(), model_->named_parameters(), Need::kIndividual, options);
  // Recorded with the 1/N of the whole batch.
  const double N = static_cast<double>(recording_->at("step0/x").size(0));
  for (size_t i = 0; i < answers.parameters.size(); ++i) {
    expect_close(answers.parameters[i].individual / N,
                 recording_->of_parameter("bp/grad_batch_sub", i),
                 answers.parameters[i].name);
  }
}

INSTANTIATE_TEST_SUITE_P(BackPack,
                         GoldenCase,
                         ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace flightdeck::tests
