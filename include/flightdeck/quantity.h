// SPDX-License-Identifier: MIT
// A quantity: a value tracked over steps. What it is called, what it needs, how it is computed.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/curvature.h"
#include "flightdeck/due_steps.h"
#include "flightdeck/gradients.h"
#include "flightdeck/grouping.h"
#include "flightdeck/histogram.h"
#include "flightdeck/parameters.h"
#include "flightdeck/products.h"
#include "flightdeck/settings.h"
#include "flightdeck/spectra.h"
#include "flightdeck/vivit.h"

namespace flightdeck {

/// What a quantity costs beside the training step, roughly. For lists and plans.
enum class Cost {
  kFree,        ///< reads what is there
  kFirstOrder,  ///< asks the individual gradients of the user's own backward pass
  kCurvature,   ///< sends columns back through the graph
  kSpectrum,    ///< several products with a curvature matrix
};
const char* to_string(Cost cost);

// ---- needs --------------------------------------------------------------------------------------

/// Samples and sampling of a curvature matrix.
struct CurvatureBatch {
  int64_t samples = 0;     ///< the first so many of the batch; 0 means all
  int64_t mc_samples = 1;  ///< for sampled needs
  /// Exact needs that take more columns are answered by those that are sampled from the GGN, and a
  /// remark says so; 0: never. Whoever sets it reads either.
  int64_t max_columns = 0;

  bool operator==(const CurvatureBatch& other) const {
    return samples == other.samples && mc_samples == other.mc_samples &&
           max_columns == other.max_columns;
  }
};

struct SpectrumNeed {
  CurvatureKind kind = CurvatureKind::kHessian;
  int64_t samples = 0;      ///< the first so many of the batch; 0 means all
  double tolerance = 1e-2;  ///< mini-batches differ by far more
  int64_t max_products = 100;
  /// Whether a value that stands still will do before its error is known to be below the tolerance.
  bool until_proved = false;
  int64_t largest = 0, smallest = 0;  ///< how many pairs at either end
  /// Of S H S in place of H, with S² the optimizer's rate over scale for every entry: no pairs
  /// where `StepView::update_formulas` has none.
  bool is_preconditioned = false;
};

struct VivitNeed {
  int64_t samples = 0;  ///< the first so many of the batch; 0 means all
  LossColumns columns = LossColumns::kExact;
  int64_t mc_samples = 1;  ///< for sampled columns
  bool gradients = false;  ///< slopes along the eigenvectors too

  bool operator==(const VivitNeed& other) const {
    return samples == other.samples && columns == other.columns && mc_samples == other.mc_samples &&
           gradients == other.gradients;
  }
};

/// What a quantity asks of the passes at one step. The planner joins the needs of all quantities
/// that are due and runs each pass once.
struct StepNeeds {
  Needs gradients;
  std::vector<Bins> histograms;
  std::vector<JointBins> joint_histograms;
  /// Diagonals and traces. Those with the same batch are computed together.
  CurvatureNeeds curvature;
  CurvatureBatch curvature_batch;
  std::optional<SpectrumNeed> spectrum;
  std::optional<VivitNeed> vivit;
  bool activations = false;  ///< outputs of nonlinearities, as saved in the graph
  bool update = false;       ///< the step the optimizer takes; for `after_update`
  bool chord = false;        ///< loss and slope at both ends of that step; for `after_next`
};

// ---- values -------------------------------------------------------------------------------------

/// The field that says that a value is limited by rounding.
constexpr const char* kRoundingField = "limited_by_rounding";

/// What a quantity has to say about one step. Tensors may live on any device; they are fetched
/// together at the end of the step.
class Value {
 public:
  struct Field {
    enum class Kind { kNumbers, kList, kHistogram, kRounding };
    std::string name;
    Kind kind = Kind::kNumbers;
    /// kNumbers, kRounding: [] or [G]; kList: [n]; kHistogram: [G, count] or [G, a, b]
    Tensor data;
    Tensor outside;  ///< kHistogram: [G, 3], entries below, above and NaN; may be undefined
    std::vector<Bins> axes;
  };

  /// Nothing to say this time.
  Value() = default;
  /// Nothing, and why: "needs at least two samples". Recorded once as a remark.
  [[nodiscard]] static Value none(std::string why);
  /// One number for the whole model [], or one per group [G] with the whole model first.
  Value(const Tensor& numbers) { with("", numbers); }
  Value(double number);

  /// Further fields beside the main one, which has the empty name.
  Value& with(std::string field, const Tensor& numbers);
  Value& with(std::string field, double number);
  Value& with_list(std::string field, const Tensor& list);
  Value& with_histogram(std::string field,
                        std::vector<Bins> axes,
                        const Tensor& counts,
                        const Tensor& outside = {});

  /// An estimate of the value's relative error by rounding, [] or [G]. It is recorded as the field
  /// "limited_by_rounding" where it is above kRoundingLimit, and said once in a remark.
  Value& with_rounding(const Tensor& share);

  /// Something to be said in words that depends on numbers: `say` gets them, fetched with all
  /// others at the end of the step, and returns a remark or nothing. One text is recorded once.
  using Say = std::function<std::string(const std::vector<double>& numbers)>;
  Value& with_remark(const Tensor& numbers, Say say);

  struct Remark {
    Tensor numbers;
    Say say;
  };

  const std::vector<Field>& fields() const { return fields_; }
  const std::vector<Remark>& remarks() const { return remarks_; }
  const std::string& reason() const { return reason_; }

 private:
  std::vector<Field> fields_;
  std::vector<Remark> remarks_;
  std::string reason_;
};

// ---- what a computation sees --------------------------------------------------------------------

/// Output of one nonlinearity.
struct Activation {
  std::string op;     ///< "relu", "sigmoid", "tanh", ...
  std::string layer;  ///< module of the parameter that feeds it: "conv1"; made unique by a number
  Tensor output;      ///< [N, units, ...], detached
  /// Bounds of the outputs: 0 and infinity for relu.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  /// True: it reaches its bounds and has no slope there, as relu does; false: it nears them, as
  /// tanh.
  bool reaches_bounds = false;
};

/// What the loop's optimizer trains, as it was told to `watch`.
struct Optimized {
  std::vector<bool> parameters;  ///< one per watched parameter
  int64_t others = 0;            ///< tensors that are not watched
};

/// Where the time of a run went, in seconds since the cockpit was made.
struct StepClock {
  double begin = 0;     ///< when this step's watch began
  double backward = 0;  ///< from the return of `watch` to the end of the watch: the backward pass
  double cockpit = 0;   ///< spent inside the cockpit so far, this step's end not yet included
};

/// How an optimizer turns the gradient g of a parameter into a step: with m <- momentum m + c g,
/// c = 1 - momentum if it averages and 1 else, the step is -rate m / scale.
struct UpdateFormula {
  double rate = 0;
  double momentum = 0;
  bool averages = false, is_nesterov = false;
  Tensor scale;  ///< of the parameter's shape; undefined means 1
};

/// One step, after its backward pass: read-only. Asking for what was not in the needs is an error.
/// G counts groups; line 0 of every [G, ...] is the whole model.
class StepView {
 public:
  virtual ~StepView() = default;

  virtual int64_t step() const = 0;
  virtual int64_t batch_size() const = 0;    ///< N
  virtual double seconds() const = 0;        ///< since the cockpit was made
  virtual const Tensor& losses() const = 0;  ///< [N] detached; throws if only a scalar was given
  virtual const Tensor& loss() const = 0;    ///< mean of the losses, []
  virtual const Parameters& parameters() const = 0;
  virtual const std::vector<Tensor>& initial_parameters() const = 0;
  virtual const Groups& groups() const = 0;
  /// Per parameter; throws, saying how to give them, if neither optimizer nor rate was given.
  virtual std::vector<double> learning_rates() const = 0;
  /// The rates that were told, each once, ascending; empty if none was.
  virtual std::vector<double> told_learning_rates() const { return {}; }
  /// What was told of the samples, [N] int64 on any device: StepOptions. Undefined if it was not.
  virtual Tensor sample_ids() const { return {}; }
  virtual Tensor labels() const { return {}; }
  virtual Tensor predictions() const { return {}; }
  virtual Tensor inputs() const { return {}; }  ///< [N, ...], any type
  /// Nothing if neither an optimizer nor what it trains was told.
  virtual std::optional<Optimized> optimized() const { return std::nullopt; }
  /// Parts of the step that the loop timed: name and seconds.
  virtual std::vector<std::pair<std::string, double>> phases() const { return {}; }
  virtual StepClock clock() const { return {}; }
  /// As GraphView::update_formulas, where a preconditioned spectrum is among the needs.
  virtual const std::vector<UpdateFormula>& update_formulas() const;

  virtual const Gradients& gradients() const = 0;
  virtual const Curvature& curvature(const CurvatureBatch& batch) const = 0;
  /// Pairs at the ends asked for: `largest` first, then `smallest`; may hold more than asked.
  virtual const Eigenpairs& spectrum(const SpectrumNeed& need) const = 0;
  virtual const Vivit& vivit(const VivitNeed& need) const = 0;
  virtual const std::vector<Activation>& activations() const = 0;
  /// Raw counts of the individual gradients' entries, int64 [G, count + 3]: below, bins, above,
  /// NaN.
  virtual Tensor histogram(const Bins& bins) const = 0;
  /// int64 [G, gradient bins, parameter bins].
  virtual Tensor joint_histogram(const JointBins& bins) const = 0;

  /// What this quantity's `share` gave: each tensor with those of all ranks behind one another in
  /// dimension 0, in the order of the ranks. Without ranks it is its own.
  const std::vector<Tensor>& shared() const { return shared_; }
  /// For what runs quantities.
  void show_shared(std::vector<Tensor> shared) const { shared_ = std::move(shared); }

  // ---- sums over groups, in double ----
  /// One tensor per parameter, all of one shape [...]: their sums over each group, [G, ...].
  Tensor group_sums(const std::vector<Tensor>& per_parameter) const;
  /// Number of parameter entries in each group, [G].
  Tensor group_sizes() const;
  Tensor squared_norms() const;  ///< ||g_n||² within each group, [G, N]; needs kNorms
  Tensor mean_dots() const;      ///< <g_n, g> with g the mean, [G, N]; needs kMeanDots
  Tensor squared_mean() const;   ///< ||g||², [G]; needs kMeanDots
  Tensor deviations() const;     ///< ||g_n - g||², [G, N]; needs kDeviations
  /// Estimates the relative error by rounding of a sum over the samples of squared differences
  /// between gradients, [G]; needs kMeanDots. See Value::with_rounding.
  Tensor rounding_share(const Tensor& scatter) const;
  /// One field of the gradients, per parameter.
  std::vector<Tensor> gradients(Tensor ParameterGradients::*field) const;

 private:
  mutable std::vector<Tensor> shared_;  // of the quantity that is computed now
  // Several quantities ask for them.
  mutable Tensor squared_norms_, mean_dots_, deviations_, rounding_noise_;
};

class EntrySweeps;

/// The graph of a step before its backward pass frees it. Valid during the call that gets it.
class GraphView {
 public:
  virtual ~GraphView() = default;

  /// What is known of the step so far: who it is and what was told of it.
  virtual const StepView& step() const = 0;
  virtual const Batch& batch() const = 0;
  /// The reading of the graph; for quantities of the library, which know what it is made of.
  virtual const Capture& capture() const = 0;
  /// Calls back in the backward pass with the gradients that reach a node of the capture, one per
  /// output and some undefined. They are to be read at once and not held. What `heard` throws
  /// switches the quantity off and does not reach the backward pass.
  using Heard = std::function<void(const std::vector<Tensor>& gradients)>;
  virtual void listen(size_t node, Heard heard) const = 0;
  /// Sums over entries that quantities of the library share; outlives this view, up to the end of
  /// the step.
  virtual EntrySweeps& sweeps() const = 0;
  /// One per parameter; none if the optimizer was not told or is of a kind that is not known.
  virtual std::vector<UpdateFormula> update_formulas() const = 0;
};

/// The step the optimizer took after step k. Known at the next call of watch.
class UpdateView {
 public:
  virtual ~UpdateView() = default;
  virtual int64_t step() const = 0;  ///< k
  virtual const Groups& groups() const = 0;
  virtual const Tensor& squared_update() const = 0;      ///< sum of squares per group, [G]
  virtual const Tensor& squared_parameters() const = 0;  ///< of the parameters before it, [G]
  /// One per parameter, valid during the call: the update, and its sum of squares [].
  virtual const std::vector<Tensor>& updates() const = 0;
  virtual const std::vector<Tensor>& squared_updates() const = 0;
  virtual const Parameters& parameters() const = 0;  ///< with the values after it
};

/// Loss and slope along the step the optimizer took after step k, at both of its ends. Numbers of
/// the two mini-batches: index 0 is step k, 1 is step k + 1.
struct ChordView {
  int64_t step = 0;   ///< k
  double length = 0;  ///< t = ||update||
  int64_t batch_size[2] = {0, 0};
  double loss[2] = {0, 0};            ///< mean loss
  double slope[2] = {0, 0};           ///< mean of g_n·d with d = update / t
  double loss_variance[2] = {0, 0};   ///< of the individual losses, unbiased; NaN for N = 1
  double slope_variance[2] = {0, 0};  ///< of g_n·d, unbiased; NaN for N = 1
};

// ---- the quantity -------------------------------------------------------------------------------

/// A quantity is put together from these parts; every one but the name and one computation may be
/// left out.
///
///   Quantity("grad_max")
///       .summary("Largest entry of the mini-batch gradient")
///       .needs(Need::kMean)
///       .compute([](const StepView& step) -> Value {
///         Tensor largest = torch::zeros({});
///         for (const auto& p : step.gradients().parameters)
///           largest = torch::maximum(largest, p.mean.abs().max());
///         return largest;
///       });
class Quantity {
 public:
  using Look = std::function<void(const GraphView&)>;
  using Compute = std::function<Value(const StepView&)>;
  using NeedsAt = std::function<StepNeeds()>;
  using AfterUpdate = std::function<Value(const UpdateView&)>;
  using AfterNext = std::function<Value(const ChordView&)>;
  /// The functions of one run. `make` is called once per cockpit, so that state kept between steps
  /// belongs to one run.
  struct Functions {
    Look look;  ///< before the backward pass of a due step
    /// What it has read of this rank's samples by itself (in `look`, of activations), before
    /// `compute` of a due step: numbers [rows, ...], of which those of all ranks are shown to
    /// `compute` as `StepView::shared`. As many tensors on every rank, of one shape but for rows.
    std::function<std::vector<Tensor>(const StepView&)> share;
    Compute compute;           ///< at the end of a due step
    AfterUpdate after_update;  ///< when the update of a due step is known
    AfterNext after_next;      ///< at the end of the step after a due one
    NeedsAt needs;             ///< instead of the fixed needs, where they change from step to step
    /// What is kept between steps, as numbers, and its return: both or neither.
    std::function<std::vector<double>()> save;
    std::function<void(const std::vector<double>&)> load;
  };

  explicit Quantity(std::string name) : name_(std::move(name)) {}

  Quantity& summary(std::string text);
  Quantity& needs(Needs gradients);
  Quantity& needs(StepNeeds needs);
  Quantity& cost(Cost cost);
  Quantity& compute(Compute function);
  Quantity& after_update(AfterUpdate function);
  Quantity& after_next(AfterNext function);
  /// Instead of the three above: functions with state of their own.
  Quantity& make(std::function<Functions()> factory);
  Quantity& on(DueSteps due);
  Quantity& every(int64_t interval) { return on(DueSteps::every(interval)); }
  /// Another name, so that one cockpit can hold two of a kind.
  Quantity& named(std::string name);
  /// Where the definition stands and how it reads; for lists.
  Quantity& reference(std::string text);
  /// True if it gives values per group too.
  Quantity& has_groups(bool has);
  /// True if it only passes on what a loop has anyway, `StepView::loss` and what was told: presets
  /// have it at every step. A step where nothing else is due reads no graph.
  Quantity& light(bool is_light);
  /// True if `compute` reads nothing of a step but numbers per sample, parameter or bin: losses,
  /// norms, products, histograms, what was told. Of a step on a GPU these are fetched without
  /// waiting, and it is computed on the CPU when they are there.
  Quantity& reads_numbers(bool reads);
  /// True if it reads values of parameters outside of the backward pass: of a model whose
  /// parameters are in pieces on several processes (fully_shard of PyTorch) nobody has them.
  Quantity& reads_parameters(bool reads);
  /// True if it measures the process and not the training: two runs that are the same in all else
  /// differ in it, and of several ranks each has its own.
  Quantity& measures_process(bool measures);
  /// True if a number that the user logs under its name takes its place.
  Quantity& gives_way(bool gives);
  Quantity& settings(const Settings& settings);

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::string& reference() const { return reference_; }
  const StepNeeds& needs() const { return needs_; }
  Cost cost() const { return cost_; }
  const DueSteps& due() const { return due_; }
  bool has_groups() const { return has_groups_; }
  bool is_light() const { return is_light_; }
  bool reads_numbers() const { return reads_numbers_; }
  bool reads_parameters() const { return reads_parameters_; }
  bool measures_process() const { return measures_process_; }
  bool gives_way() const { return gives_way_; }
  const std::vector<SettingInfo>& setting_infos() const { return setting_infos_; }
  const std::string& settings_text() const { return settings_text_; }
  Functions functions() const;

 private:
  std::string name_, summary_, reference_, settings_text_;
  StepNeeds needs_;
  Cost cost_ = Cost::kFree;
  DueSteps due_;
  bool has_groups_ = false, is_light_ = false, reads_numbers_ = false, gives_way_ = false;
  bool reads_parameters_ = false, measures_process_ = false;
  std::vector<SettingInfo> setting_infos_;
  Functions functions_;
  std::function<Functions()> factory_;
};

// ---- the catalogue ------------------------------------------------------------------------------

/// A quantity of the catalogue by name; throws, suggesting the nearest, if there is none.
///
///   quantity("hess_trace", {{"curvature", "ggn"}, {"samples", 32}}).every(10)
[[nodiscard]] Quantity quantity(const std::string& name, Settings settings = {});

/// All of the catalogue with default settings, by name.
[[nodiscard]] std::vector<Quantity> all_quantities();

/// Adds a quantity to the catalogue of this program: from now on it has its name wherever
/// quantities have names. Throws if there is one of that name, saying what both are. Safe to call
/// from any thread. Always true, so that a constant outside of functions can hold the call.
bool register_quantity(Quantity quantity);
/// The same for one with settings: `make` reads them, and is called for every quantity that is
/// asked for.
bool register_quantity(std::function<Quantity(Settings& settings)> make);

/// The papers' sets "economy", "business" and "full", "diagnosis", and those of the program;
/// throws, listing them, on any other name. What is light is there at every step, all else on the
/// due steps.
[[nodiscard]] std::vector<Quantity> preset(const std::string& name, const DueSteps& due);
/// On the preset's own steps, or on all where it has none.
[[nodiscard]] std::vector<Quantity> preset(const std::string& name);

struct PresetInfo {
  std::string name;
  std::string summary;
  std::vector<std::string> quantities;
  /// The steps it is meant for, where nobody says which; nothing: those that whoever asks has.
  std::optional<DueSteps> due = std::nullopt;
};
/// The one of that name; throws, listing all, if there is none.
PresetInfo find_preset(const std::string& name);
/// In the order in which they were made.
std::vector<PresetInfo> all_presets();

/// Adds a preset, as `register_quantity` does a quantity.
bool register_preset(PresetInfo preset);

}  // namespace flightdeck
