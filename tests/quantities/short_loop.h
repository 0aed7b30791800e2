// SPDX-License-Identifier: MIT
// A few steps of a loop under a strict cockpit, for quantities that look at a graph made for them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "quantities/watched_run.h"

namespace flightdeck::tests {

struct ShortLoop {
  Parameters parameters{std::vector<NamedParameter>()};
  std::vector<Quantity> quantities;
  std::function<Tensor(int64_t step)> losses;  // [N]
  torch::optim::Optimizer* optimizer = nullptr;
  std::function<StepOptions(int64_t step)> told;
  std::function<Tensor(const Tensor& losses)> reduced = [](const Tensor& losses) {
    return losses.mean();
  };
  bool clears_gradients = true;
  Grouping grouping = Grouping::by_parameter();

  std::shared_ptr<MemorySink> run(int64_t steps) const {
    CockpitOptions options;
    options.strict = true;
    options.grouping = grouping;
    options.batch_norm = BatchNormPolicy::kConstantStatistics;
    Cockpit cockpit(parameters, quantities, options);
    auto sink = std::make_shared<MemorySink>();
    cockpit.add_sink(sink);
    for (int64_t step = 0; step < steps; ++step) {
      if (clears_gradients) clear_gradients(parameters);
      const Tensor all = losses(step);
      StepOptions options_of_step = told ? told(step) : StepOptions();
      if (optimizer != nullptr) options_of_step.optimizer = optimizer;
      StepWatch watch = cockpit.watch(step, all, options_of_step);
      reduced(all).backward();
      watch.end();
      if (optimizer != nullptr) optimizer->step();
    }
    cockpit.finish();
    return sink;
  }
};

// The remarks of one quantity.
inline std::vector<std::string> remarks_of(const MemorySink& sink, const std::string& quantity) {
  std::vector<std::string> texts;
  for (const Note& note : sink.notes()) {
    if (note.quantity == quantity && note.kind == NoteKind::kRemark) texts.push_back(note.text);
  }
  return texts;
}

}  // namespace flightdeck::tests
