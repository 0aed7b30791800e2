// SPDX-License-Identifier: MIT
#include "cockpit/pending.h"

#include <cmath>
#include <utility>

#include <ATen/ATen.h>

#include "quantities/group_sums.h"

namespace flightdeck {
namespace {

// The update after a step, for those who asked for it.
class Update final : public UpdateView {
 public:
  Update(int64_t step, const Groups& groups, const UpdateTracker& tracker, Tensor squares)
      : step_(step), groups_(groups), tracker_(tracker), squares_(std::move(squares)) {}

  int64_t step() const override { return step_; }
  const Groups& groups() const override { return groups_; }
  const Tensor& squared_update() const override { return squares_; }
  const Tensor& squared_parameters() const override {
    if (!before_.defined()) before_ = sum_by_group(tracker_.squares_before(), groups_);
    return before_;
  }

 private:
  int64_t step_;
  const Groups& groups_;
  const UpdateTracker& tracker_;
  Tensor squares_;
  mutable Tensor before_;
};

std::vector<Tensor> as_directions(const std::vector<Tensor>& updates) {
  std::vector<Tensor> directions;
  for (const Tensor& update : updates) directions.push_back(update.unsqueeze(0));
  return directions;
}

// One end of a chord, its numbers fetched.
void set_end(ChordView& chord, int end, const ChordEnd& numbers) {
  const double* losses = numbers.losses.data_ptr<double>();
  const double* slopes = numbers.slopes.data_ptr<double>();
  chord.batch_size[end] = numbers.batch_size;
  chord.loss[end] = losses[0];
  chord.loss_variance[end] = losses[1];
  chord.slope[end] = slopes[0] / chord.length;
  chord.slope_variance[end] = slopes[1] / (chord.length * chord.length);
}

}  // namespace

const std::vector<Tensor>& Pending::begin_step(Plan& plan) {
  static const std::vector<Tensor> none;
  if (!waiting_) {
    if (plan.update) tracker_.remember();
    return none;
  }
  std::vector<Tensor> squares;
  const std::vector<Tensor>& updates = tracker_.take(squares, plan.update);
  const Groups& groups = context_.groups;
  const Update update(waiting_->step, groups, tracker_, sum_by_group(squares, groups));
  for (size_t k : waiting_->for_update) {
    if (!tracked_[k].is_on) continue;
    failures_.attempt(k, plan.step, groups, waiting_->values, [&] {
      return tracked_[k].functions.after_update(update);
    });
  }
  waiting_->squared_length = update.squared_update()[0];
  if (!plan.ends_chord) return updates;
  try {
    const Tensor slopes = waiting_->rows->dots(as_directions(updates)).select(1, 0);
    waiting_->chord_start.slopes = mean_and_variance(slopes);
  } catch (...) {
    failures_.switch_off(waiting_->for_chord, plan.step);
    waiting_->for_chord.clear();
    plan.ends_chord = false;
  }
  waiting_->rows.reset();
  return updates;
}

Pending::Completed Pending::complete(const std::optional<ChordEnd>& chord_end) {
  Completed completed = std::move(static_cast<Completed&>(*waiting_));
  completed.chord_end = chord_end;
  drop();
  return completed;
}

void Pending::Completed::add_to(Transfer& transfer) {
  numbers = tensors_of(values);
  transfer.add(numbers);
  transfer.add(squared_length);
  if (!chord_end) return;
  for (ChordEnd* end : {&chord_start, &*chord_end}) {
    transfer.add(end->losses);
    transfer.add(end->slopes);
  }
}

bool Pending::Completed::stood_still() const {
  return squared_length.defined() && squared_length.item<double>() == 0;
}

ChordView Pending::Completed::chord() const {
  ChordView chord;
  chord.step = step;
  chord.length = squared_length.defined() ? std::sqrt(squared_length.item<double>()) : NAN;
  set_end(chord, 0, chord_start);
  set_end(chord, 1, *chord_end);
  return chord;
}

StepReadings Pending::readings_of_completed(const Completed& completed, int64_t now, double time) {
  const Groups& groups = context_.groups;
  StepReadings readings{
      completed.step, time, readings_of(completed.values, completed.numbers, groups)};
  if (!completed.chord_end) return readings;
  const ChordView view = completed.chord();
  NamedValues values;
  for (size_t k : completed.for_chord) {
    if (!tracked_[k].is_on) continue;
    failures_.attempt(
        k, now, groups, values, [&] { return tracked_[k].functions.after_next(view); });
  }
  for (Reading& reading : readings_of(values, fetched(tensors_of(values)), groups)) {
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
