// SPDX-License-Identifier: MIT
// A cockpit as one of several ranks: it takes part in every step of theirs, whatever its own loop
// does.
#include "cockpit/state.h"
#include "graph/error_message.h"

namespace flightdeck {

void Cockpit::State::expect_step(int64_t step) {
  if (crew_->is_lost()) return;
  if (crew_->owes()) take_part();
  Plan layout = crew_->layout_of(step);
  if (!layout.is_empty()) crew_->expect(std::move(layout));
}

bool Cockpit::State::is_counted_on() {
  if (!crew_ || !crew_->owes()) return false;
  try {
    crew_->sit_out_beginning();
  } catch (...) {
    has_lost_ranks(last_step_.value_or(0));
  }
  return crew_->owes();
}

void Cockpit::State::take_part() {
  const int64_t step = crew_->layout().step;
  try {
    union_ = crew_->sit_out(pending_.chord_start());
    NamedValues values;
    compute_values(values);
    publish(std::move(values), {}, union_->data().chord_end);
  } catch (...) {
    if (!has_lost_ranks(step)) {
      output_.warn_once("take part", "what other ranks have seen is lost: " + current_message());
    }
  }
  union_.reset();
}

void Cockpit::State::sit_out(int64_t step) {
  const Call call(*this);
  if (!crew_ || crew_->is_lost()) return;
  try {
    check_step(step);
    last_step_ = step;
    if (!output_.has_begun()) tell_run();
    if (pending_.is_waiting() && !pending_.is_completed_by(step)) drop_pending(step);
    expect_step(step);
    if (pending_.is_waiting()) {
      Plan nothing;
      nothing.step = step;
      nothing.ends_chord = pending_.ends_chord(step);
      pending_.begin_step(nothing);
    }
    if (crew_->owes()) take_part();
    if (pending_.is_waiting()) publish({}, {}, std::nullopt);
  } catch (...) {
    if (!has_lost_ranks(step)) complain(step);
  }
}

bool Cockpit::State::has_lost_ranks(int64_t step) {
  if (!crew_ || !crew_->is_lost()) return false;
  if (context_.options.strict) throw;
  if (has_told_loss_) return true;
  has_told_loss_ = true;
  const std::string text =
      "the ranks cannot meet any more, and nothing is watched from here on: " + current_message();
  output_.warn("step " + std::to_string(step) + ": " + text);
  output_.note(step, NoteKind::kSwitchedOff, "", text);
  return true;
}

// Returns true, on a rank that sat out, for what reads nothing but what all exchange. State between
// steps (ranges) has to go on there as on all.
bool Cockpit::State::is_computed_without_samples(size_t tracked) const {
  const StepNeeds needs = tracked_[tracked].needs();
  const bool reads_own = tracked_[tracked].functions.look || needs.activations || needs.spectrum;
  return !reads_own && crew_->is_joint(tracked, *union_);
}

}  // namespace flightdeck
