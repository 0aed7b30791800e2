// SPDX-License-Identifier: MIT
#include "flightdeck/cockpit.h"

#include <exception>
#include <utility>

#include "cockpit/state.h"

namespace flightdeck {

StepWatch::StepWatch(StepWatch&& other) noexcept
    : cockpit_(std::exchange(other.cockpit_, {})),
      step_(other.step_),
      exceptions_(other.exceptions_) {}

void StepWatch::end() {
  if (const auto cockpit = std::exchange(cockpit_, {}).lock()) cockpit->end_step(step_);
}

void StepWatch::drop() {
  if (const auto cockpit = std::exchange(cockpit_, {}).lock()) cockpit->abandon_step(step_);
}

StepWatch::~StepWatch() noexcept(false) {
  if (std::uncaught_exceptions() <= exceptions_) {
    end();
  } else {
    drop();
  }
}

bool StepWatch::is_active() const {
  const auto cockpit = cockpit_.lock();
  return cockpit && cockpit->is_watching(step_);
}

Cockpit::Cockpit(const Parameters& parameters,
                 std::vector<Quantity> quantities,
                 CockpitOptions options)
    : state_(std::make_shared<State>(parameters, std::move(quantities), std::move(options))) {}

Cockpit::Cockpit(const Parameters& parameters, const std::string& preset, CockpitOptions options)
    : Cockpit(parameters, flightdeck::preset(preset), std::move(options)) {}

Cockpit::~Cockpit() {
  state_->finish(std::uncaught_exceptions() > 0 ? Ending::kFailed : Ending::kFinished);
}

void Cockpit::add(Quantity quantity) { state_->add(std::move(quantity)); }
void Cockpit::add_sink(std::shared_ptr<Sink> sink) { state_->add_sink(std::move(sink)); }
void Cockpit::describe(const std::string& key, const std::string& value) {
  state_->describe(key, value);
}

StepWatch Cockpit::watch(int64_t step, const Tensor& losses, const StepOptions& options) {
  const int exceptions = std::uncaught_exceptions();
  // A sink may destroy this cockpit during the call; its state lives until the call returns.
  const std::weak_ptr<State> held = state_;
  State& state = *state_;
  const auto make_batch = [&] { return state.batch_of(losses); };
  const bool is_watched = state.begin_step(step, make_batch, options);
  return StepWatch(is_watched ? held : std::weak_ptr<State>(), step, exceptions);
}

StepWatch Cockpit::watch(int64_t step, const Batch& batch, const StepOptions& options) {
  const int exceptions = std::uncaught_exceptions();
  const std::weak_ptr<State> held = state_;
  const auto make_batch = [&] { return batch; };
  const bool is_watched = state_->begin_step(step, make_batch, options);
  return StepWatch(is_watched ? held : std::weak_ptr<State>(), step, exceptions);
}

void Cockpit::sit_out(int64_t step) { state_->sit_out(step); }

void Cockpit::log(int64_t step, const std::string& name, double value) {
  state_->log(step, {{name, value}});
}
void Cockpit::log(int64_t step, const std::map<std::string, double>& values) {
  state_->log(step, values);
}

void Cockpit::log_readings(int64_t step, std::vector<Reading> readings) {
  state_->log(step, std::move(readings));
}

void Cockpit::remark(int64_t step, const std::string& text) { state_->remark(step, text); }

void Cockpit::flush() { state_->flush(); }
std::map<std::string, Tensor> Cockpit::save() const { return state_->save(); }
void Cockpit::load(const std::map<std::string, Tensor>& saved) { state_->load(saved); }

const CockpitOptions& Cockpit::options() const { return state_->options(); }
const Parameters& Cockpit::parameters() const { return state_->parameters(); }
bool Cockpit::is_due(int64_t step) const { return state_->is_due(step); }
bool Cockpit::reads_graph(int64_t step) const { return state_->reads_graph(step); }
std::string Cockpit::plan(int64_t step) const { return state_->plan_text(step); }
void Cockpit::finish(Ending ending) { state_->finish(ending); }

}  // namespace flightdeck
