// SPDX-License-Identifier: MIT
#include "suite/curvature_optimizer.h"

#include <torch/serialize/archive.h>
#include <torch/utils.h>

namespace flightdeck::suite {
namespace {

const CurvatureFormulaOptions& curvature_of(const torch::optim::OptimizerParamGroup& group) {
  const auto* options = dynamic_cast<const CurvatureFormulaOptions*>(&options_of(group));
  TORCH_CHECK_VALUE(options != nullptr,
                    "observe: a parameter group has the options of an optimizer that does not read "
                    "curvature; give it options of this one or none");
  return *options;
}

int64_t read_count(torch::serialize::InputArchive& archive, const std::string& key) {
  c10::IValue value;
  TORCH_CHECK_VALUE(archive.try_read(key, value),
                    "load optimizer: the archive has no '",
                    key,
                    "'; load what this optimizer has saved");
  return value.toInt();
}

}  // namespace

CurvatureOptimizer::CurvatureOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                                       std::unique_ptr<CurvatureFormulaOptions> options)
    : CheckedOptimizer(std::move(groups), std::move(options)) {}

void CurvatureOptimizer::name_parameters(std::vector<std::string> names) {
  names_ = std::move(names);
}

std::string CurvatureOptimizer::name_of(size_t index) const {
  return index < names_.size() ? names_[index] : std::to_string(index);
}

void CurvatureOptimizer::observe(const Tensor& losses) {
  Objective objective;
  objective.losses = losses;
  observe(objective);
}

void CurvatureOptimizer::observe(const Objective& objective) {
  size_t count = 0;
  for (const auto& group : param_groups()) count += group.params().size();
  TORCH_CHECK_VALUE(objective.l2.empty() || objective.l2.size() == count,
                    "observe: l2 has ",
                    objective.l2.size(),
                    " entries but the optimizer ",
                    count,
                    " parameters; give one for each or none");
  preconditioners_.resize(count);
  size_t begin = 0;
  for (size_t i = 0; i < param_groups().size(); ++i) {
    const CurvatureFormulaOptions& options = curvature_of(param_groups()[i]);
    const size_t end = begin + param_groups()[i].params().size();
    const bool is_new = state().size() < end;
    if (is_new || steps_ % options.measured_every() == 0) measure(objective, options, begin, i);
    begin = end;
  }
  is_observed_ = true;
}

void CurvatureOptimizer::measure(const Objective& objective,
                                 const CurvatureFormulaOptions& options,
                                 size_t begin,
                                 size_t group) {
  const std::vector<Tensor>& parameters = param_groups()[group].params();
  std::vector<NamedParameter> named;
  std::vector<double> l2;
  for (size_t i = 0; i < parameters.size(); ++i) {
    named.push_back({name_of(begin + i), parameters[i]});
    l2.push_back(options.weight_decay + (objective.l2.empty() ? 0.0 : objective.l2[begin + i]));
  }
  // The golden ratio in 64 bits spreads neighbouring seeds far apart.
  const uint64_t seed = seed_ * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(steps_);
  const auto measured = options.measure({objective, Parameters(std::move(named)), l2, seed});
  for (size_t i = 0; i < parameters.size(); ++i) {
    FormulaState& state = state_at(begin + i, parameters[i]);
    state.tensors = measured[i];
    state.names = options.state_names();
    state.names.resize(measured[i].size());
    state.carried = l2[i];
    preconditioners_[begin + i] = nullptr;
  }
}

const Preconditioner& CurvatureOptimizer::preconditioner(const CurvatureFormulaOptions& options,
                                                         size_t index,
                                                         const FormulaState& state) {
  TORCH_CHECK_VALUE(!state.tensors.empty(),
                    options.name(),
                    ": parameter '",
                    name_of(index),
                    "' has a gradient but no curvature: the observed losses do not depend on it; "
                    "observe all losses that are minimised, or leave it out of the optimizer");
  if (preconditioners_[index] == nullptr) {
    preconditioners_[index] = options.prepare(state.tensors, state.carried);
  }
  return preconditioners_[index];
}

Tensor CurvatureOptimizer::step(LossClosure closure) {
  Tensor loss;
  if (closure != nullptr) {
    at::AutoGradMode with_gradients(true);
    loss = closure();
  }
  TORCH_CHECK(is_observed_,
              curvature_of(param_groups().front()).name(),
              ": step without curvature; call observe(losses) after the forward pass and before "
              "backward(), in every step");
  at::NoGradGuard without_gradients;
  size_t index = 0;
  for (torch::optim::OptimizerParamGroup& group : param_groups()) {
    const CurvatureFormulaOptions& options = curvature_of(group);
    for (Tensor& parameter : group.params()) {
      const size_t place = index++;
      Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      TORCH_CHECK_VALUE(gradient.layout() == at::kStrided,
                        options.name(),
                        ": the gradient of '",
                        name_of(place),
                        "' is sparse but must be dense; build the layer without sparse gradients");
      FormulaState& state = state_at(place, parameter);
      if (options.weight_decay != 0.0) gradient = gradient.add(parameter, options.weight_decay);
      parameter.sub_(preconditioner(options, place, state)(gradient), options.learning_rate);
      ++state.steps;
    }
  }
  ++steps_;
  is_observed_ = false;
  return loss;
}

void CurvatureOptimizer::save(torch::serialize::OutputArchive& archive) const {
  CheckedOptimizer::save(archive);
  archive.write("steps", c10::IValue(steps_));
  archive.write("seed", c10::IValue(static_cast<int64_t>(seed_)));
}

void CurvatureOptimizer::load(torch::serialize::InputArchive& archive) {
  // The base class refuses a wrong archive by name or shape, before these entries are missed.
  CheckedOptimizer::load(archive);
  steps_ = read_count(archive, "steps");
  seed_ = static_cast<uint64_t>(read_count(archive, "seed"));
  size_t count = 0;
  for (const auto& group : param_groups()) count += group.params().size();
  preconditioners_.assign(count, nullptr);
  is_observed_ = false;
}

}  // namespace flightdeck::suite
