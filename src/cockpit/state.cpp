// SPDX-License-Identifier: MIT
#include "cockpit/state.h"

#include <set>
#include <utility>

#include <ATen/ATen.h>

#include "base/clock.h"
#include "base/words.h"
#include "cockpit/groups.h"
#include "cockpit/run_info.h"
#include "cockpit/saved_state.h"
#include "graph/error_message.h"
#include "graph/transient_parameters.h"

namespace flightdeck {
namespace {

Parameters without_further_names(const Parameters& parameters) {
  std::vector<NamedParameter> first;
  std::set<const c10::TensorImpl*> seen;
  for (const NamedParameter& parameter : parameters) {
    const c10::TensorImpl* tensor = parameter.tensor.unsafeGetTensorImpl();
    if (!parameter.tensor.defined() || seen.insert(tensor).second) first.push_back(parameter);
  }
  return first;
}

void check_parameters(const Parameters& parameters) {
  TORCH_CHECK_VALUE(parameters.size() > 0, "cockpit: there are no parameters to watch");
  std::set<std::string> names;
  for (const NamedParameter& parameter : parameters) {
    TORCH_CHECK_VALUE(parameter.tensor.defined() && parameter.tensor.requires_grad(),
                      "cockpit: parameter '",
                      parameter.name,
                      "' does not require gradients; leave it out, or make it require them");
    TORCH_CHECK_NOT_IMPLEMENTED(!parameter.tensor.is_complex(),
                                "cockpit: parameter '",
                                parameter.name,
                                "' has type ",
                                parameter.tensor.scalar_type(),
                                " but quantities are those of real entries; keep a real parameter "
                                "[..., 2] in its place and call view_as_complex on it in the "
                                "model");
    TORCH_CHECK_VALUE(names.insert(parameter.name).second,
                      "cockpit: two parameters are called '",
                      parameter.name,
                      "'; give each a name of its own");
  }
}

StepContext make_context(const Parameters& parameters, CockpitOptions options) {
  StepContext context;
  context.parameters = without_further_names(parameters);
  check_parameters(context.parameters);
  context.start = std::chrono::steady_clock::now();
  options.grouping = settled(options.grouping, context.parameters);
  // Before the graph is known, the only group is the whole model.
  const Grouping grouping = needs_graph(options.grouping) ? Grouping::whole() : options.grouping;
  context.groups = make_groups(grouping, context.parameters, nullptr);
  for (const NamedParameter& parameter : context.parameters) {
    const bool is_piece = is_transient(parameter.tensor);
    context.is_sharded = context.is_sharded || is_piece;
    // Of a piece no copy is needed: quantities that would read its values are refused.
    const Tensor values = parameter.tensor.detach();
    context.initial_parameters.push_back(is_piece ? values : values.clone());
  }
  context.options = std::move(options);
  return context;
}

constexpr const char* kPieces =
    "fully_shard keeps a piece of every parameter on each process between passes, and this reads "
    "whole values or updates of them; train with DistributedDataParallel to have it";

// Takes away what reads whole parameters between passes. Returns false if that is all of it.
bool fit_pieces(const Quantity& quantity, Quantity::Functions& functions) {
  const StepNeeds& needs = quantity.needs();
  if (quantity.reads_parameters() || needs.update || needs.chord) return false;
  functions.after_update = nullptr;
  functions.after_next = nullptr;
  return static_cast<bool>(functions.compute);
}

}  // namespace

Cockpit::State::State(const Parameters& parameters,
                      std::vector<Quantity> quantities,
                      CockpitOptions options)
    : context_(make_context(parameters, std::move(options))),
      output_(context_.options.on_warning, context_.options.wording),
      failures_(tracked_, output_, context_.options.strict),
      pending_(context_, tracked_, failures_),
      knows_groups_(!needs_graph(context_.options.grouping)) {
  for (Quantity& quantity : quantities) add_tracked(std::move(quantity));
  const std::shared_ptr<Ranks>& ranks = context_.options.ranks;
  if (!ranks) return;
  crew_ = std::make_unique<Crew>(ranks, context_, tracked_, failures_, output_);
  context_.crew = crew_.get();
  config_["ranks"] = std::to_string(ranks->size());
}

// ---- calls --------------------------------------------------------------------------------------

Cockpit::State::Call::Call(State& state) : state_(state.shared_from_this()), lock_(state.mutex_) {
  ++state.depth_;
}

Cockpit::State::Call::Call(State& state, const char* what) : Call(state) {
  TORCH_CHECK(state.depth_ == 1,
              what,
              ": it is called from inside a quantity, due steps or a sink; call it from the "
              "training loop");
}

Cockpit::State::Call::~Call() {
  if (state_->depth_ == 1) {
    state_->tell_failures();
    state_->end_run_if_asked();
  }
  --state_->depth_;
}

// ---- before the first step ----------------------------------------------------------------------

void Cockpit::State::add_tracked(Quantity quantity) {
  for (const TrackedQuantity& other : tracked_) {
    TORCH_CHECK_VALUE(other.quantity.name() != quantity.name(),
                      "cockpit: two quantities are called '",
                      quantity.name(),
                      "'; give one of them another name by named()");
  }
  Quantity::Functions functions = quantity.functions();
  if (context_.is_sharded && !fit_pieces(quantity, functions)) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !context_.options.strict, "cockpit: '", quantity.name(), "': ", kPieces);
    refused_.push_back(quantity.name());
    return;
  }
  tracked_.push_back({std::move(quantity), std::move(functions), true});
}

void Cockpit::State::add(Quantity quantity) {
  const Call call(*this, "add");
  TORCH_CHECK(!output_.has_begun(),
              "cockpit: '",
              quantity.name(),
              "' is added after the first watched step; add quantities before");
  add_tracked(std::move(quantity));
}

void Cockpit::State::add_sink(std::shared_ptr<Sink> sink) {
  const Call call(*this, "add_sink");
  TORCH_CHECK_VALUE(sink, "cockpit: the sink is null; give one that exists");
  TORCH_CHECK(!output_.has_begun(),
              "cockpit: a sink is added after the first values; add it before the first step");
  output_.add(std::move(sink));
}

void Cockpit::State::describe(const std::string& key, const std::string& value) {
  const Call call(*this);
  config_[key] = value;
  if (output_.has_begun()) tell_run();
}

void Cockpit::State::load(const std::map<std::string, Tensor>& saved) {
  const Call call(*this, "load");
  TORCH_CHECK(!last_step_, "cockpit: load comes after the first watched step; load before it");
  load_state(saved, context_, tracked_);
}

void Cockpit::State::flush() {
  const Call call(*this);
  write(deliveries_.take_all());
}

std::map<std::string, Tensor> Cockpit::State::save() {
  const Call call(*this);
  write(deliveries_.take_all());  // so that a run that goes on from here has them in its record
  return save_state(context_, tracked_);
}

// ---- what a run is ------------------------------------------------------------------------------

Plan Cockpit::State::plan(int64_t step) const {
  return make_plan(step, tracked_, pending_.ends_chord(step), [](size_t) {});
}

bool Cockpit::State::is_due(int64_t step) {
  const Call call(*this);
  return pending_.is_completed_by(step) || !plan(step).is_empty();
}

bool Cockpit::State::reads_graph(int64_t step) {
  const Call call(*this);
  const Plan due = plan(step);
  return pending_.is_completed_by(step) || (!due.is_empty() && !due.is_light);
}

std::string Cockpit::State::plan_text(int64_t step) {
  const Call call(*this);
  return plan(step).text(tracked_);
}

void Cockpit::State::tell_run() {
  if (!info_) {
    info_ = make_run_info(context_.parameters, tracked_);
    info_->grouping = context_.options.grouping.text();
    info_->plan = plan(0).text(tracked_);
  }
  info_->config = config_;
  info_->coverage = coverage_;
  info_->groups.assign(context_.groups.names.begin() + 1, context_.groups.names.end());
  output_.begin(*info_);
  tell_refused();
}

void Cockpit::State::tell_refused() {
  const std::vector<std::string> names = std::exchange(refused_, {});
  if (names.empty() || (crew_ && !crew_->is_first())) return;
  output_.note(last_step_.value_or(0), NoteKind::kSwitchedOff, joined(names), kPieces);
  output_.warn(joined(names) + (names.size() == 1 ? " is" : " are") + " off: " + kPieces);
}

void Cockpit::State::tell_failures() noexcept {
  if (!failures_.has_news()) return;
  try {
    if (!output_.has_begun()) tell_run();
  } catch (...) {
    output_.warn("what was switched off could not be told: " + current_message());
  }
  failures_.tell();
}

void Cockpit::State::remark(int64_t step, const std::string& text) {
  const Call call(*this);
  TORCH_CHECK(!is_finished_, "remark: the run is finished; make a new cockpit for a new run");
  if (!output_.has_begun()) tell_run();
  output_.remark(step, "", text);
}

void Cockpit::State::log(int64_t step, const std::map<std::string, double>& values) {
  std::vector<Reading> readings;
  for (const auto& [name, value] : values) {
    Reading reading;
    reading.quantity = name;
    reading.number = value;
    readings.push_back(std::move(reading));
  }
  log(step, std::move(readings));
}

void Cockpit::State::log(int64_t step, std::vector<Reading> readings) {
  const Call call(*this);
  TORCH_CHECK(!is_finished_, "log: the run is finished; make a new cockpit for a new run");
  for (const Reading& reading : readings) {
    for (TrackedQuantity& tracked : tracked_) {
      if (tracked.quantity.name() != reading.quantity) continue;
      TORCH_CHECK_VALUE(tracked.quantity.gives_way(),
                        "log: '",
                        reading.quantity,
                        "' is the name of a quantity of this cockpit; choose another");
      tracked.is_on = false;
    }
  }
  const double time = seconds_since_1970();
  if (!output_.has_begun()) tell_run();
  output_.write({step, time, std::move(readings)});
}

void Cockpit::State::finish(Ending ending) {
  const Call call(*this);
  if (!ending_) ending_ = ending;
}

void Cockpit::State::end_run_if_asked() noexcept {
  if (!ending_ || is_finished_) return;
  try {
    if (!output_.has_begun()) tell_run();
    if (current_) {
      output_.remark(current_->step(),
                     "",
                     "the run ended while this step was being watched; its values are dropped");
    }
    is_finished_ = true;
    give_up_step();
    write(deliveries_.take_all());
    output_.finish(*ending_);
  } catch (...) {
    is_finished_ = true;
    output_.warn("the run could not be ended: " + current_message());
  }
}

}  // namespace flightdeck
