// SPDX-License-Identifier: MIT
// One watched step: runs the passes its plan asks for and shows their results to the quantities.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cockpit/learning_rates.h"
#include "cockpit/plan.h"
#include "cockpit/step_samples.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/quantity.h"
#include "flightdeck/watch.h"
#include "passes/listeners.h"
#include "quantities/entry_sweeps.h"
#include "rows/gpu_tables.h"

namespace flightdeck {

class Crew;

// The key has the kind of a curvature matrix, the samples, and whether it is preconditioned.
using MatrixKey = std::tuple<CurvatureKind, int64_t, bool>;

// Holds what outlives a step.
struct StepContext {
  Parameters parameters{std::vector<NamedParameter>()};
  CockpitOptions options;
  std::vector<Tensor> initial_parameters;
  Groups groups;
  Clock::time_point start;
  std::map<MatrixKey, Tensor> eigenvectors;  // of the last time
  Crew* crew = nullptr;                      // of several ranks
  // Between passes this process has a piece of each parameter: see transient_parameters.h.
  bool is_sharded = false;
  // batches whose exact matrix takes more columns than they allow
  std::vector<CurvatureBatch> sampled;
  int memory_cuts = 0;         // how often the memory of our passes was not to be had
  double cockpit_seconds = 0;  // spent inside the cockpit by steps at which something was due
};

// Finds the pairs that are asked for, beginning at those of the last time, and keeps them.
Eigenpairs leading_pairs(StepContext& context,
                         const LinearOperator& op,
                         const SpectrumNeed& need,
                         uint64_t seed);

// Holds one end of an update: the individual losses and the slopes along it, in double.
struct ChordEnd {
  Tensor losses;  // [N]
  Tensor slopes;  // [N]; undefined until the update is known
  int64_t batch_size = 0;
};

class Step final : public StepView {
 public:
  // Is called inside a catch block with what failed and whom that concerns.
  using OnFailure =
      std::function<void(const std::function<bool(const StepNeeds&)>& concerns, const char* pass)>;

  // Checks what the caller gave; throws. Keeps neither the batch nor its graph.
  Step(StepContext& context, Plan plan, const Batch& batch, const StepOptions& options);

  const Plan& plan() const { return plan_; }

  // Computes curvature, then begins to listen to the backward pass. All passes share one capture of
  // the batch. `update` is the last one, [1, *shape] each, if the plan ends a chord; `known` is
  // what else is known of it, or null.
  void begin(const Batch& batch,
             const std::vector<Tensor>& update,
             const std::shared_ptr<const KnownDirections>& known,
             const OnFailure& on_failure);
  // Lets the tracked quantity read the graph, and hear gradients in the backward pass.
  void look(size_t tracked,
            const Quantity::Look& function,
            const Batch& batch,
            const StepOptions& options);
  // Throws what it threw when it heard them.
  void check_heard(size_t tracked) const;
  // Note when `watch` was called, and when it returns: now.
  void begun(Clock::time_point begin);
  void ends_backward(Clock::time_point now);
  // Takes the gradients after the backward pass. Returns false if there was none.
  bool finish(const OnFailure& on_failure);

  // Returns true if no term is left out of the losses. It is known after `begin`.
  bool has_whole_losses() const { return left_out_.empty() && losses_error_.empty(); }
  bool has_gradients() const { return gradients_.has_value(); }
  // Returns the end for the update after this step: losses known, slopes not yet.
  ChordEnd chord_start() const;
  // Returns the end for the update before this step.
  ChordEnd chord_end() const;
  // Includes the losses where they are known.
  StepSamples samples() const;
  const LearningRates& rates() const { return learning_rates_; }
  bool runs_behind() const { return flightdeck::runs_behind(loss_); }
  // Return what several ranks exchange: the rank's own curvature, or null if its pass failed; the
  // gradients that reached the parameters, over the weight of the losses.
  const Curvature* own_curvature(const CurvatureBatch& batch) const;
  std::vector<Tensor> arrived() const;
  // Returns the remarks of the passes.
  const std::vector<std::string>& remarks() const { return remarks_; }

  // ---- StepView ----
  int64_t step() const override { return plan_.step; }
  int64_t batch_size() const override { return batch_size_; }
  double seconds() const override;
  const Tensor& losses() const override;
  const Tensor& loss() const override;
  const Parameters& parameters() const override { return context_.parameters; }
  const std::vector<Tensor>& initial_parameters() const override {
    return context_.initial_parameters;
  }
  const Groups& groups() const override { return context_.groups; }
  std::vector<double> learning_rates() const override;
  std::vector<double> told_learning_rates() const override { return learning_rates_.distinct(); }
  Tensor sample_ids() const override { return samples_.ids; }
  Tensor labels() const override { return samples_.labels; }
  Tensor predictions() const override { return samples_.predictions; }
  Tensor inputs() const override { return inputs_; }
  std::optional<Optimized> optimized() const override {
    return learning_rates_.optimized(parameters());
  }
  std::vector<std::pair<std::string, double>> phases() const override { return phases_; }
  StepClock clock() const override { return clock_; }
  const std::vector<UpdateFormula>& update_formulas() const override { return update_formulas_; }
  const Gradients& gradients() const override;
  const Curvature& curvature(const CurvatureBatch& batch) const override;
  const Eigenpairs& spectrum(const SpectrumNeed& need) const override;
  const Vivit& vivit(const VivitNeed& need) const override;
  const std::vector<Activation>& activations() const override;
  Tensor histogram(const Bins& bins) const override;
  Tensor joint_histogram(const JointBins& bins) const override;

 private:
  void run_curvatures(const Batch& batch, const OnFailure& on_failure);
  // Samples instead of being exact where the pass allows it and there are too many columns.
  Curvature run_curvature(const Batch& chosen, const CurvaturePass& pass, CurvatureOptions options);
  // Runs a pass; what it throws goes to `on_failure`. Where memory runs out it is run again in
  // smaller pieces.
  void attempt(const OnFailure& on_failure,
               const std::function<bool(const StepNeeds&)>& concerns,
               const char* pass,
               const Batch& batch,
               const std::function<void(const Batch& batch)>& body);
  // Lets passes take less memory from here on. Returns false if they take little already. Is called
  // inside a catch block, where memory ran out.
  bool cut_memory(const char* pass);
  // Returns the batch with the memory that passes may take now.
  Batch within_memory(const Batch& batch) const;
  void run_spectra(const Batch& batch, const OnFailure& on_failure);
  void run_vivits(const Batch& batch, const OnFailure& on_failure);
  Eigenpairs run_spectrum(const Batch& batch, const SpectrumNeed& need) const;
  // Returns the matrix of the first so many samples.
  std::shared_ptr<const LinearOperator> matrix_of(const Batch& batch,
                                                  const SpectrumNeed& need,
                                                  int64_t samples) const;
  void attach(const Batch& batch,
              const std::vector<Tensor>& update,
              const std::shared_ptr<const KnownDirections>& known);
  void keep_arrivals(const Batch& batch);
  void read_losses(const Batch& batch);
  void find_left_out(const Batch& batch);
  uint64_t seed() const { return context_.options.seed + static_cast<uint64_t>(step()); }
  void check_losses_whole() const;
  void add_remarks(const std::vector<std::string>& remarks);

  StepContext& context_;
  Plan plan_;
  LearningRates learning_rates_;
  std::vector<UpdateFormula> update_formulas_;  // where a preconditioned matrix is asked for
  int64_t batch_size_;
  StepSamples samples_;  // without losses
  Tensor inputs_;
  std::vector<std::pair<std::string, double>> phases_;
  StepClock clock_;
  Clock::time_point returned_;  // from `watch`
  EntrySweeps sweeps_;          // before the listeners, which read it
  std::unique_ptr<Listeners> listeners_;
  std::vector<Tensor> arrived_;  // copies of what reached the parameters, for several ranks
  Tensor individual_, loss_;     // detached
  std::string unread_;           // why there are no individual losses
  std::optional<Watch> watch_;
  std::optional<Gradients> gradients_;
  std::vector<std::pair<CurvatureBatch, Curvature>> curvatures_;
  std::vector<std::pair<SpectrumNeed, Eigenpairs>> spectra_;
  std::vector<std::pair<VivitNeed, std::unique_ptr<Vivit>>> vivits_;
  std::optional<std::vector<Activation>> activations_;
  std::vector<std::string> left_out_;  // terms of the losses
  std::string losses_error_;           // why these are not known
  std::vector<std::string> remarks_;
};

}  // namespace flightdeck
