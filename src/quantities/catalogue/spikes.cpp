// SPDX-License-Identifier: MIT
// How far loss, gradient and update leave what they were over the last steps, in units of their
// usual scatter, and which samples have the largest losses then.
#include <algorithm>
#include <deque>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

constexpr size_t kFewest = 8;  // values that have a usual scatter

Tensor middle(const Tensor& values) {  // [n] -> []
  const Tensor sorted = std::get<0>(values.sort());
  const int64_t n = sorted.numel();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

// Holds the last values of one series; they stay on their device.
class Window {
 public:
  explicit Window(int64_t size) : size_(static_cast<size_t>(size)) {}

  // Returns (x - median) / (1.4826 median |x_i - median|) over those before; undefined if they are
  // few.
  Tensor score(const Tensor& value) {
    const Tensor x = value.detach().to(at::kDouble).reshape({});
    Tensor score;
    if (values_.size() >= kFewest) {
      for (Tensor& one : values_) one = one.to(x.device());
      const Tensor all = at::stack(std::vector<Tensor>(values_.begin(), values_.end()));
      const Tensor median = middle(all);
      // 1.4826 makes it the standard deviation of normal values.
      const Tensor scatter = 1.4826 * middle((all - median).abs());
      score = at::where(x == median, at::zeros_like(x), (x - median) / scatter);
    }
    values_.push_back(x);
    if (values_.size() > size_) values_.pop_front();
    return score;
  }

  void save(std::vector<double>& numbers) const {
    numbers.push_back(static_cast<double>(values_.size()));
    for (const Tensor& value : values_) numbers.push_back(value.item<double>());
  }
  void load(const std::vector<double>& numbers, size_t& next) {
    values_.clear();
    const auto count = static_cast<size_t>(numbers.at(next++));
    for (size_t k = 0; k < count; ++k) {
      values_.push_back(at::scalar_tensor(numbers.at(next++), at::kDouble));
    }
  }

 private:
  size_t size_;
  std::deque<Tensor> values_;
};

// Adds the samples with the largest losses, as far as losses of samples are known.
void add_samples(Value& value, const StepView& step, int64_t count) {
  Tensor losses;
  try {
    losses = step.losses().to(at::kDouble);
  } catch (const c10::Error&) {
    return;  // a scalar that cannot be taken apart
  }
  const auto [sorted, order] = losses.sort(0, /*descending=*/true);
  const int64_t listed = std::min(count, losses.numel());
  const Tensor places = order.slice(0, 0, listed);
  value.with_list("samples", places.to(at::kDouble));
  value.with_list("losses", sorted.slice(0, 0, listed));
  if (step.sample_ids().defined()) {
    const Tensor ids = step.sample_ids().to(places.device());
    value.with_list("ids", ids.index_select(0, places).to(at::kDouble));
  }
}

struct Windows {
  explicit Windows(int64_t size) : loss(size), gradient(size), update(size) {}
  Window loss, gradient, update;
};

}  // namespace

Quantity spikes(Settings& settings) {
  const int64_t window = settings.integer("window", 64, "steps that a value is held against", 8);
  const int64_t count = settings.integer("count", 5, "how many samples are listed", 1);
  return Quantity("spikes")
      .summary("Loss against the last steps, in units of their scatter; gradient and update too")
      .reference("(x - median) / (1.4826 MAD) over a window; beyond the papers")
      .needs(Need::kArrivedNorm)
      .make([window, count] {
        const auto state = std::make_shared<Windows>(window);
        Quantity::Functions functions;
        functions.compute = [state, count](const StepView& step) {
          const Tensor loss = state->loss.score(step.loss());
          const Tensor gradient = state->gradient.score(step.gradients().total.arrived_norm);
          Value value;
          if (loss.defined()) value = Value(loss);
          if (gradient.defined()) value.with("grad_norm", gradient);
          add_samples(value, step, count);
          return value;
        };
        functions.after_update = [state](const UpdateView& update) {
          const Tensor score = state->update.score(update.squared_update()[0].sqrt());
          Value value;
          if (score.defined()) value.with("update", score);
          return value;
        };
        functions.save = [state] {
          std::vector<double> numbers;
          for (const Window* one : {&state->loss, &state->gradient, &state->update}) {
            one->save(numbers);
          }
          return numbers;
        };
        functions.load = [state](const std::vector<double>& numbers) {
          size_t next = 0;
          for (Window* one : {&state->loss, &state->gradient, &state->update}) {
            one->load(numbers, next);
          }
        };
        return functions;
      });
}

}  // namespace flightdeck::quantities
