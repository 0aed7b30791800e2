// SPDX-License-Identifier: MIT
// The life of one watched step in its cockpit, from its batch to its readings.
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include <ATen/ATen.h>

#include "base/clock.h"
#include "cockpit/groups.h"
#include "cockpit/run_info.h"
#include "cockpit/state.h"
#include "graph/error_message.h"
#include "passes/gradient_fields.h"

namespace flightdeck {
namespace {

constexpr const char* kRoundingRemark =
    "limited by rounding at some steps (field limited_by_rounding): the samples' gradients differ "
    "by "
    "hardly more than rounding, which may be over 1 % of the value; compute the model in a finer "
    "type to see it";

constexpr const char* kStandstill =
    "the parameters did not change between this step and the next. If gradients are accumulated "
    "over several backward passes, watch one of them per optimizer step "
    "(docs/gradient_accumulation.md)";

// Returns for instance "[5, 6] Float on cpu".
std::string kind_of(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes() << ' ' << tensor.scalar_type() << " on " << tensor.device();
  return text.str();
}

// Returns true for a scalar of a compiled model: its graph does not tell of how many samples it is
// the mean or the sum.
bool is_of_unknown_size(const Batch& batch) {
  const Tensor& losses = batch.losses();
  return losses.defined() && losses.dim() == 0 && batch.options().batch_size == 0;
}

// Adds to an error which tensors nobody asked for, as LibTorch does not name one that is undefined.
Value compute_with_remedy(const Quantity::Compute& compute,
                          const StepView& step,
                          bool has_gradients) {
  try {
    return compute(step);
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    const auto mentions = [&](const char* words) { return what.find(words) != std::string::npos; };
    const bool is_undefined = mentions("undefined Tensor") || mentions("undefined tensor") ||
                              mentions("no tensor arguments");
    TORCH_CHECK(!is_undefined || !has_gradients,
                "a tensor that was not computed is read; of the gradients no quantity asked for ",
                missing_fields(step.gradients()),
                ": name what is read in Quantity::needs (",
                what,
                ")");
    throw;
  }
}

}  // namespace

// ---- checks -------------------------------------------------------------------------------------

// Checks that a parameter is of one kind: what is kept of it (where it began, where it was a step
// ago) fits only while it is.
void Cockpit::State::check_unchanged_parameters() const {
  for (size_t p = 0; p < context_.parameters.size(); ++p) {
    const auto& [name, now] = context_.parameters[p];
    const Tensor& first = context_.initial_parameters[p];
    TORCH_CHECK_VALUE(now.sizes() == first.sizes() && now.scalar_type() == first.scalar_type() &&
                          now.device() == first.device(),
                      "watch: parameter '",
                      name,
                      "' is now ",
                      kind_of(now),
                      " but was ",
                      kind_of(first),
                      " when the cockpit was made; make a new cockpit of the new parameters");
  }
}

void Cockpit::State::check_step(int64_t step) const {
  TORCH_CHECK(depth_ == 1,
              "watch: it is called from inside a quantity, due steps or a sink; call it from the "
              "training loop");
  TORCH_CHECK(!is_finished_, "watch: the run is finished; make a new cockpit for a new run");
  TORCH_CHECK(!current_,
              "watch: step ",
              current_ ? current_->step() : 0,
              " is still being watched; end its watch before step ",
              step);
  TORCH_CHECK_VALUE(step >= 0, "watch: step is ", step, "; count steps from 0");
  TORCH_CHECK_VALUE(!last_step_ || step > *last_step_,
                    "watch: step ",
                    step,
                    " comes after step ",
                    last_step_.value_or(0),
                    "; steps have to ascend, so it is not watched");
}

void Cockpit::State::complain(int64_t step) {
  if (context_.options.strict) throw;
  const std::string message = current_message();
  output_.warn_once(message, "step " + std::to_string(step) + " is not watched: " + message);
  if (is_finished_) return;
  if (!output_.has_begun()) tell_run();
  output_.remark(step, "", "not watched: " + message);
}

// Finds the groups. Before the graph is known, the only group is the whole model.
void Cockpit::State::find_groups(const Batch& batch) {
  if (knows_groups_) return;
  const Grouping& grouping = context_.options.grouping;
  try {
    const std::shared_ptr<const Capture> capture = capture_of(batch);
    check_scalar(*capture);
    context_.groups = make_groups(grouping, context_.parameters, capture.get());
  } catch (...) {
    if (context_.options.strict) throw;
    output_.remark(current_->step(),
                   "",
                   "groups by " + grouping.text() + " are not known: " + current_message());
    return;
  }
  knows_groups_ = true;
  tell_run();
}

Step::OnFailure Cockpit::State::on_failure() {
  return [this](const std::function<bool(const StepNeeds&)>& concerns, const char* pass) {
    std::set<size_t> concerned(current_->plan().due.begin(), current_->plan().due.end());
    for (size_t k : pending_.for_chord()) concerned.insert(k);
    failures_.switch_off_concerned(
        {concerned.begin(), concerned.end()}, concerns, pass, current_->step());
  };
}

// ---- the beginning ------------------------------------------------------------------------------

bool Cockpit::State::is_watching(int64_t step) {
  const Call call(*this);
  if (crew_ && crew_->owes() && crew_->layout().step == step) return true;
  return current_ && current_->step() == step;
}

Batch Cockpit::State::batch_of(const Tensor& losses) const {
  BatchOptions options;
  options.batch_norm = context_.options.batch_norm;
  options.shared_terms = context_.options.shared_terms;
  options.memory = context_.options.memory;
  return Batch(losses, context_.parameters, std::move(options));
}

bool Cockpit::State::begin_step(int64_t step,
                                const MakeBatch& make_batch,
                                const StepOptions& options) {
  const Call call(*this);
  try {
    check_step(step);
  } catch (...) {
    complain(step);
    return false;
  }
  last_step_ = step;
  if (crew_ && crew_->is_lost()) return false;  // told before: the loop goes on by itself
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (crew_) expect_step(step);
    if (pending_.is_waiting() && !pending_.is_completed_by(step)) drop_pending(step);
    Plan plan = make_plan(step, tracked_, pending_.ends_chord(step), [&](size_t tracked) {
      failures_.switch_off({tracked}, step);
    });
    if (plan.is_empty() && !pending_.is_waiting()) return is_counted_on();
    check_unchanged_parameters();
    if (!output_.has_begun()) tell_run();
    const std::vector<Tensor>& update = pending_.begin_step(plan);
    if (plan.is_empty()) {
      publish({}, {}, std::nullopt);
      return is_counted_on();
    }
    const Batch batch = make_batch();
    // The graph tells which terms are left out of the losses.
    const bool leaves_out = batch.options().shared_terms == SharedTerms::kLeaveOut;
    if (leaves_out && !losses_are_whole_) plan.is_light = false;
    if (plan.is_light && is_of_unknown_size(batch)) {
      if (pending_.is_waiting()) publish({}, {}, std::nullopt);
      return is_counted_on();
    }
    const bool is_light = plan.is_light;
    current_ = std::make_unique<Step>(context_, std::move(plan), batch, options);
    if (!is_light) find_groups(batch);
    current_->begin(batch, update, pending_.known_directions(), on_failure());
    look(batch, options);
    if (!is_light) losses_are_whole_ = current_->has_whole_losses();
    current_->begun(begin);
    return true;
  } catch (...) {
    give_up_step();
    const bool is_waited_for = is_counted_on();
    if (!has_lost_ranks(step)) complain(step);
    return is_waited_for;
  }
}

// Lets quantities read the graph by themselves.
void Cockpit::State::look(const Batch& batch, const StepOptions& options) {
  for (size_t k : current_->plan().due) {
    const auto& function = tracked_[k].functions.look;
    if (!tracked_[k].is_on || !function) continue;
    try {
      current_->look(k, function, batch, options);
    } catch (...) {
      failures_.switch_off({k}, current_->step());
    }
  }
}

void Cockpit::State::give_up_step() {
  current_.reset();
  try {
    if (pending_.is_waiting()) publish({}, {}, std::nullopt);
  } catch (...) {
    // Why this step failed is told by whoever gives it up.
  }
  pending_.drop();
}

void Cockpit::State::drop_pending(int64_t step) {
  const std::string waiting = std::to_string(pending_.step());
  const std::string next = std::to_string(pending_.step() + 1);
  output_.remark(step,
                 "",
                 "what the optimizer did after step " + waiting + " is not known: step " + next +
                     " was not watched; call watch at every step");
  pending_.drop();
}

// ---- the end ------------------------------------------------------------------------------------

void Cockpit::State::end_step(int64_t step) {
  const Call call(*this);
  if (!is_watching(step)) return;
  if (!current_) {
    take_part();
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  current_->ends_backward(begin);
  try {
    if (!current_->finish(on_failure())) {
      TORCH_CHECK(false,
                  "watch: no backward pass went through the losses of step ",
                  step,
                  "; call backward() on a loss computed from them before the watch ends");
    }
    if (crew_) union_ = crew_->meet(current_.get(), pending_.chord_start());
    NamedValues values;
    std::vector<size_t> late = compute_values(values);
    std::optional<ChordEnd> chord_end;
    if (union_) {
      chord_end = union_->data().chord_end;
    } else if (current_->plan().ends_chord && current_->has_gradients()) {
      chord_end = current_->chord_end();
    }
    publish(std::move(values), std::move(late), chord_end);
    pending_.leave(*current_);
    take_remarks();
    union_.reset();
    current_.reset();
    context_.cockpit_seconds += seconds_since(begin);
  } catch (...) {
    union_.reset();
    give_up_step();
    if (crew_ && crew_->owes()) take_part();
    if (!has_lost_ranks(step)) complain(step);
  }
}

// Computes a value of all ranks' samples, where they are exchanged.
Value Cockpit::State::value_of(size_t tracked, const Quantity::Compute& compute) {
  if (current_) current_->check_heard(tracked);
  const auto& share = tracked_[tracked].functions.share;
  const bool is_joint = union_ && crew_->is_joint(tracked, *union_);
  const StepView& view = is_joint ? static_cast<const StepView&>(*union_) : *current_;
  if (is_joint && share) {
    view.show_shared(union_->data().shared.at(tracked));
  } else if (share) {
    view.show_shared(share(*current_));
  }
  const bool has_gradients = is_joint ? union_->has_gradients() : current_->has_gradients();
  return compute_with_remedy(compute, view, has_gradients);
}

std::vector<size_t> Cockpit::State::compute_values(NamedValues& values) {
  std::vector<size_t> late;
  if (union_ && union_->batch_size() == 0) return late;
  const bool has_gradients = union_ ? union_->has_gradients() : current_->has_gradients();
  for (size_t k : plan_of_step().due) {
    const auto& compute = tracked_[k].functions.compute;
    if (!tracked_[k].is_on || !compute) continue;
    // The pass failed and switched off others: this one's value is lost for this step alone.
    if (!has_gradients && needs_gradients(tracked_[k].needs())) continue;
    if (tracked_[k].quantity.reads_numbers() && !union_ && current_->runs_behind()) {
      late.push_back(k);
      continue;
    }
    if (!current_ && !is_computed_without_samples(k)) continue;
    failures_.attempt(
        k, plan_of_step().step, context_.groups, values, [&] { return value_of(k, compute); });
  }
  return late;
}

void Cockpit::State::publish(NamedValues values,
                             std::vector<size_t> late,
                             const std::optional<ChordEnd>& chord_end) {
  Delivery delivery;
  const bool has_step = current_ || union_;
  delivery.step = has_step ? plan_of_step().step : last_step_.value_or(0);
  delivery.time = seconds_since_1970();
  delivery.values = std::move(values);
  if (union_) {
    delivery.samples = union_->data().samples;
    delivery.readings = union_->data().by_rank;
  } else if (current_) {
    delivery.samples = current_->samples();
  }
  if (!late.empty()) {
    std::vector<StepNeeds> needs;
    for (size_t k : late) needs.push_back(tracked_[k].needs());
    delivery.fetched = std::make_unique<FetchedStep>(context_, *current_, needs);
    delivery.late = std::move(late);
  }
  const bool is_light = has_step && plan_of_step().is_light && !pending_.is_waiting();
  if (pending_.is_waiting()) {
    delivery.completed = pending_.complete(chord_end);
    if (union_ && chord_end) delivery.completed->chord_start = *union_->data().chord_start;
  }
  if (is_light) {
    deliveries_.hold(std::move(delivery));
  } else {
    deliveries_.send(std::move(delivery));
  }
  write(context_.options.waits_for_values ? deliveries_.take_all() : deliveries_.take_fetched());
}

std::vector<Reading> Cockpit::State::late_readings(const Delivery& delivery) {
  NamedValues values;
  for (size_t k : delivery.late) {
    if (!tracked_[k].is_on) continue;
    failures_.attempt(k, delivery.step, context_.groups, values, [&] {
      return tracked_[k].functions.compute(*delivery.fetched);
    });
  }
  fetch(values);
  for (const auto& [name, text] : remarks_of(values)) {
    output_.remark(delivery.step, name, text);
  }
  return readings_of(values, context_.groups);
}

void Cockpit::State::write(const std::vector<std::unique_ptr<Delivery>>& deliveries) {
  for (const std::unique_ptr<Delivery>& one : deliveries) {
    std::vector<Reading> readings = readings_of(one->values, context_.groups);
    for (Reading& reading : late_readings(*one)) readings.push_back(std::move(reading));
    readings.insert(readings.end(), one->readings.begin(), one->readings.end());
    for (const Reading& reading : readings) {
      if (reading.field == kRoundingField)
        output_.remark(one->step, reading.quantity, kRoundingRemark);
    }
    name_bad_samples(one->step, readings, one->samples);
    output_.write({one->step, one->time, std::move(readings)});
    for (const auto& [name, text] : remarks_of(one->values)) {
      output_.remark(one->step, name, text);
    }
    if (!one->completed) continue;
    one->completed->sum_squares();
    for (const auto& [name, text] : one->completed->remarks()) {
      output_.remark(one->completed->step, name, text);
    }
    if (one->completed->stood_still()) output_.remark(one->completed->step, "", kStandstill);
    output_.write(pending_.readings_of_completed(*one->completed, one->step, one->time));
  }
}

void Cockpit::State::name_bad_samples(int64_t step,
                                      const std::vector<Reading>& readings,
                                      const StepSamples& samples) {
  if (has_named_samples_) return;
  for (const Reading& reading : readings) {
    const bool is_loss = reading.quantity == "loss" && reading.field.empty();
    if (!is_loss || std::isfinite(reading.number)) continue;
    has_named_samples_ = true;
    const std::string text = not_finite_text(samples);
    if (!text.empty()) output_.remark(step, "loss", text);
  }
}

void Cockpit::State::take_remarks() {
  for (const std::string& text : current_->remarks()) {
    output_.remark(current_->step(), "", text);
  }
  if (!current_->has_gradients()) return;
  warn_of_lost_parameters();
  if (coverage_.empty() && current_->plan().asks_rows()) {
    coverage_ = current_->gradients().coverage.text();
    tell_run();
  }
}

// Warns of a parameter that the model no longer uses (replaced, frozen): it goes on to count, with
// zeros.
void Cockpit::State::warn_of_lost_parameters() {
  const std::vector<ParameterCoverage>& covered = current_->gradients().coverage.parameters;
  took_part_.resize(covered.size());
  for (size_t p = 0; p < covered.size(); ++p) {
    const bool takes_part = covered[p].level != CoverageLevel::kUnused;
    if (took_part_[p] && !takes_part) {
      const std::string matter = "parameter '" + covered[p].name + "' had a part in the losses";
      const bool is_frozen = !context_.parameters[p].tensor.requires_grad();
      const std::string text =
          matter + " and has none any more" +
          (is_frozen ? " (it does not require gradients now)" : "") +
          "; its gradients count as zero. If it was replaced, make a new cockpit of the new "
          "parameters";
      output_.warn_once(matter, "step " + std::to_string(current_->step()) + ": " + text);
      output_.remark(current_->step(), "", text);
    }
    took_part_[p] = took_part_[p] || takes_part;
  }
}

void Cockpit::State::abandon_step(int64_t step) {
  const Call call(*this);
  if (!is_watching(step)) return;
  output_.remark(step, "", "the step ended by an exception; its values are dropped");
  give_up_step();
}

}  // namespace flightdeck
