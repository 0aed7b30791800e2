// SPDX-License-Identifier: MIT
#include "run/change.h"

#include <algorithm>
#include <cmath>

#include <torch/torch.h>

namespace flightdeck::run {
namespace {

// Returns `otherwise` where an advice names no number.
double or_default(double factor, double otherwise) { return factor > 0 ? factor : otherwise; }

int64_t times(int64_t count, double factor, int64_t least, int64_t most) {
  return std::clamp(std::llround(static_cast<double>(count) * factor),
                    static_cast<long long>(least),
                    static_cast<long long>(most));
}

void scale_rate(FaultyTraining& training, double factor, const FaultyTraining&) {
  training.hyperparameters["learning_rate"] *= or_default(factor, 1);
}

void scale_batch(FaultyTraining& training, double factor, const FaultyTraining&) {
  training.batch_size =
      times(training.batch_size, or_default(factor, 1), 1, training.targets.size(0));
}

void scale_steps(FaultyTraining& training, double factor, const FaultyTraining&) {
  training.steps = times(training.steps, or_default(factor, 2), 1, 1000);
}

void scale_regularisation(FaultyTraining& training, double factor, const FaultyTraining&) {
  training.decay *= or_default(factor, 0.1);
  training.penalty *= or_default(factor, 0.1);
}

void use_relu(FaultyTraining& training, double, const FaultyTraining&) {
  if (!training.parts) return;
  training.parts->activation = [](const Tensor& values) { return torch::relu(values); };
}

// Draws weights of variance 2 / inputs (1 / inputs behind the last activation) and sets biases to
// 0; gains of norms and embeddings stay.
void initialise(FaultyTraining& training, double, const FaultyTraining&) {
  const torch::NoGradGuard no_grad;
  for (const auto& item : training.model.module->named_parameters()) {
    Tensor parameter = item.value();
    const bool is_embedding = item.key().find("letters") != std::string::npos ||
                              item.key().find("places") != std::string::npos;
    if (parameter.dim() > 1) {
      const bool is_last = item.key().find("outputs") != std::string::npos;
      const auto inputs = static_cast<double>(parameter.numel() / parameter.size(0));
      const double deviation = is_embedding ? 0.3 : std::sqrt((is_last ? 1 : 2) / inputs);
      parameter.copy_(deviation *
                      torch::randn(parameter.sizes(), training.random, parameter.options()));
    } else if (item.key().find("bias") != std::string::npos) {
      parameter.zero_();
    }
  }
}

void scale_inputs(FaultyTraining& training, double, const FaultyTraining&) {
  if (training.is_text) return;
  const Tensor inputs = training.prepare ? training.prepare(training.inputs) : training.inputs;
  const Tensor mean = inputs.mean(), deviation = inputs.std();
  training.prepare_with([=](const Tensor& raw) { return (raw - mean) / deviation; });
}

// Draws every class equally often, by repeating samples of rare ones.
void balance_classes(FaultyTraining& training, double, const FaultyTraining&) {
  if (training.targets.dim() != 1) return;
  const Tensor counts = torch::bincount(training.targets, {}, training.classes).to(torch::kFloat);
  const Tensor weights = counts.clamp_min(1).reciprocal().index_select(0, training.targets);
  const Tensor chosen =
      torch::multinomial(weights, training.targets.size(0), /*replacement=*/true, training.random);
  training.inputs = training.inputs.index_select(0, chosen);
  training.targets = training.targets.index_select(0, chosen);
}

void drop_broken_samples(FaultyTraining& training, double, const FaultyTraining&) {
  if (training.is_text) return;
  const Tensor is_whole = training.inputs.flatten(1).isfinite().all(/*dim=*/1);
  const Tensor chosen = is_whole.nonzero().squeeze(1);
  training.inputs = training.inputs.index_select(0, chosen);
  training.targets = training.targets.index_select(0, chosen);
}

void take_data(FaultyTraining& training, double, const FaultyTraining& source) {
  training.inputs = source.inputs;
  training.targets = source.targets;
  training.prepare = source.prepare;
  training.on_batch = source.on_batch;
}

void take_targets(FaultyTraining& training, double, const FaultyTraining& source) {
  if (training.targets.size(0) == source.targets.size(0)) training.targets = source.targets;
}

constexpr bool kByHand = true, kAlone = false;

// These multiply settings.
std::vector<Change> changes_of_numbers() {
  return {
      {"learning_rate", "The rate times the number that the advice names", kAlone, &scale_rate},
      {"batch_size", "The batch size times the number that the advice names", kAlone, &scale_batch},
      {"steps", "The steps times the number that the advice names", kAlone, &scale_steps},
      {"regularisation",
       "Weight decay and penalty times the number that the advice names",
       kAlone,
       &scale_regularisation},
      {"dropout",
       "Dropout times the number that the advice names",
       kAlone,
       [](FaultyTraining& training, double factor, const FaultyTraining&) {
         if (training.parts) training.parts->dropout *= or_default(factor, 0.2);
       }},
  };
}

// These change the loop and the loss.
std::vector<Change> changes_of_loop() {
  return {
      {"loss",
       "The cross-entropy of outputs and labels",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining& source) {
         training.losses = source.losses;
       }},
      {"mean_of_losses",
       "The mean of the losses",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining& source) {
         training.reduce = source.reduce;
       }},
      {"mean_of_passes",
       "Losses divided by the number of passes between two updates",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining&) {
         training.averages_passes = true;
       }},
      {"loss_scale",
       "The loss as it is",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining&) { training.loss_scale = 1; }},
      {"all_parameters",
       "The optimizer of all parameters",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining&) {
         training.not_optimized.clear();
       }},
      {"cleared_gradients",
       "zero_grad() at every step",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining&) {
         training.clears_gradients = true;
       }},
      {"shuffling",
       "Data in another order in every epoch",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining&) { training.shuffles = true; }},
  };
}

// These change the network.
std::vector<Change> changes_of_network() {
  return {
      {"outputs",
       "Nothing between the last layer and the loss",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining& source) {
         if (training.parts) training.parts->head = source.parts->head;
       }},
      {"activation", "A relu behind every hidden layer", kAlone, &use_relu},
      {"initialisation", "Weights of variance 2 / inputs, biases 0", kAlone, &initialise},
      {"training_mode",
       "train() before training and after every evaluation",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining&) {
         if (training.parts) training.parts->is_left_in_evaluation = false;
         training.forgets_train_at = -1;
       }},
      {"attachment",
       "Without detach()",
       kAlone,
       [](FaultyTraining& training, double, const FaultyTraining& source) {
         if (training.parts) training.parts->between = source.parts->between;
       }},
  };
}

// These change what the network is fed.
std::vector<Change> changes_of_data() {
  return {
      {"scaled_inputs", "Inputs less their mean, over their deviation", kAlone, &scale_inputs},
      {"balanced_classes", "Every class drawn equally often", kAlone, &balance_classes},
      {"whole_samples", "Without samples that are not finite", kAlone, &drop_broken_samples},
      {"data",
       "Data as they were at their source, in another order in every epoch",
       kByHand,
       [](FaultyTraining& training, double factor, const FaultyTraining& source) {
         take_data(training, factor, source);
         training.shuffles = true;
       }},
      {"targets", "Labels as they were at their source", kByHand, &take_targets},
  };
}

std::vector<Change> make_changes() {
  std::vector<Change> all;
  for (const auto& some :
       {changes_of_numbers(), changes_of_loop(), changes_of_network(), changes_of_data()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

const std::vector<Change>& all_changes() {
  static const std::vector<Change> all = make_changes();
  return all;
}

const Change* find_change(const std::string& name) {
  const std::vector<Change>& all = all_changes();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Change& change) { return change.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace flightdeck::run
