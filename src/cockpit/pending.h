// SPDX-License-Identifier: MIT
// What a watched step leaves to the next one: the parameters before its update, and the quantities
// that wait for the update or for loss and slope at its other end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cockpit/failures.h"
#include "cockpit/step.h"
#include "cockpit/update.h"

namespace flightdeck {

class Pending {
 public:
  // Describes a step whose update, and whose chord if it was asked for, are known.
  struct Completed {
    int64_t step = 0;
    std::vector<size_t> for_update, for_chord;  // tracked quantities
    ChordEnd chord_start;
    std::optional<ChordEnd> chord_end;
    Tensor squares, before;  // [P]: of the update and of the parameters before it, if known
    Tensor squared_length;   // of the update, once known
    NamedValues values;      // of this step, known since

    // Adds the numbers to be fetched with those of the step that ends.
    void add_to(Transfer& transfer);
    // Has to be called after the transfer, before anything below.
    void sum_squares();
    // Returns what its values have to say in words.
    std::vector<std::pair<std::string, std::string>> remarks() const { return remarks_of(values); }
    // Returns true if the optimizer changed nothing.
    bool stood_still() const;
    ChordView chord() const;
  };

  // The arguments must outlive this.
  Pending(const StepContext& context, std::vector<TrackedQuantity>& all_tracked, Failures& failures)
      : context_(context),
        tracked_(all_tracked),
        failures_(failures),
        tracker_(context.parameters) {}

  // ---- between two steps ----

  bool is_waiting() const { return waiting_.has_value(); }
  // Returns the step that waits.
  int64_t step() const { return waiting_->step; }
  bool is_completed_by(int64_t step) const { return waiting_ && waiting_->step + 1 == step; }
  // Returns true if `step` is to give loss and slope at the other end of the update.
  bool ends_chord(int64_t step) const {
    return is_completed_by(step) && !waiting_->for_chord.empty();
  }
  // Returns the tracked quantities that wait for that.
  std::vector<size_t> for_chord() const {
    return waiting_ ? waiting_->for_chord : std::vector<size_t>();
  }
  // Returns this end of that chord, or null if there is none.
  const ChordEnd* chord_start() const {
    const bool has =
        waiting_ && !waiting_->for_chord.empty() && waiting_->chord_start.slopes.defined();
    return has ? &waiting_->chord_start : nullptr;
  }
  void drop() { waiting_.reset(); }

  // ---- the next step begins ----

  // Takes the update of the step that waits, if one does, and remembers the parameters if the plan
  // asks for the update of its own step. Returns the update as directions [1, *shape], valid until
  // the next call. A plan whose chord failed ends no chord any more.
  const std::vector<Tensor>& begin_step(Plan& plan);
  // Returns what else is known of these directions, or null.
  const std::shared_ptr<const KnownDirections>& known_directions() const { return known_; }

  // ---- the next step ends ----

  // Returns the step that waited, which waits no longer.
  Completed complete(const std::optional<ChordEnd>& chord_end);
  // Returns its readings, once the numbers are here. `now` is the step that completed it.
  StepReadings readings_of_completed(Completed& completed, int64_t now, double time);

  // Makes `step` wait from here on, if a quantity that was due at it does.
  void leave(const Step& step);

 private:
  // Calls those that asked for the update; `now` is the step at which this happens.
  void add_chord(const Completed& completed, int64_t now, NamedValues& values);
  void tell_update(Completed& of, const UpdateView& update, int64_t now, NamedValues& values);

  struct Waiting : Completed {
    std::shared_ptr<const KeptRows> rows;  // until the update is known
  };

  const StepContext& context_;
  std::vector<TrackedQuantity>& tracked_;
  Failures& failures_;
  UpdateTracker tracker_;
  std::optional<Waiting> waiting_;
  std::shared_ptr<const KnownDirections> known_;
  std::vector<bool>
      follows_mean_;  // of each parameter: its updates were multiples of mean gradients

  Tensor slopes_at_start();
};

}  // namespace flightdeck
