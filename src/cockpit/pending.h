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
  // The arguments must outlive this.
  Pending(const StepContext& context, std::vector<TrackedQuantity>& all_tracked, Failures& failures)
      : context_(context),
        tracked_(all_tracked),
        failures_(failures),
        tracker_(context.parameters) {}

  // ---- between two steps ----

  bool is_waiting() const { return waiting_.has_value(); }
  // The step that waits.
  int64_t step() const { return waiting_->step; }
  bool is_completed_by(int64_t step) const { return waiting_ && waiting_->step + 1 == step; }
  // True if `step` is to give loss and slope at the other end of the update.
  bool ends_chord(int64_t step) const {
    return is_completed_by(step) && !waiting_->for_chord.empty();
  }
  // The tracked quantities that wait for that.
  std::vector<size_t> for_chord() const {
    return waiting_ ? waiting_->for_chord : std::vector<size_t>();
  }
  void drop() { waiting_.reset(); }

  // ---- the next step begins ----

  // Takes the update of the step that waits, if one does, and remembers the parameters if the plan
  // asks for the update of its own step. Returns the update, valid until the next call. A plan
  // whose chord failed ends no chord any more.
  const std::vector<Tensor>& begin_step(Plan& plan);

  // ---- the next step ends ----

  // The values and numbers that wait, to be fetched with those of the step that ends.
  void add_to(Transfer& transfer, const std::optional<ChordEnd>& chord_end);
  // True if the optimizer changed nothing. After the transfer.
  bool stood_still() const;
  // What its values have to say in words. After the transfer.
  std::vector<std::pair<std::string, std::string>> remarks() const {
    return remarks_of(waiting_->values, waiting_->numbers);
  }
  // The readings of the step that waits, which waits no longer. After the transfer.
  StepReadings take_readings(int64_t now, double time);

  // From here on `step` waits, if a quantity that was due at it does.
  void leave(const Step& step);

 private:
  struct Waiting {
    int64_t step = 0;
    std::vector<size_t> for_update, for_chord;  // tracked quantities
    std::shared_ptr<const KeptRows> rows;       // until the update is known
    ChordEnd chord_start;
    std::optional<ChordEnd> chord_end;
    Tensor squared_length;        // of the update, once known
    NamedValues values;           // of this step, known since
    std::vector<Tensor> numbers;  // of these values
  };

  ChordView chord() const;

  const StepContext& context_;
  std::vector<TrackedQuantity>& tracked_;
  Failures& failures_;
  UpdateTracker tracker_;
  std::optional<Waiting> waiting_;
};

}  // namespace flightdeck
