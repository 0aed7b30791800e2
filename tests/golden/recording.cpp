// SPDX-License-Identifier: MIT
#include "golden/recording.h"

#include <fstream>
#include <iterator>

namespace flightdeck::tests {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

Recording::Recording(const std::string& name) {
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

Tensor Recording::at(const std::string& name) const { return tensors_[name].to(test_device()); }

Tensor Recording::of_parameter(const std::string& name, size_t index) const {
  return at(name + "/" + std::to_string(index));
}

Tensor Recording::concatenated(const std::string& name, size_t count, bool is_stack) const {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < count; ++i) {
    const Tensor part = of_parameter(name, i);
    parts.push_back(is_stack ? part.flatten(1) : part.flatten());
  }
  return at::cat(parts, -1);
}

std::vector<int64_t> Recording::samples(const std::string& name) const {
  const Tensor numbers = at(name).to(at::kCPU, at::kLong).contiguous();
  const int64_t* first = numbers.data_ptr<int64_t>();
  return {first, first + numbers.numel()};
}

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

void RecordedCase::SetUp() {
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

int64_t RecordedCase::batch_size() const { return inputs().size(0); }

Tensor RecordedCase::inputs() const { return recording_->at("step0/x"); }

Tensor RecordedCase::outputs() { return model_->forward(inputs()); }

Tensor RecordedCase::losses_of_outputs(const Tensor& outputs) const {
  const Tensor targets = recording_->at("step0/y");
  if (GetParam().is_regression) {
    return F::mse_loss(outputs, targets, F::MSELossFuncOptions().reduction(torch::kNone))
        .flatten(1)
        .mean(1);
  }
  return F::cross_entropy(outputs, targets, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

Tensor RecordedCase::mean_loss() {
  const Tensor targets = recording_->at("step0/y");
  return GetParam().is_regression ? F::mse_loss(outputs(), targets)
                                  : F::cross_entropy(outputs(), targets);
}

}  // namespace flightdeck::tests
