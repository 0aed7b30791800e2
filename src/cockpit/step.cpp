// SPDX-License-Identifier: MIT
#include "cockpit/step.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "cockpit/activations.h"

namespace flightdeck {
namespace {

int64_t checked_batch_size(const Tensor& losses, const WatchOptions& options) {
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
  if (losses.dim() == 1) {
    TORCH_CHECK_VALUE(losses.size(0) > 0, "watch: losses is empty; give one loss per sample");
    TORCH_CHECK_VALUE(options.batch_size == 0 || options.batch_size == losses.size(0),
                      "watch: batch_size is ",
                      options.batch_size,
                      " but losses has ",
                      losses.size(0),
                      " entries; drop batch_size, or give the losses of the whole batch");
    return losses.size(0);
  }
  TORCH_CHECK_VALUE(options.batch_size > 0,
                    "watch: losses is a scalar and batch_size is ",
                    options.batch_size,
                    "; give the individual losses [N], or the number of samples the scalar was "
                    "reduced from");
  return options.batch_size;
}

Tensor mean_loss(const Tensor& losses, const WatchOptions& options) {
  const Tensor values = losses.to(at::kDouble);
  if (losses.dim() == 1) return values.mean();
  return options.reduction == Reduction::kSum ? values / options.batch_size : values;
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

// Of a parameter that the backward pass did not reach there are no counts.
const Tensor& count_of(const ParameterGradients& parameter,
                       const std::vector<Tensor>& counts,
                       size_t position) {
  TORCH_CHECK(position < counts.size(),
              "step view: there is no histogram of '",
              parameter.name,
              "' because the backward pass did not reach all of its uses; watch only parameters "
              "that it reaches");
  return counts[position];
}

// Runs the body; what it throws goes to `on_failure`.
template <typename Body>
void attempt(const Step::OnFailure& on_failure,
             const std::function<bool(const StepNeeds&)>& concerns,
             const char* pass,
             const Body& body) {
  try {
    body();
  } catch (...) {
    on_failure(concerns, pass);
  }
}

}  // namespace

Tensor mean_and_variance(const Tensor& values) {
  const Tensor numbers = values.to(at::kDouble);
  return at::stack({numbers.mean(), numbers.var(/*unbiased=*/true)});
}

Step::Step(StepContext& context, Plan plan, const Tensor& losses, const WatchOptions& options)
    : context_(context),
      plan_(std::move(plan)),
      options_(options),
      learning_rates_(options),
      batch_size_(checked_batch_size(losses, options)),
      is_scalar_(losses.dim() == 0),
      graph_losses_(losses),
      individual_(losses.detach()),
      loss_(mean_loss(individual_, options)) {}

std::vector<int64_t> Step::first_samples(int64_t count) const {
  if (count == 0 || count >= batch_size_) return {};
  std::vector<int64_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0);
  return samples;
}

Curvature Step::run_curvature(const CurvaturePass& pass) const {
  CurvatureOptions options;
  options.samples = first_samples(pass.batch.samples);
  options.mc_samples = pass.batch.mc_samples;
  options.seed = context_.options.seed + static_cast<uint64_t>(step());
  options.outputs = options_.outputs;
  options.batch_norm = context_.options.batch_norm;
  options.shared_terms = context_.options.shared_terms;
  options.batch_size = is_scalar_ ? batch_size_ : 0;
  options.reduction = options_.reduction;
  options.stack_bytes = context_.options.stack_bytes;
  options.scratch_bytes = context_.options.scratch_bytes;
  return flightdeck::curvature(graph_losses_, parameters(), pass.needs, options);
}

Eigenpairs Step::run_spectrum(const SpectrumNeed& need) const {
  ProductOptions product;
  product.samples = first_samples(need.samples);
  product.outputs = options_.outputs;
  product.shared_terms = context_.options.shared_terms;
  product.batch_size = is_scalar_ ? batch_size_ : 0;
  product.reduction = options_.reduction;
  const auto op = curvature_operator(graph_losses_, parameters(), need.kind, product);
  Tensor& last = context_.eigenvectors[{need.kind, need.samples}];
  EigenOptions options;
  options.largest = std::min(need.largest, op->dim());
  options.smallest = std::min(need.smallest, op->dim());
  options.tolerance = need.tolerance;
  options.max_products = need.max_products;
  // The first one is worth a proof: the others follow its eigenvectors.
  options.until_proved = need.until_proved || !last.defined();
  options.seed = context_.options.seed + static_cast<uint64_t>(step());
  options.start = last;
  Eigenpairs pairs = eigenpairs(*op, options);
  last = pairs.is_finite ? pairs.vectors : Tensor();
  pairs.vectors = Tensor();
  return pairs;
}

std::unique_ptr<Vivit> Step::run_vivit(const VivitNeed& need) const {
  VivitOptions options;
  options.samples = first_samples(need.samples);
  options.mc_samples = need.mc_samples;
  options.seed = context_.options.seed + static_cast<uint64_t>(step());
  options.outputs = options_.outputs;
  options.batch_norm = context_.options.batch_norm;
  options.shared_terms = context_.options.shared_terms;
  options.batch_size = is_scalar_ ? batch_size_ : 0;
  options.reduction = options_.reduction;
  options.gradients = need.gradients;
  options.scratch_bytes = context_.options.scratch_bytes;
  return std::make_unique<Vivit>(graph_losses_, parameters(), options);
}

void Step::attach(const std::vector<Tensor>& update) {
  GradientOptions options;
  options.histograms = plan_.histograms;
  options.joint_histograms = plan_.joint_histograms;
  options.keep_rows = plan_.line;
  options.batch_norm = context_.options.batch_norm;
  options.shared_terms = context_.options.shared_terms;
  options.batch_size = is_scalar_ ? batch_size_ : 0;
  options.reduction = options_.reduction;
  options.scratch_bytes = context_.options.scratch_bytes;
  Needs needs = plan_.gradients;
  if (plan_.ends_line) {
    needs = needs | Need::kDots;
    for (const Tensor& direction : update) options.directions.push_back(direction.unsqueeze(0));
  }
  watch_.emplace(graph_losses_, parameters(), needs, options);
}

void Step::find_left_out() {
  if (context_.options.shared_terms == SharedTerms::kKeep) return;
  GradientOptions options;
  options.batch_norm = BatchNormPolicy::kConstantStatistics;  // only the graph is read
  options.shared_terms = context_.options.shared_terms;
  options.batch_size = is_scalar_ ? batch_size_ : 0;
  options.reduction = options_.reduction;
  try {
    left_out_ = capture_graph(graph_losses_, parameters(), options).left_out;
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

void Step::begin(const std::vector<Tensor>& update, const OnFailure& on_failure) {
  find_left_out();
  for (const CurvaturePass& pass : plan_.curvature) {
    const auto concerns = [&](const StepNeeds& needs) {
      return !needs.curvature.empty() && needs.curvature_batch == pass.batch;
    };
    attempt(on_failure, concerns, "curvature", [&] {
      curvatures_.emplace_back(pass.batch, run_curvature(pass));
      add_remarks(curvatures_.back().second.remarks);
    });
  }
  for (const SpectrumNeed& need : plan_.spectra) {
    const auto concerns = [&](const StepNeeds& needs) {
      return needs.spectrum && is_same_matrix(*needs.spectrum, need);
    };
    attempt(
        on_failure, concerns, "spectrum", [&] { spectra_.emplace_back(need, run_spectrum(need)); });
  }
  for (const VivitNeed& need : plan_.vivits) {
    const auto concerns = [&](const StepNeeds& needs) {
      return needs.vivit && *needs.vivit == need;
    };
    attempt(on_failure, concerns, "GGN spectrum", [&] {
      vivits_.emplace_back(need, run_vivit(need));
      add_remarks(vivits_.back().second->remarks());
    });
  }
  if (plan_.activations) {
    const auto concerns = [](const StepNeeds& needs) { return needs.activations; };
    attempt(on_failure, concerns, "activations", [&] {
      GradientOptions options;
      options.batch_norm = BatchNormPolicy::kConstantStatistics;  // outputs only: nothing to refuse
      options.batch_size = is_scalar_ ? batch_size_ : 0;
      options.reduction = options_.reduction;
      const Capture capture = capture_graph(graph_losses_, parameters(), options);
      activations_ = read_activations(capture, parameters());
    });
  }
  if (plan_.asks_rows()) {
    attempt(on_failure, &needs_rows, "individual gradients", [&] { attach(update); });
    if (!watch_) plan_.leave_out_rows();
  }
  if (!watch_ && plan_.has_gradient_pass()) {
    attempt(on_failure, &needs_gradients, "gradient", [&] { attach(update); });
  }
  graph_losses_ = Tensor();
  options_.outputs = Tensor();  // its graph
}

bool Step::finish(const OnFailure& on_failure) {
  if (!watch_) return true;
  if (!watch_->has_run()) return false;
  const bool has_rows = plan_.asks_rows();
  const char* pass = has_rows ? "individual gradients" : "gradient";
  attempt(on_failure, has_rows ? &needs_rows : &needs_gradients, pass, [&] {
    gradients_ = watch_->finish();
    add_remarks(gradients_->remarks);
  });
  return true;
}

void Step::add_remarks(const std::vector<std::string>& remarks) {
  remarks_.insert(remarks_.end(), remarks.begin(), remarks.end());
}

LineEnd Step::line_start() const { return {mean_and_variance(losses()), Tensor(), batch_size_}; }

LineEnd Step::line_end() const {
  return {mean_and_variance(losses()),
          mean_and_variance(gradients().total.dots.select(1, 0)),
          batch_size_};
}

double Step::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - context_.start).count();
}

const Tensor& Step::losses() const {
  TORCH_CHECK(!is_scalar_,
              "individual losses are needed but watch was given a scalar; give it losses [N]");
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
  return *find(
      vivits_, [&](const VivitNeed& other) { return other == need; }, "GGN spectrum");
}

const std::vector<Activation>& Step::activations() const {
  TORCH_CHECK(activations_.has_value(),
              "step view: activations were not read; name them in the needs");
  return *activations_;
}

Tensor Step::histogram(const Bins& bins) const {
  const auto found = std::find(plan_.histograms.begin(), plan_.histograms.end(), bins);
  TORCH_CHECK(found != plan_.histograms.end(),
              "step view: no histogram with these bins was counted; name it in the needs");
  std::vector<Tensor> counts;
  for (const ParameterGradients& parameter : gradients().parameters) {
    counts.push_back(count_of(parameter, parameter.histograms, found - plan_.histograms.begin()));
  }
  return group_sums(counts).to(at::kLong);
}

Tensor Step::joint_histogram(const JointBins& bins) const {
  const auto& planned = plan_.joint_histograms;
  const auto found = std::find(planned.begin(), planned.end(), bins);
  TORCH_CHECK(found != planned.end(),
              "step view: no joint histogram with these bins was counted; name it in the needs");
  std::vector<Tensor> counts;
  for (const ParameterGradients& parameter : gradients().parameters) {
    counts.push_back(count_of(parameter, parameter.joint_histograms, found - planned.begin()));
  }
  return group_sums(counts).to(at::kLong);
}

}  // namespace flightdeck
