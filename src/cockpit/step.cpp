// SPDX-License-Identifier: MIT
#include "cockpit/step.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "cockpit/activations.h"
#include "cockpit/crew.h"
#include "cockpit/step_checks.h"
#include "cockpit/step_histograms.h"
#include "cockpit/update_formulas.h"
#include "graph/error_message.h"
#include "passes/capture.h"

namespace flightdeck {
namespace {

Tensor mean_loss(const Batch& batch) {
  const Tensor values = batch.losses().detach().to(at::kDouble);
  if (!batch.is_scalar()) return values.mean();
  const bool is_sum = batch.options().reduction == Reduction::kSum;
  return is_sum ? values / batch.size() : values;
}

// Copies the losses, since the loop may write over them before they are read.
Tensor copied(const Tensor& losses) {
  return losses.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true);
}

template <typename Key, typename Result, typename IsSame>
const Result& find(const std::vector<std::pair<Key, Result>>& results,
                   const IsSame& is_same,
                   const char* what) {
  for (const auto& [key, result] : results) {
    if (is_same(key)) return result;
  }
  TORCH_CHECK(false, "step view: no ", what, " of that kind was computed; name it in the needs");
}

// Shows the graph as one tracked quantity sees it.
class Graph final : public GraphView {
 public:
  Graph(const Step& step,
        size_t tracked,
        const Batch& batch,
        const Capture& capture,
        const StepOptions& options,
        Listeners& listeners,
        EntrySweeps& sweeps)
      : step_(step),
        tracked_(tracked),
        batch_(batch),
        capture_(capture),
        options_(options),
        listeners_(listeners),
        sweeps_(sweeps) {}

  const StepView& step() const override { return step_; }
  const Batch& batch() const override { return batch_; }
  const Capture& capture() const override { return capture_; }
  void listen(size_t node, Heard heard) const override {
    listeners_.add(node, tracked_, std::move(heard));
  }
  EntrySweeps& sweeps() const override { return sweeps_; }
  std::vector<UpdateFormula> update_formulas() const override {
    return read_update_formulas(options_, step_.parameters());
  }

 private:
  const Step& step_;
  size_t tracked_;
  const Batch& batch_;
  const Capture& capture_;
  const StepOptions& options_;
  Listeners& listeners_;
  EntrySweeps& sweeps_;
};

}  // namespace

Step::Step(StepContext& context, Plan plan, const Batch& batch, const StepOptions& options)
    : context_(context),
      plan_(std::move(plan)),
      learning_rates_(options),
      batch_size_(checked_size(batch, context.parameters)),
      samples_(told_samples(options, batch_size_)),
      inputs_(checked_inputs(options.inputs, batch_size_)),
      phases_(options.phases),
      loss_(mean_loss(batch)) {
  for (const SpectrumNeed& need : plan_.spectra) {
    if (!need.is_preconditioned) continue;
    update_formulas_ = read_update_formulas(options, context.parameters);
    break;
  }
}

void Step::look(size_t tracked,
                const Quantity::Look& function,
                const Batch& batch,
                const StepOptions& options) {
  const compat::PassGuard guard;
  const std::shared_ptr<const Capture> capture = capture_of(batch);
  if (!listeners_) listeners_ = std::make_unique<Listeners>(capture);
  function(Graph(*this, tracked, batch, *capture, options, *listeners_, sweeps_));
}

void Step::check_heard(size_t tracked) const {
  if (listeners_) listeners_->check(tracked);
}

void Step::begun(Clock::time_point begin) {
  returned_ = Clock::now();
  context_.cockpit_seconds += seconds_between(begin, returned_);
  clock_.begin = seconds_between(context_.start, begin);
}

void Step::ends_backward(Clock::time_point now) {
  clock_.backward = seconds_between(returned_, now);
  clock_.cockpit = context_.cockpit_seconds;
}

bool Step::cut_memory(const char* pass) {
  constexpr int kMostCuts = 8;
  constexpr int64_t kShare = 4;
  if (context_.memory_cuts >= kMostCuts) return false;
  ++context_.memory_cuts;
  MemoryLimits& memory = context_.options.memory;
  for (int64_t* limit : {&memory.scratch_bytes, &memory.stack_bytes, &memory.keep_bytes}) {
    *limit = std::max<int64_t>(1, *limit / kShare);
  }
  std::string error = current_message();
  add_remarks({std::string(pass) + ": out of memory at step " + std::to_string(step()) +
               ": from here on our passes take a quarter of what they took (cut " +
               std::to_string(context_.memory_cuts) + " of " + std::to_string(kMostCuts) +
               "). A smaller batch, fewer samples for the quantity or fewer quantities at a time "
               "need less (" +
               error.substr(0, error.find('\n')) + ")"});
  return true;
}

Batch Step::within_memory(const Batch& batch) const {
  if (context_.memory_cuts == 0) return batch;
  const MemoryLimits& most = context_.options.memory;
  BatchOptions options = batch.options();
  MemoryLimits& own = options.memory;
  if (own.scratch_bytes <= most.scratch_bytes && own.stack_bytes <= most.stack_bytes &&
      own.keep_bytes <= most.keep_bytes) {
    return batch;
  }
  own.scratch_bytes = std::min(own.scratch_bytes, most.scratch_bytes);
  own.stack_bytes = std::min(own.stack_bytes, most.stack_bytes);
  own.keep_bytes = std::min(own.keep_bytes, most.keep_bytes);
  return Batch(batch.losses(), batch.parameters(), std::move(options));
}

void Step::attempt(const OnFailure& on_failure,
                   const std::function<bool(const StepNeeds&)>& concerns,
                   const char* pass,
                   const Batch& batch,
                   const std::function<void(const Batch& batch)>& body) {
  while (true) {
    try {
      body(within_memory(batch));
      return;
    } catch (const c10::OutOfMemoryError&) {
      if (context_.crew || !cut_memory(pass)) {
        on_failure(concerns, pass);
        return;
      }
    } catch (...) {
      on_failure(concerns, pass);
      return;
    }
  }
}

void Step::attach(const Batch& batch,
                  const std::vector<Tensor>& update,
                  const std::shared_ptr<const KnownDirections>& known) {
  GradientOptions options;
  options.histograms = plan_.histograms;
  options.joint_histograms = plan_.joint_histograms;
  options.keep_rows = plan_.chord;
  options.looks_at_losses = false;  // the cockpit names the samples when the losses are here
  Needs needs = plan_.gradients;
  if (plan_.ends_chord) {
    needs = needs | Need::kDots;
    options.directions = update;
    options.known_directions = known;
  }
  if (context_.crew && plan_.asks_rows()) {
    options.keep_rows = options.keep_rows || JointGradients::keeps_rows(needs);
    needs = context_.crew->needed_for(needs, batch_size_);
  }
  watch_.emplace(batch, needs, options);
  if (context_.crew && needs.has(Need::kArrivedNorm)) keep_arrivals(batch);
}

// Keeps what arrived: the norm of the gradient of all ranks is not a function of their norms.
void Step::keep_arrivals(const Batch& batch) {
  const std::shared_ptr<const Capture> capture = capture_of(batch);
  if (!listeners_) listeners_ = std::make_unique<Listeners>(capture);
  arrived_.assign(parameters().size(), Tensor());
  for (size_t p = 0; p < parameters().size(); ++p) {
    const int64_t leaf = capture->parameters[p].leaf;
    if (leaf < 0) continue;
    constexpr auto kNobody = static_cast<size_t>(-1);
    listeners_->add(leaf, kNobody, [this, p](const std::vector<Tensor>& gradients) {
      if (arrived_[p].defined() || !gradients[0].defined()) return;
      arrived_[p] = gradients[0].is_sparse() ? gradients[0].to_dense() : gradients[0].clone();
    });
  }
}

void Step::read_losses(const Batch& batch) {
  // The individual losses of a scalar are read from its graph.
  if (plan_.is_light && batch.is_scalar()) {
    unread_ = "the individual losses of a scalar are not read where only light quantities are due";
    return;
  }
  try {
    individual_ = batch.individual_losses();
  } catch (const c10::Error& error) {
    unread_ = error.what_without_backtrace();
  }
}

void Step::find_left_out(const Batch& batch) {
  if (batch.options().shared_terms == SharedTerms::kKeep) return;
  try {
    const std::shared_ptr<const Capture> capture = capture_of(batch);
    check_scalar(*capture);
    left_out_ = capture->left_out;
  } catch (const c10::Error& error) {
    losses_error_ = error.what_without_backtrace();
  }
}

void Step::check_losses_whole() const {
  TORCH_CHECK(losses_error_.empty(), "whether to leave out a term of the losses: ", losses_error_);
  TORCH_CHECK(left_out_.empty(),
              "the losses contain a term that all samples share (",
              left_out_.front(),
              "), which is left out, and its value is not in the graph; watch the losses without "
              "it and add it outside, or keep shared terms");
}

void Step::begin(const Batch& batch,
                 const std::vector<Tensor>& update,
                 const std::shared_ptr<const KnownDirections>& known,
                 const OnFailure& on_failure) {
  if (!plan_.is_light) find_left_out(batch);
  read_losses(batch);
  run_curvatures(batch, on_failure);
  run_spectra(batch, on_failure);
  run_vivits(batch, on_failure);
  if (plan_.activations) {
    const auto concerns = [](const StepNeeds& needs) { return needs.activations; };
    attempt(on_failure, concerns, "activations", batch, [&](const Batch& whole) {
      const std::shared_ptr<const Capture> capture = capture_of(whole);
      check_scalar(*capture);
      activations_ = read_activations(*capture, parameters());
    });
  }
  if (plan_.asks_rows()) {
    attempt(on_failure, &needs_rows, "individual gradients", batch, [&](const Batch& whole) {
      attach(whole, update, known);
    });
    if (!watch_) plan_.leave_out_rows();
  }
  if (!watch_ && plan_.has_gradient_pass()) {
    attempt(on_failure, &needs_gradients, "gradient", batch, [&](const Batch& whole) {
      attach(whole, update, known);
    });
  }
}

bool Step::finish(const OnFailure& on_failure) {
  if (listeners_) listeners_->detach();
  if (!watch_) return true;
  if (watch_->was_left_out()) gradients_ = watch_->finish();  // throws, and says why
  if (!watch_->has_run()) return false;
  const bool has_rows = plan_.asks_rows();
  const char* pass = has_rows ? "individual gradients" : "gradient";
  try {
    gradients_ = watch_->finish();
    add_remarks(gradients_->remarks);
  } catch (const c10::OutOfMemoryError&) {
    // What the backward pass freed is gone: this step has no gradients, later ones have.
    if (context_.crew || !cut_memory(pass))
      on_failure(has_rows ? &needs_rows : &needs_gradients, pass);
  } catch (...) {
    on_failure(has_rows ? &needs_rows : &needs_gradients, pass);
  }
  return true;
}

void Step::add_remarks(const std::vector<std::string>& remarks) {
  remarks_.insert(remarks_.end(), remarks.begin(), remarks.end());
}

StepSamples Step::samples() const {
  StepSamples samples = samples_;
  samples.losses = individual_;
  return samples;
}

ChordEnd Step::chord_start() const { return {copied(losses()), Tensor(), batch_size_}; }

ChordEnd Step::chord_end() const {
  return {copied(losses()), gradients().total.dots.select(1, 0), batch_size_};
}

const Curvature* Step::own_curvature(const CurvatureBatch& batch) const {
  for (const auto& [computed, curvature] : curvatures_) {
    if (computed == batch) return &curvature;
  }
  return nullptr;
}

std::vector<Tensor> Step::arrived() const {
  std::vector<Tensor> scaled(parameters().size());
  for (size_t p = 0; p < arrived_.size() && gradients_; ++p) {
    const Tensor& norm = gradients_->parameters[p].arrived_norm;
    if (!arrived_[p].defined() || !norm.defined()) continue;
    // The norm that was found is over the weight of the losses already.
    const Tensor gradient = arrived_[p].to(at::kDouble);
    const Tensor length = at::linalg_vector_norm(gradient);
    const Tensor factor = norm.to(at::kDouble) / length;
    scaled[p] = gradient * at::where(length == 0, at::zeros_like(factor), factor);
  }
  return scaled;
}

double Step::seconds() const { return seconds_since(context_.start); }

const Tensor& Step::losses() const {
  TORCH_CHECK(unread_.empty(), unread_);
  check_losses_whole();
  return individual_;
}

const Tensor& Step::loss() const {
  check_losses_whole();
  return loss_;
}

std::vector<double> Step::learning_rates() const { return learning_rates_.of(parameters()); }

const Gradients& Step::gradients() const {
  TORCH_CHECK(gradients_.has_value(),
              "step view: the individual gradients were not computed; name them in the needs");
  return *gradients_;
}

const Curvature& Step::curvature(const CurvatureBatch& batch) const {
  return find(
      curvatures_, [&](const CurvatureBatch& other) { return other == batch; }, "curvature");
}

const Eigenpairs& Step::spectrum(const SpectrumNeed& need) const {
  return find(
      spectra_, [&](const SpectrumNeed& other) { return is_same_matrix(other, need); }, "spectrum");
}

const Vivit& Step::vivit(const VivitNeed& need) const {
  const auto has_it = [&](const VivitNeed& other) {
    return is_same_matrix(other, need) && (other.gradients || !need.gradients);
  };
  return *find(vivits_, has_it, "GGN spectrum");
}

const std::vector<Activation>& Step::activations() const {
  TORCH_CHECK(activations_.has_value(),
              "step view: activations were not read; name them in the needs");
  return *activations_;
}

Tensor Step::histogram(const Bins& bins) const {
  return histogram_by_group(*this, plan_.histograms, bins);
}

Tensor Step::joint_histogram(const JointBins& bins) const {
  return joint_histogram_by_group(*this, plan_.joint_histograms, bins);
}

}  // namespace flightdeck
