// SPDX-License-Identifier: MIT
// The simple noise scale with its two parts smoothed before they are divided: one batch gives each
// of them without bias, their quotient not.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

struct Smoothed {
  Tensor noise, signal;  // [G], running means times the same factor
};

Value critical_batch_value(const StepView& step, double decay, Smoothed& smoothed) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const Tensor noise = step.deviations().sum(1) / (N - 1);
  const Tensor signal = step.squared_mean() - noise / N;
  const auto add = [decay](Tensor& mean, const Tensor& value) {
    const bool fits = mean.defined() && mean.sizes() == value.sizes();
    mean = fits ? decay * mean.to(value.device()) + (1 - decay) * value : (1 - decay) * value;
  };
  add(smoothed.noise, noise);
  add(smoothed.signal, signal);
  const Tensor critical = smoothed.noise / smoothed.signal;
  return Value(critical).with("ratio", N / critical);
}

}  // namespace

Quantity critical_batch(Settings& settings) {
  const double decay = settings.number("decay", 0.95, "of the running means of noise and signal");
  TORCH_CHECK_VALUE(decay >= 0 && decay < 1,
                    "critical_batch: decay is ",
                    decay,
                    "; give a number from 0 to below 1");
  return Quantity("critical_batch")
      .summary("Batch size beyond which larger ones stop to pay, from smoothed noise and signal")
      .reference("McCandlish et al. 2018; both parts averaged over steps, then divided")
      .needs(Need::kDeviations | Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .make([decay] {
        const auto state = std::make_shared<Smoothed>();
        Quantity::Functions functions;
        functions.compute = [state, decay](const StepView& step) {
          return critical_batch_value(step, decay, *state);
        };
        functions.save = [state] {
          std::vector<double> numbers;
          for (const Tensor* mean : {&state->noise, &state->signal}) {
            if (!mean->defined()) continue;
            const Tensor all = mean->cpu().contiguous();
            numbers.insert(
                numbers.end(), all.data_ptr<double>(), all.data_ptr<double>() + all.numel());
          }
          return numbers;
        };
        functions.load = [state](const std::vector<double>& numbers) {
          if (numbers.empty()) return;
          const Tensor all = at::tensor(numbers, at::kDouble).view({2, -1});
          *state = {all[0].clone(), all[1].clone()};
        };
        return functions;
      });
}

}  // namespace flightdeck::quantities
