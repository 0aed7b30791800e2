// SPDX-License-Identifier: MIT
// One of several ranks that watch the same step: what it exchanges with the others, and when.
//
// All ranks make the same collectives in the same order, whatever happens on one of them: what is
// exchanged follows from the plan that all have agreed on (`layout`), not from what this rank could
// compute. What it could not is zero, and it says so.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cockpit/crew_gradients.h"
#include "cockpit/failures.h"
#include "cockpit/output.h"
#include "cockpit/union_step.h"
#include "flightdeck/ranks.h"

namespace flightdeck {

class Crew {
 public:
  // The arguments must outlive this.
  Crew(std::shared_ptr<Ranks> ranks,
       StepContext& context,
       std::vector<TrackedQuantity>& all_tracked,
       Failures& failures,
       Output& output);

  bool is_first() const { return ranks_->rank() == 0; }
  // Returns true after a collective has failed: nothing is exchanged any more.
  bool is_lost() const { return is_lost_; }

  // ---- a step begins ----

  // Returns what all ranks agree to do at this step.
  Plan layout_of(int64_t step) const;
  // Makes the other ranks count on this one at this step from here on.
  void expect(Plan layout);
  bool owes() const { return layout_.has_value(); }
  const Plan& layout() const {
    TORCH_INTERNAL_ASSERT(owes(), "no step is agreed on");
    return *layout_;
  }

  // Returns how many of its samples this rank gives where `samples` of all ranks are asked for; 0
  // of them means all. Every rank gives as many, so that nobody has to know what the others have.
  int64_t share_of(int64_t samples, int64_t own) const;
  // Finds eigenpairs of the matrix of all ranks, for the next spectrum of the layout.
  using MakeOperator = std::function<std::shared_ptr<const LinearOperator>()>;
  Eigenpairs spectrum(const SpectrumNeed& need, const MakeOperator& make_own, int64_t samples);
  // Returns a seed that differs from rank to rank, where samples are to be independent.
  uint64_t seed_of_rank(uint64_t seed) const;

  // Takes part in what is left of the above, on a rank that has nothing to give.
  void sit_out_beginning();

  // ---- it ends ----

  Needs needed_for(Needs asked, int64_t samples) const;
  // Exchanges what the ranks have and returns the step of all. `own` is null on a rank without
  // samples; `start` is its end of the chord that the step before began, or null. If what this rank
  // has cannot be packed it throws and still owes; what fails later is thrown on all ranks, and
  // none owes.
  std::unique_ptr<UnionStep> meet(const Step* own, const ChordEnd* start);
  // Takes part in the whole step, on a rank that has nothing else to give.
  std::unique_ptr<UnionStep> sit_out(const ChordEnd* start);
  // Returns true if the quantity sees what all ranks have; otherwise says once why not.
  bool is_joint(size_t tracked, const UnionStep& step) const;

 private:
  struct Meeting;

  bool ends_chord(int64_t step) const { return chord_step_ && *chord_step_ + 1 == step; }
  bool wants_rows(const Plan& layout) const;
  template <typename Call>
  auto collective(const Call& call);

  void add_own(Meeting& meeting);
  void share_own(Meeting& meeting);
  void add_line(Meeting& meeting);
  void add_failed(Meeting& meeting);
  void add_gradients(Meeting& meeting);
  void add_curvature(const CurvaturePass& pass, Meeting& meeting);
  void take_table(Meeting& meeting);
  void take_first(Meeting& meeting);
  void add_second(Meeting& meeting);
  void pack_second(Meeting& meeting);
  void check_whole(const Meeting& meeting) const;
  void take_second(Meeting& meeting);
  void add_samples(Meeting& meeting);
  void take_samples(Meeting& meeting);
  void take_shared(Meeting& meeting);
  void switch_off_failed(const Meeting& meeting);
  void tell_other_samples(const Meeting& meeting);
  void leave_out_empty(std::vector<std::vector<Tensor>>& of_ranks, size_t tracked, int64_t step);
  void tell_notes(const std::vector<double>& packed, int64_t rank);
  std::vector<Reading> readings_by_rank(const Meeting& meeting) const;

  std::shared_ptr<Ranks> ranks_;
  StepContext& context_;
  std::vector<TrackedQuantity>& tracked_;
  Failures& failures_;
  Output& output_;
  bool is_lost_ = false;
  std::optional<Plan> layout_;
  size_t spectra_done_ = 0;
  std::vector<bool> agreed_off_;       // per tracked quantity
  std::optional<int64_t> chord_step_;  // whose chord the next step ends, on some rank
  LearningRates rates_;                // of the last step that had any
  double left_ = 0;                    // when the last meeting ended, and its step
  int64_t last_step_ = -1;
  std::vector<Note> notes_;  // of this rank, not told to the first one yet
};

// Makes a collective. One that fails leaves the ranks out of step: nothing is exchanged after it.
template <typename Call>
auto Crew::collective(const Call& call) {
  try {
    return call();
  } catch (...) {
    is_lost_ = true;
    layout_.reset();
    throw;
  }
}

}  // namespace flightdeck
