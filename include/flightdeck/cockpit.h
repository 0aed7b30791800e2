// SPDX-License-Identifier: MIT
// The cockpit: watches a training run from inside without changing it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/grouping.h"
#include "flightdeck/parameters.h"
#include "flightdeck/quantity.h"
#include "flightdeck/reading.h"

namespace torch::optim {
class Optimizer;
}

namespace flightdeck {

struct Diagnosis;           // flightdeck/diagnosis.h
struct Finding;             // flightdeck/lamp.h
struct FindingSinkOptions;  // flightdeck/finding_sink.h
struct RecorderOptions;     // flightdeck/record.h
class Ranks;

struct CockpitOptions {
  Grouping grouping = Grouping::automatic();
  /// Failures are thrown instead of switching the quantity off.
  bool strict = false;
  /// Of the batches that the cockpit makes of losses; one that it is given has its own.
  BatchNormPolicy batch_norm = BatchNormPolicy::kRefuse;
  /// Left-out terms are left out of gradients and curvature. Their value is not in the graph: what
  /// reads losses (`loss`, `alpha`, `cabs`) then has no value and says so.
  SharedTerms shared_terms = SharedTerms::kKeep;
  uint64_t seed = 0;  ///< of sampled curvature and starting vectors; PyTorch's is not touched
  MemoryLimits memory;
  /// On a GPU: write a step's values before its watch ends, which waits for the device. Otherwise
  /// they are written when they are there, a step or more later; `flush` fetches them.
  bool waits_for_values = false;
  /// Processes that train one model together: every value is that of all their samples
  /// (flightdeck/ranks.h, docs/distributed.md). All ranks make a cockpit of the same parameters and
  /// quantities, and call `watch` or `sit_out` with the same steps.
  std::shared_ptr<Ranks> ranks;
  /// Up to how many bytes of individual gradients of all ranks are brought together for products of
  /// pairs. Beyond it they are those of rank 0's samples alone, and a remark says so.
  int64_t pairs_bytes = int64_t{64} << 20;
  /// Where warnings go; the default writes them to stderr.
  std::function<void(const std::string&)> on_warning;
  /// Says notes and warnings in the words of the program around, which may have other names for
  /// these options; the default says them as they are.
  std::function<std::string(const std::string&)> wording;
};

/// What may be told about a step beside its batch.
struct StepOptions {
  const torch::optim::Optimizer* optimizer = nullptr;  ///< learning rates are read from it
  std::optional<double> learning_rate;                 ///< instead of the optimizer's
  /// Tensors that are trained, each with its rate: of an optimizer that is no torch::optim one.
  std::optional<std::vector<std::pair<Tensor, double>>> learning_rates;
  /// Who the samples are, [N] integers: places in the data set. Quantities and remarks that name
  /// samples then name these beside the places in the batch.
  Tensor sample_ids;
  Tensor labels, predictions;  ///< of classes, [N] integers, for the same purpose
  Tensor inputs;               ///< [N, ...], where the graph does not show what the model was given
  /// Seconds that parts of this step took, as the loop measured them: "data", "forward", "update".
  std::vector<std::pair<std::string, double>> phases;
  /// How an optimizer that is no torch::optim one steps, each tensor with its formula.
  std::optional<std::vector<std::pair<Tensor, UpdateFormula>>> update_formulas;
};

class StepWatch;

/// Watches the training of some parameters.
///
///   Cockpit cockpit(model->named_parameters(), preset("economy"));
///   cockpit.record_to("runs/first");
///   for (int64_t step = 0; step < steps; ++step) {
///     ...
///     {
///       auto watch = cockpit.watch(step, losses);
///       losses.mean().backward();
///     }
///     optimizer.step();
///   }
///
/// Parameters, `.grad` and random numbers are as without it, to the bit. A quantity that fails is
/// switched off and recorded; nothing is thrown from a watched step unless `strict`.
///
/// It holds the parameters' tensors and may outlive model and optimizer. Any thread may call it;
/// calls wait for one another. Quantities and sinks may call it too, from inside a step: `log` is
/// done at once, `finish` (and the destructor) when the step's call returns, all else is refused.
class Cockpit {
 public:
  /// Throws if a parameter does not require gradients, or two quantities have one name. A tensor
  /// that has several names (tied weights) is watched under the first.
  Cockpit(const Parameters& parameters,
          std::vector<Quantity> quantities,
          CockpitOptions options = {});
  /// A preset by name.
  Cockpit(const Parameters& parameters, const std::string& preset, CockpitOptions options = {});
  /// Finishes the run.
  ~Cockpit();
  Cockpit(const Cockpit&) = delete;
  Cockpit& operator=(const Cockpit&) = delete;

  /// Before the first watched step.
  void add(Quantity quantity);
  void add_sink(std::shared_ptr<Sink> sink);
  /// Records to a folder, which is made; throws if it already holds a run. Of several ranks the
  /// first one records, the others do nothing. What a failing disk has
  /// to say goes to `CockpitOptions::on_warning` too.
  void record_to(const std::string& folder);
  /// The same as the recorder is told: with `resume_at` it goes on with the folder's run at that
  /// step, after `load`, and says so in the record where the number of ranks changed.
  void record_to(const std::string& folder, const RecorderOptions& recorder);
  /// Calls back, on the thread that trains, when a lamp of severity warning or more lights
  /// (flightdeck/finding_sink.h says what else may be asked for). After `record_to`, whose record
  /// the lamps look at, and before the first watched step. Of several ranks the first one is told.
  /// A function that throws is not called again, with a warning.
  void on_finding(std::function<void(const Finding&, const Diagnosis&)> call);
  void on_finding(std::function<void(const Finding&, const Diagnosis&)> call,
                  const FindingSinkOptions& options);
  /// Told with the run: problem, optimizer, seed, ... Before the first watched step.
  void describe(const std::string& key, const std::string& value);

  /// Begins to watch a step with these individual losses [N]: call between forward and backward.
  /// Steps ascend; call it at every step, so that what the optimizer does between two steps is
  /// seen.
  [[nodiscard]] StepWatch watch(int64_t step,
                                const Tensor& losses,
                                const StepOptions& options = {});
  /// The same for a scalar loss, a loss that the engine does not know, or a batch that is asked
  /// other questions too. It is a batch of all samples and of the cockpit's parameters, whose graph
  /// is not held beyond this call.
  [[nodiscard]] StepWatch watch(int64_t step, const Batch& batch, const StepOptions& options = {});

  /// In place of `watch` on a rank that has no samples at this step, where others may have: takes
  /// part in what they exchange. Nothing without ranks.
  void sit_out(int64_t step);

  /// Records numbers of the user's own: accuracy, learning rate.
  void log(int64_t step, const std::string& name, double value);
  void log(int64_t step, const std::map<std::string, double>& values);
  /// The same for lists, histograms and fields.
  void log_readings(int64_t step, std::vector<Reading> readings);
  /// Records a sentence that a person should know; the same one once.
  void remark(int64_t step, const std::string& text);

  /// Writes what is still on a device. Values of steps where only light quantities are due are
  /// fetched with those of a later step, after a second at the latest; `save` and `finish` write
  /// them too.
  void flush();

  /// What outlives a step: where the parameters began, ranges that adapt, eigenvectors to start
  /// from, which quantities are off. With it and the training's own state a run goes on in another
  /// process as if it had not stopped; what waits for a next step is not part of it.
  [[nodiscard]] std::map<std::string, Tensor> save() const;
  /// Before the first watched step. Throws if it is of other parameters, or of other quantities or
  /// settings; nothing is loaded then.
  void load(const std::map<std::string, Tensor>& saved);

  const CockpitOptions& options() const;
  /// What is watched, each tensor once: a batch for `watch` is made of them.
  const Parameters& parameters() const;
  /// True if something is computed at this step, or completed for the step before.
  [[nodiscard]] bool is_due(int64_t step) const;
  /// The same without light quantities (loss, learning rate, time): where they alone are due, no
  /// graph is read.
  [[nodiscard]] bool reads_graph(int64_t step) const;
  /// What is computed at this step and by which passes, for people.
  [[nodiscard]] std::string plan(int64_t step) const;

  /// Ends the run and closes the sinks. What waits for a next step is left out, and a step that is
  /// still being watched is dropped with a remark. The destructor calls it with kFinished, or
  /// kFailed while an exception flies.
  void finish(Ending ending = Ending::kFinished);

  class State;

 private:
  std::shared_ptr<State> state_;
  std::string record_folder_;  // empty: nothing is recorded
};

/// The watch over one step. Its end (destruction or `end`) is the end of the step: from then on the
/// step's values are recorded. A watch that was moved from, that has ended or whose run is finished
/// does nothing; it may outlive its cockpit, and end on another thread than it began.
class [[nodiscard]] StepWatch {
 public:
  StepWatch(StepWatch&& other) noexcept;
  StepWatch& operator=(StepWatch&&) = delete;
  /// Ends the step. Throws only with `strict`, and not while another exception flies: then the step
  /// is dropped.
  ~StepWatch() noexcept(false);

  /// What the destructor does, earlier.
  void end();
  /// What the destructor does while an exception flies: the step is dropped.
  void drop();
  /// False if nothing is due or the step has ended: the watch does nothing.
  bool is_active() const;

 private:
  friend class Cockpit;
  StepWatch(std::weak_ptr<Cockpit::State> cockpit, int64_t step, int exceptions)
      : cockpit_(std::move(cockpit)), step_(step), exceptions_(exceptions) {}

  std::weak_ptr<Cockpit::State> cockpit_;  // empty: nothing to end
  int64_t step_;
  int exceptions_;  // in flight when the watch began
};

}  // namespace flightdeck
