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
  Update(int64_t step,
         const StepContext& context,
         const UpdateTracker& tracker,
         const std::vector<Tensor>& updates,
         const std::vector<Tensor>& squared_updates)
      : step_(step),
        context_(context),
        groups_(context.groups),
        tracker_(tracker),
        updates_(updates),
        squared_updates_(squared_updates),
        squares_(sum_by_group(squared_updates, groups_)) {}

  int64_t step() const override { return step_; }
  const Groups& groups() const override { return groups_; }
  const Tensor& squared_update() const override { return squares_; }
  const Tensor& squared_parameters() const override {
    if (!before_.defined()) before_ = sum_by_group(tracker_.squares_before(), groups_);
    return before_;
  }
  const std::vector<Tensor>& updates() const override { return updates_; }
  const std::vector<Tensor>& squared_updates() const override { return squared_updates_; }
  const Parameters& parameters() const override { return context_.parameters; }

 private:
  int64_t step_;
  const StepContext& context_;
  const Groups& groups_;
  const UpdateTracker& tracker_;
  const std::vector<Tensor>&updates_, &squared_updates_;
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
  const Update update(waiting_->step, context_, tracker_, updates, squares);
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

void Pending::add_to(Transfer& transfer, const std::optional<ChordEnd>& chord_end) {
  if (!waiting_) return;
  waiting_->numbers = tensors_of(waiting_->values);
  transfer.add(waiting_->numbers);
  transfer.add(waiting_->squared_length);
  waiting_->chord_end = chord_end;
  if (!waiting_->chord_end) return;
  for (ChordEnd* end : {&waiting_->chord_start, &*waiting_->chord_end}) {
    transfer.add(end->losses);
    transfer.add(end->slopes);
  }
}

bool Pending::stood_still() const {
  const Tensor& length = waiting_->squared_length;
  return length.defined() && length.item<double>() == 0;
}

ChordView Pending::chord() const {
  const Tensor& squared = waiting_->squared_length;
  ChordView chord;
  chord.step = waiting_->step;
  chord.length = squared.defined() ? std::sqrt(squared.item<double>()) : NAN;
  set_end(chord, 0, waiting_->chord_start);
  set_end(chord, 1, *waiting_->chord_end);
  return chord;
}

StepReadings Pending::take_readings(int64_t now, double time) {
  const Groups& groups = context_.groups;
  StepReadings readings{
      waiting_->step, time, readings_of(waiting_->values, waiting_->numbers, groups)};
  if (waiting_->chord_end) {
    const ChordView view = chord();
    NamedValues values;
    for (size_t k : waiting_->for_chord) {
      if (!tracked_[k].is_on) continue;
      failures_.attempt(
          k, now, groups, values, [&] { return tracked_[k].functions.after_next(view); });
    }
    std::vector<Tensor> numbers = tensors_of(values);
    Transfer transfer;
    transfer.add(numbers);
    transfer.run();
    for (Reading& reading : readings_of(values, numbers, groups)) {
      readings.readings.push_back(std::move(reading));
    }
  }
  drop();
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
