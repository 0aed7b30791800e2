// SPDX-License-Identifier: MIT
// A cockpit at work: who may call when, what a run is, and which step is being watched.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cockpit/crew.h"
#include "cockpit/deliveries.h"
#include "cockpit/failures.h"
#include "cockpit/output.h"
#include "cockpit/pending.h"
#include "cockpit/plan.h"
#include "cockpit/step.h"
#include "flightdeck/cockpit.h"

namespace flightdeck {

class Cockpit::State : public std::enable_shared_from_this<Cockpit::State> {
 public:
  State(const Parameters& parameters, std::vector<Quantity> quantities, CockpitOptions options);

  // ---- before the first step ----
  void add(Quantity quantity);
  void add_sink(std::shared_ptr<Sink> sink);
  void describe(const std::string& key, const std::string& value);
  void load(const std::map<std::string, Tensor>& saved);

  // ---- steps ----
  // The batch is made only if something is due.
  using MakeBatch = std::function<Batch()>;
  bool begin_step(int64_t step, const MakeBatch& make_batch, const StepOptions& options);
  void end_step(int64_t step);
  void sit_out(int64_t step);
  void abandon_step(int64_t step);
  bool is_watching(int64_t step);
  // Makes a batch of individual losses, as the cockpit's options want it.
  Batch batch_of(const Tensor& losses) const;

  // ---- at any time ----
  void log(int64_t step, const std::map<std::string, double>& values);
  void log(int64_t step, std::vector<Reading> readings);
  void remark(int64_t step, const std::string& text);
  void flush();
  void finish(Ending ending);
  std::map<std::string, Tensor> save();
  const CockpitOptions& options() const { return context_.options; }
  const Parameters& parameters() const { return context_.parameters; }
  bool is_due(int64_t step);
  bool reads_graph(int64_t step);
  std::string plan_text(int64_t step);

 private:
  // Stands for one call from outside. Those of other threads wait. What a call runs (quantities,
  // due steps, sinks) may call again, and may even destroy the cockpit: the state lives until the
  // outermost call is over, and only then is a run ended.
  class Call {
   public:
    explicit Call(State& state);
    // Throws in the middle of another call, where `what` must not happen.
    Call(State& state, const char* what);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    std::shared_ptr<State> state_;
    std::lock_guard<std::recursive_mutex> lock_;
  };

  void add_tracked(Quantity quantity);
  // Tells once which quantities were not tracked because parameters are in pieces.
  void tell_refused();
  // Leaves out those whose due steps throw.
  Plan plan(int64_t step) const;
  void tell_run();
  void tell_failures() noexcept;
  void end_run_if_asked() noexcept;

  void check_step(int64_t step) const;
  void check_unchanged_parameters() const;
  void find_groups(const Batch& batch);
  void look(const Batch& batch, const StepOptions& options);
  // Handles failures of a pass: switches off whom it concerns.
  Step::OnFailure on_failure();
  // ---- of several ranks ----
  // Agrees with the others on what this step does; first takes part in a step that was dropped.
  void expect_step(int64_t step);
  // Returns true if they wait for this rank at the end of the step, whatever became of its
  // beginning.
  bool is_counted_on();
  // Takes part in the step with nothing.
  void take_part();
  // Returns true, and tells it, if the ranks cannot meet any more. Is called inside a catch block.
  bool has_lost_ranks(int64_t step);
  // Returns the plan of the step that values are computed from.
  const Plan& plan_of_step() const { return union_ ? union_->plan() : current_->plan(); }
  bool is_computed_without_samples(size_t tracked) const;
  Value value_of(size_t tracked, const Quantity::Compute& compute);

  // Returns those that are computed from what is fetched.
  std::vector<size_t> compute_values(NamedValues& values);
  std::vector<Reading> late_readings(const Delivery& delivery);
  // Sends off everything of this step and the step before, and writes what is here.
  void publish(NamedValues values,
               std::vector<size_t> late,
               const std::optional<ChordEnd>& chord_end);
  void write(const std::vector<std::unique_ptr<Delivery>>& deliveries);
  // Says once which samples' losses are not finite, where the mean of the losses is not.
  void name_bad_samples(int64_t step,
                        const std::vector<Reading>& readings,
                        const StepSamples& samples);
  void take_remarks();
  void warn_of_lost_parameters();
  // Drops this step, but not what is known of the step before.
  void give_up_step();
  void drop_pending(int64_t step);
  // Says once and records, or throws on, what the caller did wrong. Is called inside a catch block.
  void complain(int64_t step);

  std::recursive_mutex mutex_;
  int depth_ = 0;  // calls that have begun and not returned
  StepContext context_;
  std::vector<TrackedQuantity> tracked_;
  std::vector<std::string> refused_;  // quantities, not told yet
  std::map<std::string, std::string> config_;
  std::string coverage_;
  Output output_;
  Failures failures_;
  Pending pending_;
  Deliveries deliveries_;
  bool has_named_samples_ = false;
  bool losses_are_whole_ = false;  // when the graph was last read
  bool knows_groups_ = false;
  std::vector<bool> took_part_;   // per parameter: in the losses of a step before
  std::optional<Ending> ending_;  // asked for
  bool is_finished_ = false;
  std::optional<int64_t> last_step_;
  std::optional<RunInfo> info_;
  std::unique_ptr<Crew> crew_;  // of several ranks
  bool has_told_loss_ = false;
  std::unique_ptr<Step> current_;
  std::unique_ptr<UnionStep> union_;  // the same step of all ranks, while its values are computed
};

}  // namespace flightdeck
