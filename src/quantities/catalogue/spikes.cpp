// SPDX-License-Identifier: MIT
// How far loss, gradient and update leave what they were over the last steps, in units of their
// usual scatter, and which samples have the largest losses then.
#include <algorithm>
#include <deque>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/group_sums.h"

namespace flightdeck::quantities {
namespace {

constexpr size_t kFewest = 8;  // values that have a usual scatter

Tensor middle(const Tensor& values) {  // [n, G] -> [G]
  const Tensor sorted = std::get<0>(values.sort(0));
  const int64_t n = sorted.size(0);
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

// Holds the last values [G] of one series for each group; they stay on their device.
class Window {
 public:
  explicit Window(int64_t size) : size_(static_cast<size_t>(size)) {}

  // Returns (x - median) / (1.4826 median |x_i - median|) over those before; undefined if they are
  // few.
  Tensor score(const Tensor& value) {
    const Tensor x = value.detach().to(at::kDouble).reshape({-1});
    Tensor score;
    // Those of a checkpoint may be of other groups.
    if (!values_.empty() && values_.front().numel() != x.numel()) values_.clear();
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
    if (values_.empty()) return;
    const Tensor all =
        at::stack(std::vector<Tensor>(values_.begin(), values_.end())).cpu().contiguous();
    numbers.push_back(static_cast<double>(all.size(1)));
    const auto* first = all.data_ptr<double>();
    numbers.insert(numbers.end(), first, first + all.numel());
  }
  void load(const std::vector<double>& numbers, size_t& next) {
    values_.clear();
    const auto count = static_cast<size_t>(numbers.at(next++));
    const auto groups = count == 0 ? 0 : static_cast<int64_t>(numbers.at(next++));
    for (size_t k = 0; k < count; ++k) {
      const Tensor value = at::empty({groups}, at::kDouble);
      for (int64_t g = 0; g < groups; ++g) value.data_ptr<double>()[g] = numbers.at(next++);
      values_.push_back(value);
    }
  }

 private:
  size_t size_;
  std::deque<Tensor> values_;
};

// Returns the norm of the gradient that arrived, of each group.
Tensor gradient_norms(const StepView& step) {
  const std::vector<Tensor> norms = step.gradients(&ParameterGradients::arrived_norm);
  return sum_stacked_by_group(squares_of(norms), step.groups()).sqrt();
}

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
      .has_groups(true)
      .make([window, count] {
        const auto state = std::make_shared<Windows>(window);
        Quantity::Functions functions;
        functions.compute = [state, count](const StepView& step) {
          const Tensor loss = state->loss.score(step.loss());
          const Tensor gradient = state->gradient.score(gradient_norms(step));
          Value value;
          if (loss.defined()) value = Value(loss.reshape({}));
          if (gradient.defined()) value.with("grad_norm", gradient);
          add_samples(value, step, count);
          return value;
        };
        functions.after_update = [state](const UpdateView& update) {
          const Tensor score = state->update.score(update.squared_update().sqrt());
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
