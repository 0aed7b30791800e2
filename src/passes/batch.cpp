// SPDX-License-Identifier: MIT
#include "flightdeck/batch.h"

#include <mutex>
#include <utility>

#include "passes/capture.h"
#include "passes/scalar_reading.h"

namespace flightdeck {

// Holds what all copies of a batch share.
class Batch::State {
 public:
  State(Tensor losses, Parameters parameters)
      : losses_(std::move(losses)), parameters_(std::move(parameters)) {}

  const Tensor& losses() const { return losses_; }
  const Parameters& parameters() const { return parameters_; }

  std::shared_ptr<const Capture> capture(const CaptureOptions& options) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!capture_) {
      capture_ = std::make_shared<const Capture>(capture_graph(losses_, parameters_, options));
    }
    return capture_;
  }

 private:
  Tensor losses_;
  Parameters parameters_;
  std::mutex mutex_;
  std::shared_ptr<const Capture> capture_;
};

Batch::Batch(const Tensor& losses, const Parameters& parameters, BatchOptions options)
    : state_(std::make_shared<State>(losses, parameters)), options_(std::move(options)) {
  if (options_.batch_size != 0 || !losses.defined() || losses.dim() != 0 || !losses.grad_fn()) {
    return;
  }
  const ScalarReading reading = read_scalar(losses);
  options_.batch_size = reading.batch_size;
  if (reading.batch_size > 0) options_.reduction = reading.reduction;
}

Batch Batch::of(std::vector<int64_t> samples) const {
  Batch chosen = *this;
  chosen.options_.samples = std::move(samples);
  return chosen;
}

const Tensor& Batch::losses() const { return state_->losses(); }
const Parameters& Batch::parameters() const { return state_->parameters(); }

int64_t Batch::size() const {
  return options_.batch_size > 0 ? options_.batch_size : losses().numel();
}

bool Batch::is_scalar() const { return losses().dim() == 0 || losses().size(0) != size(); }

std::shared_ptr<const Capture> capture_of(const Batch& batch) {
  const BatchOptions& options = batch.options_;
  return batch.state_->capture({options.batch_size, options.reduction, options.shared_terms});
}

}  // namespace flightdeck
