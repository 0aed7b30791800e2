// SPDX-License-Identifier: MIT
#include "cockpit/step.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <ATen/ATen.h>

#include "cockpit/activations.h"
#include "cockpit/crew.h"
#include "cockpit/preconditioned.h"
#include "cockpit/step_histograms.h"
#include "cockpit/update_formulas.h"
#include "curvature/column_budget.h"
#include "graph/error_message.h"
#include "passes/capture.h"

namespace flightdeck {
namespace {

void check_losses(const Batch& batch) {
  const Tensor& losses = batch.losses();
  TORCH_CHECK_VALUE(losses.defined(), "watch: losses is undefined; give the individual losses [N]");
  TORCH_CHECK_VALUE(at::isFloatingType(losses.scalar_type()),
                    "watch: losses has type ",
                    losses.scalar_type(),
                    "; give floating-point losses");
  TORCH_CHECK_VALUE(losses.requires_grad(),
                    "watch: losses does not depend on a parameter that requires gradients; compute "
                    "it with gradient mode on, and do not detach it");
  TORCH_CHECK_VALUE(losses.dim() <= 1,
                    "watch: losses has shape ",
                    losses.sizes(),
                    "; give one loss per sample [N] (average over outputs and positions first)");
  const int64_t batch_size = batch.options().batch_size;
  if (losses.dim() == 1) {
    TORCH_CHECK_VALUE(losses.size(0) > 0, "watch: losses is empty; give one loss per sample");
    TORCH_CHECK_VALUE(batch_size == 0 || batch_size == losses.size(0),
                      "watch: batch_size is ",
                      batch_size,
                      " but losses has ",
                      losses.size(0),
                      " entries; drop batch_size, or give the losses of the whole batch");
    return;
  }
  TORCH_CHECK_VALUE(
      batch_size > 0,
      "watch: losses is a scalar and batch_size is ",
      batch_size,
      " because its graph does not tell; give the individual losses [N], or a Batch with "
      "the number of samples the scalar was reduced from");
}

void check_parameters_of(const Batch& batch, const Parameters& watched) {
  const Parameters& given = batch.parameters();
  bool is_same = given.size() == watched.size();
  for (size_t p = 0; is_same && p < watched.size(); ++p) {
    is_same = given[p].tensor.is_same(watched[p].tensor);
  }
  TORCH_CHECK_VALUE(is_same,
                    "watch: the batch has ",
                    given.size(),
                    " parameters that are not the ",
                    watched.size(),
                    " of the cockpit in their order; make it of cockpit.parameters()");
}

// Returns the number of samples N, or throws an exception that says what is wrong.
int64_t checked_size(const Batch& batch, const Parameters& watched) {
  check_losses(batch);
  check_parameters_of(batch, watched);
  TORCH_CHECK_VALUE(batch.options().samples.empty(),
                    "watch: the batch is restricted to ",
                    batch.options().samples.size(),
                    " of ",
                    batch.size(),
                    " samples; give the whole batch, and choose samples in the quantities");
  return batch.size();
}

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

// Returns the first `count` of the batch, or all of it for 0.
Batch first_of(const Batch& batch, int64_t count) {
  if (count == 0 || count >= batch.size()) return batch;
  std::vector<int64_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0);
  return batch.of(std::move(samples));
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

Tensor checked_inputs(const Tensor& inputs, int64_t N) {
  if (!inputs.defined()) return {};
  TORCH_CHECK_VALUE(inputs.dim() > 0 && inputs.size(0) == N,
                    "watch: inputs has shape ",
                    inputs.sizes(),
                    " but the batch has ",
                    N,
                    " samples; give them with the samples first, [",
                    N,
                    ", ...]");
  return inputs.detach();
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

// Returns what takes the place of exact needs.
CurvatureNeeds sampled_instead(CurvatureNeeds needs) {
  using Need = CurvatureNeed;
  CurvatureNeeds sampled;
  const auto replace = [&](Need exact, Need by) {
    if (needs.has(exact)) sampled = sampled | by;
  };
  for (const Need exact : {Need::kDiagHessian, Need::kDiagGgn}) replace(exact, Need::kDiagGgnMc);
  for (const Need exact : {Need::kTraceHessian, Need::kTraceGgn}) replace(exact, Need::kTraceGgnMc);
  for (const Need exact : {Need::kDiagHessianPerSample, Need::kDiagGgnPerSample}) {
    replace(exact, Need::kDiagGgnMcPerSample);
  }
  for (const Need own : {Need::kDiagGgnMc,
                         Need::kTraceGgnMc,
                         Need::kDiagGgnMcPerSample,
                         Need::kKfac,
                         Need::kKflr,
                         Need::kKfra}) {
    if (needs.has(own)) sampled = sampled | own;
  }
  return sampled;
}

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
    update_rules_ = read_update_formulas(options, context.parameters);
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

void Step::begun(std::chrono::steady_clock::time_point begin) {
  using Seconds = std::chrono::duration<double>;
  returned_ = std::chrono::steady_clock::now();
  context_.cockpit_seconds += Seconds(returned_ - begin).count();
  clock_.begin = Seconds(begin - context_.start).count();
}

void Step::ends_backward(std::chrono::steady_clock::time_point now) {
  clock_.backward = std::chrono::duration<double>(now - returned_).count();
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

Curvature Step::run_curvature(const Batch& chosen,
                              const CurvaturePass& pass,
                              CurvatureOptions options) {
  // Ranks have to agree on what they compute, so that none samples on its own.
  if (context_.crew) return flightdeck::curvature(chosen, pass.needs, options);
  std::vector<CurvatureBatch>& sampled = context_.sampled;
  if (std::find(sampled.begin(), sampled.end(), pass.batch) == sampled.end()) {
    options.max_columns = pass.batch.max_columns;
    try {
      return flightdeck::curvature(chosen, pass.needs, options);
    } catch (const TooManyColumns& error) {
      sampled.push_back(pass.batch);
      add_remarks({"the exact curvature takes at least " + std::to_string(error.columns) +
                   " columns a step, and " + std::to_string(pass.batch.max_columns) +
                   " is the most: its diagonal and trace are those of the GGN from " +
                   std::to_string(pass.batch.mc_samples) +
                   " sampled column(s). Ask for more by mc_samples, or for the exact matrix by "
                   "curvature=exact_hessian or exact_ggn"});
    }
  }
  options.max_columns = 0;
  return flightdeck::curvature(chosen, sampled_instead(pass.needs), options);
}

void Step::run_curvatures(const Batch& batch, const OnFailure& on_failure) {
  for (const CurvaturePass& pass : plan_.curvature) {
    const auto concerns = [&](const StepNeeds& needs) {
      return !needs.curvature.empty() && needs.curvature_batch == pass.batch;
    };
    attempt(on_failure, concerns, "curvature", batch, [&](const Batch& whole) {
      CurvatureOptions options;
      options.mc_samples = pass.batch.mc_samples;
      options.seed = seed();
      int64_t samples = pass.batch.samples;
      if (context_.crew) {
        options.seed = context_.crew->seed_of_rank(options.seed);
        samples = context_.crew->share_of(samples, batch_size_);
        if (samples == 0) return;  // all of them are on other ranks
      }
      curvatures_.emplace_back(pass.batch, run_curvature(first_of(whole, samples), pass, options));
      add_remarks(curvatures_.back().second.remarks);
    });
  }
}

void Step::run_spectra(const Batch& batch, const OnFailure& on_failure) {
  const std::vector<SpectrumNeed> spectra =
      context_.crew ? context_.crew->layout().spectra : plan_.spectra;
  for (const SpectrumNeed& need : spectra) {
    const auto concerns = [&](const StepNeeds& needs) {
      return needs.spectrum && is_same_matrix(*needs.spectrum, need);
    };
    attempt(on_failure, concerns, "spectrum", batch, [&](const Batch& whole) {
      spectra_.emplace_back(need, run_spectrum(whole, need));
    });
  }
}

Eigenpairs leading_pairs(StepContext& context,
                         const LinearOperator& op,
                         const SpectrumNeed& need,
                         uint64_t seed) {
  Tensor& last = context.eigenvectors[{need.kind, need.samples, need.is_preconditioned}];
  EigenOptions options;
  options.largest = std::min(need.largest, op.dim());
  options.smallest = std::min(need.smallest, op.dim());
  options.tolerance = need.tolerance;
  options.max_products = need.max_products;
  // The first one is worth a proof: the others follow its eigenvectors.
  options.until_proved = need.until_proved || !last.defined();
  options.seed = seed;
  options.start = last;
  Eigenpairs pairs = eigenpairs(op, options);
  last = pairs.is_finite ? pairs.vectors : Tensor();
  pairs.vectors = Tensor();
  return pairs;
}

std::shared_ptr<const LinearOperator> Step::matrix_of(const Batch& batch,
                                                      const SpectrumNeed& need,
                                                      int64_t samples) const {
  std::shared_ptr<const LinearOperator> matrix =
      curvature_operator(first_of(batch, samples), need.kind);
  if (!need.is_preconditioned) return matrix;
  return preconditioned(std::move(matrix), update_rules_, parameters());
}

Eigenpairs Step::run_spectrum(const Batch& batch, const SpectrumNeed& need) const {
  const bool lacks_rules = need.is_preconditioned && update_rules_.empty();
  if (Crew* crew = context_.crew) {
    // A rank without rules fails in the first product, and with it all do: none is left waiting.
    const int64_t samples = crew->share_of(need.samples, batch_size_);
    try {
      return crew->spectrum(
          need, [&] { return matrix_of(batch, need, samples); }, samples);
    } catch (...) {
      if (!lacks_rules) throw;
      return {};
    }
  }
  if (lacks_rules) return {};
  return leading_pairs(context_, *matrix_of(batch, need, need.samples), need, seed());
}

void Step::run_vivits(const Batch& batch, const OnFailure& on_failure) {
  for (const VivitNeed& need : plan_.vivits) {
    const auto concerns = [&](const StepNeeds& needs) {
      return needs.vivit && is_same_matrix(*needs.vivit, need);
    };
    attempt(on_failure, concerns, "GGN spectrum", batch, [&](const Batch& whole) {
      VivitOptions options;
      options.columns = need.columns;
      options.mc_samples = need.mc_samples;
      options.seed = seed();
      options.gradients = need.gradients;
      vivits_.emplace_back(need, std::make_unique<Vivit>(first_of(whole, need.samples), options));
      add_remarks(vivits_.back().second->remarks());
    });
  }
}

void Step::attach(const Batch& batch, const std::vector<Tensor>& update) {
  GradientOptions options;
  options.histograms = plan_.histograms;
  options.joint_histograms = plan_.joint_histograms;
  options.keep_rows = plan_.chord;
  options.looks_at_losses = false;  // the cockpit names the samples when the losses are here
  Needs needs = plan_.gradients;
  if (plan_.ends_chord) {
    needs = needs | Need::kDots;
    options.directions = update;
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
                 const OnFailure& on_failure) {
  if (!plan_.is_light) find_left_out(batch);
  read_losses(batch);
  if (context_.crew) context_.crew->learn_sizes(batch_size_);
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
      attach(whole, update);
    });
    if (!watch_) plan_.leave_out_rows();
  }
  if (!watch_ && plan_.has_gradient_pass()) {
    attempt(on_failure, &needs_gradients, "gradient", batch, [&](const Batch& whole) {
      attach(whole, update);
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

double Step::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - context_.start).count();
}

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
