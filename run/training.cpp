// SPDX-License-Identifier: MIT
#include "run/training.h"

#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize/archive.h>

#include "base/clock.h"
#include "flightdeck/cockpit.h"
#include "run/random_states.h"
#include "run/run_config.h"
#include "suite/curvature_optimizer.h"
#include "suite/optimizers/momentum.h"
#include "suite/optimizers/nag.h"
#include "suite/optimizers/sgd.h"

namespace flightdeck::run {
namespace {

suite::DataSet load_data_of(const suite::Problem& problem, const TrainingOptions& options) {
  suite::DataOptions chosen = options.data;
  chosen.seed = options.seed;
  suite::DataSet data = suite::load_data(problem.data_set, chosen);
  data.to(options.device);
  return data;
}

suite::Model build(const suite::Problem& problem, const TrainingOptions& options) {
  at::manual_seed(options.seed);
  suite::Model model = problem.build();
  model.module->to(options.device);
  model.module->train();
  return model;
}

suite::BatchOptions batch_options(const suite::Problem& problem,
                                  int64_t batch_size,
                                  uint64_t seed) {
  suite::BatchOptions options;
  options.batch_size = batch_size;
  options.seed = seed;
  options.streams = problem.carries_state;
  return options;
}

// Gives optimizers that read curvature names for messages and a seed for what they sample.
void introduce(torch::optim::Optimizer& optimizer, const Parameters& parameters, uint64_t seed) {
  auto* curvature = dynamic_cast<suite::CurvatureOptimizer*>(&optimizer);
  if (curvature == nullptr) return;
  std::vector<std::string> names;
  for (const NamedParameter& parameter : parameters) names.push_back(parameter.name);
  curvature->name_parameters(std::move(names));
  curvature->set_seed(seed);
}

suite::Objective objective_of(const suite::Problem& problem,
                              const Parameters& parameters,
                              const Tensor& losses) {
  suite::Objective objective;
  objective.losses = losses;
  for (const NamedParameter& parameter : parameters) {
    const bool is_penalised = problem.penalises(parameter.name, parameter.tensor);
    objective.l2.push_back(is_penalised ? problem.l2 : 0.0);
  }
  return objective;
}

// Returns how the step follows from a gradient, for formulas without a preconditioner; nothing for
// others.
std::optional<std::vector<std::pair<Tensor, UpdateFormula>>> update_formulas_of(
    const torch::optim::Optimizer& optimizer) {
  std::vector<std::pair<Tensor, UpdateFormula>> formulas;
  for (const auto& group : optimizer.param_groups()) {
    const torch::optim::OptimizerOptions& options = group.options();
    UpdateFormula formula;
    if (const auto* sgd = dynamic_cast<const suite::SgdOptions*>(&options)) {
      formula.rate = sgd->learning_rate;
    } else if (const auto* ball = dynamic_cast<const suite::MomentumOptions*>(&options)) {
      formula.rate = ball->learning_rate;
      formula.momentum = ball->momentum;
    } else if (const auto* nag = dynamic_cast<const suite::NagOptions*>(&options)) {
      formula.rate = nag->learning_rate;
      formula.momentum = nag->momentum;
      formula.is_nesterov = true;
    } else {
      return std::nullopt;
    }
    for (const Tensor& tensor : group.params()) formulas.emplace_back(tensor, formula);
  }
  return formulas;
}

}  // namespace

void check_training_options(const TrainingOptions& options) {
  complete_hyperparameters(suite::find_problem(options.problem).name, options);
  suite::LearningRateSchedule::parse(options.schedule);
}

Training::Training(const TrainingOptions& options)
    : Training(suite::find_problem(options.problem), options) {}

Training::Training(const suite::Problem& problem, const TrainingOptions& options)
    : problem_(problem),
      hyperparameters_(complete_hyperparameters(problem.name, options)),
      schedule_(suite::LearningRateSchedule::parse(options.schedule)),
      batch_size_(options.batch_size > 0 ? options.batch_size : problem_.batch_size),
      data_(load_data_of(problem_, options)),
      model_(build(problem_, options)),
      parameters_(model_.module->named_parameters()),
      optimizer_(suite::find_optimizer(options.optimizer)
                     .make(model_.module->parameters(), hyperparameters_)),
      batches_(std::make_unique<suite::Prefetch>(suite::Batches(
          data_, suite::Part::kTrain, batch_options(problem_, batch_size_, options.seed)))),
      device_(options.device) {
  introduce(*optimizer_, parameters_, options.seed);
  const int64_t epochs = options.epochs > 0 ? options.epochs : problem_.epochs;
  total_steps_ = options.steps > 0 ? options.steps : epochs * batches_->per_epoch();
}

double Training::learning_rate() const {
  suite::Progress progress;
  progress.step = step_;
  progress.steps_per_epoch = batches_->per_epoch();
  progress.total_steps = total_steps_;
  return hyperparameters_.at("learning_rate") * schedule_.factor(progress) * rate_factor_;
}

StepOutcome Training::step(Cockpit* cockpit, const std::function<bool()>& takes_update) {
  StepOutcome outcome;
  outcome.step = step_;
  suite::set_learning_rate(*optimizer_, learning_rate());
  if (model_.start_pass && batches_->position() == 0) model_.start_pass();
  const auto begin = Clock::now();
  const suite::Batch batch = batches_->next();
  const auto has_data = Clock::now();
  // Gradients are removed, not set to zero: backward() then hands its own over and adds nothing.
  for (const NamedParameter& parameter : parameters_) parameter.tensor.mutable_grad().reset();
  const Tensor outputs = model_.forward(batch.inputs);
  const Tensor losses = problem_.losses(outputs, batch.targets);
  const Tensor penalty = problem_.penalty(*model_.module);
  const Tensor loss = penalty.defined() ? losses.mean() + penalty : losses.mean();
  // This comes before the cockpit watches, because it is not part of the training's gradient.
  if (auto* curvature = dynamic_cast<suite::CurvatureOptimizer*>(optimizer_.get())) {
    curvature->observe(objective_of(problem_, parameters_, losses));
  }
  if (cockpit != nullptr) {
    StepOptions told;
    told.optimizer = optimizer_.get();
    told.sample_ids = batch.ids;
    const bool may_read = !problem_.has_accuracy() || cockpit->reads_graph(step_);
    if (may_read) {
      told.phases = {{"data", seconds_between(begin, has_data)},
                     {"forward", seconds_between(has_data, Clock::now())}};
      if (update_seconds_ > 0) told.phases.emplace_back("update", update_seconds_);
      told.update_formulas = update_formulas_of(*optimizer_);
    }
    if (problem_.has_accuracy() && may_read) {
      told.predictions = problem_.predictions(outputs.detach(), batch.targets);
      if (told.predictions.defined()) told.labels = batch.targets;
    }
    StepWatch watch = cockpit->watch(step_, losses, told);
    loss.backward();
    watch.end();
  } else {
    loss.backward();
  }
  const auto has_gradient = Clock::now();
  if (!takes_update || takes_update()) optimizer_->step();
  update_seconds_ = seconds_between(has_gradient, Clock::now());
  // tensor_data() leaves out the graph and is cheaper than detach(), which a step of 0.1 ms
  // notices.
  outcome.loss = loss.tensor_data();
  outcome.outputs = outputs.tensor_data();
  outcome.targets = batch.targets;
  ++step_;
  return outcome;
}

std::map<std::string, Tensor> Training::save() const {
  std::map<std::string, Tensor> saved = random_states(device_);
  saved.merge(save_model());
  return saved;
}

std::map<std::string, Tensor> Training::save_model() const {
  std::map<std::string, Tensor> saved;
  for (const auto& item : model_.module->named_parameters()) {
    saved["parameter/" + item.key()] = item.value().detach();
  }
  for (const auto& item : model_.module->named_buffers()) {
    saved["buffer/" + item.key()] = item.value();
  }
  return saved;
}

std::string Training::save_optimizer() const {
  torch::serialize::OutputArchive archive;
  optimizer_->save(archive);
  std::string bytes;
  archive.save_to([&bytes](const void* data, size_t count) {
    bytes.append(static_cast<const char*>(data), count);
    return count;
  });
  return bytes;
}

void Training::restore(const std::map<std::string, Tensor>& model, const std::string& optimizer) {
  load_model(model);
  torch::serialize::InputArchive archive;
  archive.load_from(optimizer.data(), optimizer.size());
  optimizer_->load(archive);
}

void Training::load_model(const std::map<std::string, Tensor>& saved) {
  const at::NoGradGuard no_grad;
  for (auto& item : model_.module->named_parameters()) {
    item.value().copy_(saved.at("parameter/" + item.key()));
  }
  for (auto& item : model_.module->named_buffers()) {
    // A carried state may have another shape, that of the batch that left it.
    item.value().set_data(saved.at("buffer/" + item.key()).to(item.value().device()).clone());
  }
}

void Training::load(const std::map<std::string, Tensor>& saved, int64_t step) {
  load_model(saved);
  step_ = step;
  batches_->start_epoch(step / batches_->per_epoch());
  for (int64_t done = 0; done < step % batches_->per_epoch(); ++done) batches_->next();
  set_random_states(saved, device_);
}

double Training::accuracy(const StepOutcome& outcome) const {
  if (!problem_.has_accuracy()) return std::numeric_limits<double>::quiet_NaN();
  return problem_.accuracy(outcome.outputs, outcome.targets).item<double>();
}

suite::Score Training::evaluate(suite::Part part,
                                const std::function<bool()>& go_on,
                                std::optional<suite::Mistakes>* mistakes) const {
  return suite::evaluate(problem_, model_, data_, part, batch_size_, go_on, mistakes);
}

}  // namespace flightdeck::run
