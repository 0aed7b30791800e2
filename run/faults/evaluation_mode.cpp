// SPDX-License-Identifier: MIT
#include <vector>

#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {
namespace {

// A batch norm behind the first hidden layer, whose running averages move only while it trains.
class FirstNorm {
 public:
  explicit FirstNorm(const NetParts* parts) : parts_(parts) {}

  Tensor operator()(const Tensor& values) {
    const int64_t units = values.size(1);
    if (!mean_.defined()) {
      mean_ = torch::zeros({units});
      variance_ = torch::ones({units});
    }
    const bool is_training = parts_->is_training && !parts_->is_left_in_evaluation;
    return torch::batch_norm(values,
                             /*weight=*/{},
                             /*bias=*/{},
                             mean_,
                             variance_,
                             is_training,
                             /*momentum=*/0.1,
                             /*eps=*/1e-5,
                             /*cudnn_enabled=*/false);
  }

 private:
  const NetParts* parts_;
  Tensor mean_, variance_;
};

}  // namespace

Fault evaluation_mode() {
  Fault fault;
  fault.name = "evaluation_mode";
  fault.summary = "Batch norm uses running averages that nobody updates";
  fault.cause = "wrong_mode";
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0 && !training.is_text;
  };
  fault.inject = [](FaultyTraining& training, double) {
    training.parts->is_left_in_evaluation = true;
    // The parts own the function: a pointer to them, not a share.
    training.parts->between = [norm = FirstNorm(training.parts.get())](
                                  int64_t layer, const Tensor& values) mutable {
      return layer == 0 ? norm(values) : values;
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
