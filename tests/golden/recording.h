// SPDX-License-Identifier: MIT
// The recorded cases: their tensors by name, and their models rebuilt with the recorded parameters.
// README.md beside this file says where the numbers come from.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tensors.h"

namespace flightdeck::tests {

// One recorded case: its tensors by name.
class Recording {
 public:
  explicit Recording(const std::string& name);

  Tensor at(const std::string& name) const;
  Tensor of_parameter(const std::string& name, size_t index) const;
  // The same of all parameters, flattened and concatenated: [D], or [N, D] if `is_stack`.
  Tensor concatenated(const std::string& name, size_t count, bool is_stack = false) const;
  // A recorded list of sample numbers.
  std::vector<int64_t> samples(const std::string& name) const;

 private:
  torch::OrderedDict<std::string, Tensor> tensors_;
};

struct Case {
  const char* name;
  std::function<torch::nn::Sequential()> model;
  bool is_regression;
};

void PrintTo(const Case& golden, std::ostream* stream);

// The six models that were recorded.
const std::vector<Case>& cases();

// A test of one case. The model has the parameters of the recorded run's first step.
class RecordedCase : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override;

  int64_t batch_size() const;
  Tensor inputs() const;
  Tensor outputs();
  Tensor losses_of_outputs(const Tensor& outputs) const;
  Tensor losses() { return losses_of_outputs(outputs()); }
  // The loss as the recorded systems took it: one number.
  Tensor mean_loss();

  std::unique_ptr<Recording> recording_;
  torch::nn::Sequential model_ = nullptr;
};

}  // namespace flightdeck::tests
