// SPDX-License-Identifier: MIT
#include "run/reactions.h"

#include "run/training.h"

namespace flightdeck::run {

ReactingLoop loop_of(Training& training) {
  ReactingLoop loop;
  loop.parameters = training.parameters();
  loop.learning_rate = [&training] { return training.learning_rate(); };
  loop.rate_factor = [&training] { return training.rate_factor(); };
  loop.set_rate_factor = [&training](double factor) { training.set_rate_factor(factor); };
  loop.save_model = [&training] { return training.save_model(); };
  loop.save_optimizer = [&training] { return training.save_optimizer(); };
  loop.restore = [&training](const std::map<std::string, at::Tensor>& model,
                             const std::string& optimizer) { training.restore(model, optimizer); };
  return loop;
}

}  // namespace flightdeck::run
