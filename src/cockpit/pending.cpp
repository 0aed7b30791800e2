// SPDX-License-Identifier: MIT
#include "cockpit/pending.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include <ATen/ATen.h>

#include "passes/kept_rows.h"
#include "quantities/group_sums.h"

namespace flightdeck {
namespace {

// Shows the update after a step to those who asked for it.
class Update final : public UpdateView {
 public:
  using Before = std::function<Tensor()>;
  // Knows only numbers without `updates`; `squares` is [P].
  Update(int64_t step,
         const StepContext& context,
         const Tensor& squares,
         Before before,
         const std::vector<Tensor>* updates)
      : step_(step),
        context_(context),
        each_(squares),
        squares_(sum_stacked_by_group(squares, context.groups)),
        find_before_(std::move(before)),
        updates_(updates) {}

  int64_t step() const override { return step_; }
  const Groups& groups() const override { return context_.groups; }
  const Tensor& squared_update() const override { return squares_; }
  const Tensor& squared_parameters() const override {
    if (!before_.defined()) before_ = find_before_();
    return before_;
  }
  const std::vector<Tensor>& updates() const override {
    TORCH_CHECK(updates_ != nullptr,
                "update view: the quantity reads the update itself, which is more than numbers; "
                "declare it without Quantity::reads_numbers");
    return *updates_;
  }
  const std::vector<Tensor>& squared_updates() const override {
    if (squared_updates_.empty()) squared_updates_ = each_.unbind(0);
    return squared_updates_;
  }
  const Parameters& parameters() const override { return context_.parameters; }

 private:
  int64_t step_;
  const StepContext& context_;
  mutable std::vector<Tensor> squared_updates_;
  Tensor each_, squares_;
  Before find_before_;
  const std::vector<Tensor>* updates_;
  mutable Tensor before_;
};

struct Moments {
  double mean, variance;  // unbiased; NaN of one number
};

Moments moments_of(const Tensor& numbers) {
  const int64_t count = numbers.numel();
  const double* values = numbers.data_ptr<double>();
  double sum = 0, squares = 0;
  for (int64_t k = 0; k < count; ++k) sum += values[k];
  const double mean = sum / static_cast<double>(count);
  for (int64_t k = 0; k < count; ++k) squares += (values[k] - mean) * (values[k] - mean);
  return {mean, count > 1 ? squares / static_cast<double>(count - 1) : NAN};
}

// Sets one end of a chord from its fetched numbers.
void set_end(ChordView& chord, int end, const ChordEnd& numbers) {
  const Moments losses = moments_of(numbers.losses), slopes = moments_of(numbers.slopes);
  chord.batch_size[end] = numbers.batch_size;
  chord.loss[end] = losses.mean;
  chord.loss_variance[end] = losses.variance;
  chord.slope[end] = slopes.mean / chord.length;
  chord.slope_variance[end] = slopes.variance / (chord.length * chord.length);
}

}  // namespace

const std::vector<Tensor>& Pending::begin_step(Plan& plan) {
  static const std::vector<Tensor> none;
  known_.reset();
  if (!waiting_) {
    if (plan.update) tracker_.remember();
    return none;
  }
  tracker_.take(plan.update);
  const auto before = [this] {
    return sum_stacked_by_group(tracker_.squares_before(), context_.groups);
  };
  const bool is_here = !runs_behind(tracker_.squares());
  // On a GPU those that read numbers alone are told when these are here.
  const auto is_late = [&](size_t k) { return !is_here && tracked_[k].quantity.reads_numbers(); };
  std::vector<size_t> late;
  std::vector<size_t>& asked = waiting_->for_update;
  std::copy_if(asked.begin(), asked.end(), std::back_inserter(late), is_late);
  asked.erase(std::remove_if(asked.begin(), asked.end(), is_late), asked.end());
  if (!asked.empty() || is_here) {
    const Update update(waiting_->step, context_, tracker_.squares(), before, &tracker_.updates());
    tell_update(*waiting_, update, plan.step, waiting_->values);
    waiting_->squared_length = update.squared_update()[0];
  }
  waiting_->for_update = std::move(late);
  if (!is_here) {
    waiting_->squares = tracker_.squares();
    waiting_->before = tracker_.squares_before();
  }
  if (!plan.ends_chord) return tracker_.directions();
  try {
    waiting_->chord_start.slopes = slopes_at_start();
  } catch (const c10::OutOfMemoryError&) {
    failures_.skip(waiting_->for_chord, plan.step);
    waiting_->for_chord.clear();
    plan.ends_chord = false;
  } catch (...) {
    failures_.switch_off(waiting_->for_chord, plan.step);
    waiting_->for_chord.clear();
    plan.ends_chord = false;
  }
  waiting_->rows.reset();
  return tracker_.directions();
}

// Several ranks share one update, which no rank's rows have as their mean.
Tensor Pending::slopes_at_start() {
  const std::vector<Tensor>& directions = tracker_.directions();
  const auto* factored = dynamic_cast<const FactoredRows*>(waiting_->rows.get());
  if (factored == nullptr || context_.crew) {
    return waiting_->rows->dots(directions).select(1, 0);
  }
  known_ = factored->know(directions, follows_mean_);
  if (!known_) return factored->dots(directions).select(1, 0);
  return factored->dots(directions, *known_).select(1, 0);
}

void Pending::tell_update(Completed& of,
                          const UpdateView& update,
                          int64_t now,
                          NamedValues& values) {
  for (size_t k : of.for_update) {
    if (!tracked_[k].is_on) continue;
    failures_.attempt(k, now, context_.groups, values, [&] {
      return tracked_[k].functions.after_update(update);
    });
  }
}

Pending::Completed Pending::complete(const std::optional<ChordEnd>& chord_end) {
  Completed completed = std::move(static_cast<Completed&>(*waiting_));
  completed.chord_end = chord_end;
  drop();
  return completed;
}

void Pending::Completed::add_to(Transfer& transfer) {
  transfer.add(values);
  transfer.add(squared_length);
  transfer.add(squares);
  transfer.add(before);
  if (!chord_end) return;
  for (ChordEnd* end : {&chord_start, &*chord_end}) {
    transfer.add(end->losses);
    transfer.add(end->slopes);
  }
}

void Pending::Completed::sum_squares() {
  if (squares.defined()) squared_length = squares.sum();
}

bool Pending::Completed::stood_still() const {
  return squared_length.defined() && *squared_length.data_ptr<double>() == 0;
}

ChordView Pending::Completed::chord() const {
  ChordView chord;
  chord.step = step;
  chord.length = squared_length.defined() ? std::sqrt(*squared_length.data_ptr<double>()) : NAN;
  set_end(chord, 0, chord_start);
  set_end(chord, 1, *chord_end);
  return chord;
}

void Pending::add_chord(const Completed& completed, int64_t now, NamedValues& values) {
  if (!completed.chord_end) return;
  const ChordView view = completed.chord();
  for (size_t k : completed.for_chord) {
    if (!tracked_[k].is_on) continue;
    failures_.attempt(
        k, now, context_.groups, values, [&] { return tracked_[k].functions.after_next(view); });
  }
}

StepReadings Pending::readings_of_completed(Completed& completed, int64_t now, double time) {
  const Groups& groups = context_.groups;
  StepReadings readings{completed.step, time, readings_of(completed.values, groups)};
  NamedValues values;
  if (completed.squares.defined()) {
    const auto before = [&] { return sum_stacked_by_group(completed.before, groups); };
    const Update update(completed.step, context_, completed.squares, before, /*updates=*/nullptr);
    tell_update(completed, update, now, values);
  }
  add_chord(completed, now, values);
  fetch(values);
  for (Reading& reading : readings_of(values, groups)) {
    readings.readings.push_back(std::move(reading));
  }
  return readings;
}

void Pending::leave(const Step& step) {
  const Plan& plan = step.plan();
  if (!plan.update) return;
  Waiting waiting;
  waiting.step = plan.step;
  for (size_t k : plan.due) {
    const TrackedQuantity& tracked = tracked_[k];
    if (!tracked.is_on) continue;
    if (tracked.functions.after_update) waiting.for_update.push_back(k);
    if (tracked.functions.after_next) waiting.for_chord.push_back(k);
  }
  // A pass that failed has switched them off, or had no memory at this step alone.
  if (!step.has_gradients()) waiting.for_chord.clear();
  if (!waiting.for_chord.empty()) {
    try {
      waiting.chord_start = step.chord_start();
      waiting.rows = step.gradients().rows;
    } catch (...) {
      failures_.switch_off(waiting.for_chord, plan.step);
      waiting.for_chord.clear();
    }
  }
  if (!waiting.for_update.empty() || !waiting.for_chord.empty()) waiting_ = std::move(waiting);
}

}  // namespace flightdeck
