// SPDX-License-Identifier: MIT
#include <cmath>
#include <functional>
#include <iomanip>
#include <memory>
#include <optional>
#include <sstream>

#include <torch/torch.h>

#include "conformance/adverse_checks.h"
#include "conformance/dense_facts.h"
#include "flightdeck/cockpit.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

// More entries than this take longer to write out than a case may.
constexpr int64_t kMostParameters = 80;
constexpr int64_t kMostOutputs = 40;
constexpr double kRate = 0.02;

// What plain autograd knows about one step.
struct Step {
  AdverseModel model;
  Tensor losses;      // [N]
  Tensor rows;        // [N, D]
  Tensor parameters;  // [D]
  Tensor arrived;     // [D], what reached .grad
  std::optional<DenseFacts> dense;

  int64_t N() const { return rows.size(0); }
  Tensor mean() const { return rows.mean(0); }
  double squared_mean() const { return number(mean().square().sum()); }
  Tensor centred() const { return rows - mean(); }
  // A sum over samples over N (N - 1).
  double scatter(const Tensor& per_sample) const {
    return number(per_sample.sum()) / static_cast<double>(N() * (N() - 1));
  }
};

Tensor flattened(const std::vector<NamedParameter>& parameters) {
  std::vector<Tensor> parts;
  for (const NamedParameter& parameter : parameters) {
    parts.push_back(parameter.tensor.detach().flatten().to(at::kDouble));
  }
  return at::cat(parts);
}

Tensor arrived_gradient(const std::vector<NamedParameter>& parameters) {
  std::vector<Tensor> parts;
  for (const NamedParameter& parameter : parameters) {
    const Tensor& gradient = parameter.tensor.grad();
    parts.push_back((gradient.defined() ? gradient.detach() : at::zeros_like(parameter.tensor))
                        .flatten()
                        .to(at::kDouble));
  }
  return at::cat(parts);
}

double norm_test(const Step& step) {
  return std::sqrt(step.scatter(step.centred().square().sum(1)) / step.squared_mean());
}

double inner_test(const Step& step) {
  const Tensor shares = step.rows.mv(step.mean()) / step.squared_mean();
  return std::sqrt(step.scatter((shares - 1.0).square()));
}

double ortho_test(const Step& step) {
  const Tensor g = step.mean();
  const Tensor across = step.rows - (step.rows.mv(g) / step.squared_mean()).outer(g);
  return std::sqrt(step.scatter(across.square().sum(1)) / step.squared_mean());
}

double mean_gsnr(const Step& step) {
  const Tensor variance = step.centred().square().mean(0);
  return number((step.mean().square() / (variance + 1e-5)).mean());
}

double early_stopping(const Step& step) {
  const auto N = static_cast<double>(step.N());
  const Tensor variance = step.centred().square().sum(0) / (N - 1);
  return 1 - N * number((step.mean().square() / (variance + 1e-5)).mean());
}

double grad_noise_scale(const Step& step) {
  const auto N = static_cast<double>(step.N());
  const double noise = number(step.centred().square().sum()) / (N - 1);
  return noise / (step.squared_mean() - noise / N);
}

// The fit is held to the textbook elsewhere; here it is about what enters it.
double alpha(const Step& first, const Step& second) {
  ChordView line;
  const Tensor update = second.parameters - first.parameters;
  line.length = number(update.norm());
  const Step* ends[2] = {&first, &second};
  for (int end : {0, 1}) {
    const Tensor slopes = ends[end]->rows.mv(update / line.length);
    line.batch_size[end] = ends[end]->N();
    line.loss[end] = number(ends[end]->losses.mean());
    line.loss_variance[end] = number(ends[end]->losses.var(/*unbiased=*/true));
    line.slope[end] = number(slopes.mean());
    line.slope_variance[end] = number(slopes.var(/*unbiased=*/true));
  }
  return number(quantity("alpha").functions().after_next(line).fields().at(0).data);
}

class CockpitCheck {
 public:
  CockpitCheck(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts)
      : seed_(seed), dice_(dice), verdicts_(verdicts), has_answer_(model.terms.defined()) {
    steps_[0].model = model;
    for (const NamedParameter& parameter : model.parameters) {
      if (parameter.tensor.requires_grad()) watched_.push_back(parameter);
    }
  }

  void run() {
    has_other_ = steps_[0].model.other_loss.defined() && dice_.chance(0.5);
    shared_ = steps_[0].model.random_sharing(dice_);
    CockpitOptions options;
    options.shared_terms = shared_;
    options.on_warning = [](const std::string&) {};
    Cockpit cockpit(watched_, quantities(), options);
    cockpit.add_sink(sink_);
    for (int64_t k : {0, 1}) {
      Step& step = steps_[k];
      if (k == 1) step.model = adverse_model(seed_, steps_[0].model.parameters);
      if (has_answer_) observe(step);
      watch(cockpit, k, step.model);
      step.arrived = arrived_gradient(watched_);
      const at::NoGradGuard guard;
      for (const NamedParameter& parameter : watched_) {
        Tensor tensor = parameter.tensor;
        if (tensor.grad().defined()) tensor.sub_(tensor.grad(), kRate);
      }
    }
    cockpit.finish();
    clear_gradients(watched_);
    if (has_answer_) {
      check();
    } else {
      check_refused();
    }
  }

 private:
  static std::vector<Quantity> quantities() {
    std::vector<Quantity> list;
    for (const char* name : {"loss",
                             "grad_norm",
                             "norm_test",
                             "inner_test",
                             "ortho_test",
                             "grad_noise_scale",
                             "mean_gsnr",
                             "early_stopping",
                             "hess_trace",
                             "tic_diag",
                             "alpha"}) {
      list.push_back(quantity(name));
    }
    list.push_back(quantity("hess_max_ev", {{"tolerance", 1e-6}, {"max_products", 400}}));
    return list;
  }

  void observe(Step& step) const {
    const Tensor terms = step.model.terms_with(shared_);
    const Oracle oracle = differentiate(terms, watched_);
    std::vector<Tensor> parts;
    for (const Tensor& rows : oracle.individual) parts.push_back(rows.reshape({rows.size(0), -1}));
    step.rows = at::cat(parts, 1);
    step.losses = terms.detach();
    step.parameters = flattened(watched_);
    if (!step.model.is_twice_differentiable || step.model.narrowest != at::kDouble) return;
    step.dense.emplace(seed_, step.model, shared_);
  }

  void watch(Cockpit& cockpit, int64_t k, const AdverseModel& model) const {
    BatchOptions said;
    said.batch_size = model.losses.dim() == 0 ? model.batch_size : 0;
    said.reduction = model.reduction;
    said.shared_terms = shared_;
    said.outputs = model.has_known_head ? Tensor() : model.outputs;
    clear_gradients(watched_);
    const Batch batch(model.losses, cockpit.parameters(), said);
    StepWatch watch = cockpit.watch(k, batch);
    Tensor loss = model.losses.mean();
    if (has_other_) loss = loss + model.other_loss;
    loss.backward({}, /*retain_graph=*/true);
    watch.end();
  }

  // The number that was recorded, or why there is none.
  void ask(int64_t k,
           const std::string& name,
           const std::function<double(const Step&)>& formula,
           double tolerance = 1e-7) {
    const std::string question = "cockpit " + name + " at step " + std::to_string(k) +
                                 (has_other_ ? ", another loss" : "") +
                                 (shared_ == SharedTerms::kKeep ? "" : ", shared terms left out");
    verdicts_.ask(question, [&] {
      const Reading* reading = sink_->find(k, name);
      TORCH_CHECK(reading != nullptr, explanation(name));
      Answer answer;
      const double expected = formula(steps_[k]);
      if (!agree(reading->number, expected, tolerance)) {
        std::ostringstream text;
        text << std::setprecision(12) << reading->number << " instead of " << expected;
        answer.differences.push_back(text.str());
        answer.is_remarked = sink_->find(k, name, "", "limited_by_rounding") != nullptr;
      }
      return answer;
    });
  }

  // A note about the quantity, or about all.
  std::string explanation(const std::string& name) const {
    for (const Note& note : sink_->notes()) {
      // One reason is one note, whatever it switched off.
      if ((", " + note.quantity + ", ").find(", " + name + ", ") != std::string::npos) {
        return "cockpit: " + note.text;
      }
    }
    return name + " is missing and no note says why";
  }

  // What a tolerance is relative to.
  static double magnitude(double expected) { return std::max(std::abs(expected), 1e-3); }

  static bool agree(double actual, double expected, double tolerance) {
    if (std::isnan(expected)) return std::isnan(actual);
    if (std::isinf(expected)) return actual == expected;
    return std::abs(actual - expected) <= tolerance * magnitude(expected);
  }

  void check() {
    const double tolerance = std::max(1e-7, 10 * tolerance_of(steps_[0].model.narrowest));
    for (int64_t k : {0, 1}) {
      const Step& step = steps_[k];
      const bool is_sum = step.model.losses.dim() == 0 && step.model.reduction == Reduction::kSum;
      const double share = is_sum ? static_cast<double>(step.N()) : 1.0;
      ask(
          k, "loss", [](const Step& s) { return number(s.losses.mean()); }, tolerance);
      ask(
          k,
          "grad_norm",
          [share](const Step& s) { return number(s.arrived.norm()) / share; },
          tolerance);
      if (step.dense) check_curvature(k);
      if (!is_conditioned(step)) continue;
      ask(k, "norm_test", norm_test, tolerance);
      ask(k, "inner_test", inner_test, 1e2 * tolerance);
      // The root of a difference whose terms are as large as the squared norm test.
      const double terms = std::max(1.0, norm_test(step));
      ask(k, "ortho_test", ortho_test, 1e3 * tolerance * terms);
      ask(k, "mean_gsnr", mean_gsnr, 1e2 * tolerance);
      ask(k, "early_stopping", early_stopping, 1e2 * tolerance);
      // Its denominator is a difference.
      const double noise_share = std::pow(norm_test(step), 2);
      if (std::abs(1 - noise_share) < 1e-3) continue;
      ask(k, "grad_noise_scale", grad_noise_scale, 1e3 * tolerance);
    }
    if (steps_[0].model.losses.dim() == 1 && is_conditioned(steps_[0]) &&
        is_conditioned(steps_[1])) {
      ask(
          0, "alpha", [this](const Step&) { return alpha(steps_[0], steps_[1]); }, 1e4 * tolerance);
    }
    if (!steps_[0].model.is_coupled || sink_->find(0, "norm_test") == nullptr) return;
    verdicts_.ask("cockpit notes", [&] {
      std::vector<std::string> texts;
      for (const Note& note : sink_->notes()) texts.push_back(note.text);
      if (mentions(texts, "couple")) return Answer();
      return Answer{{"samples are coupled and no note says so"}, false};
    });
  }

  // Gradients that vanish, agree or cancel leave nothing but rounding to compare.
  static bool is_conditioned(const Step& step) {
    constexpr double kLeast = 1e-4;
    const double norm = number(step.rows.norm());
    if (step.N() == 1 || norm < 1e-6) return false;
    // The second step may have diverged; squares beyond the range of float32 are infinite.
    if (step.model.narrowest != at::kDouble && norm > 1e18) return false;
    const double root = std::sqrt(static_cast<double>(step.N()));
    return number(step.centred().norm()) > kLeast * norm &&
           number(step.mean().norm()) * root > kLeast * norm;
  }

  // Nothing may be said about samples that cannot be told apart.
  void check_refused() {
    for (const char* name : {"norm_test", "mean_gsnr", "tic_diag", "grad_noise_scale"}) {
      verdicts_.ask(
          std::string("cockpit ") + name,
          [&] {
            TORCH_CHECK(sink_->find(0, name) != nullptr, explanation(name));
            return Answer();
          },
          /*has_right_answer=*/false);
    }
  }

  void check_curvature(int64_t k) {
    const DenseFacts& dense = *steps_[k].dense;
    const double scale = dense.hessian.abs().max().item<double>();
    if (scale < 1e-6) return;
    // Entries may cancel: to a millionth of the largest.
    const double trace = number(dense.hessian.trace());
    ask(
        k, "hess_trace", [&](const Step&) { return trace; }, 1e-6 * scale / magnitude(trace));
    const Tensor diagonal = dense.hessian.diagonal() + 1e-7;
    // A quotient by next to nothing.
    if (diagonal.abs().min().item<double>() > 1e-4 * scale) {
      ask(
          k,
          "tic_diag",
          [&](const Step&) { return number((dense.rows.square().mean(0) / diagonal).sum()); },
          1e-4);
    }
    const Reading* converged = sink_->find(k, "hess_max_ev", "", "converged");
    if (converged != nullptr && converged->number == 0) return;
    ask(
        k,
        "hess_max_ev",
        [&](const Step&) { return number(at::linalg_eigvalsh(dense.hessian)[-1]); },
        1e-2);
  }

  uint64_t seed_;
  Sketch& dice_;
  Verdicts& verdicts_;
  bool has_answer_;
  bool has_other_ = false;
  SharedTerms shared_ = SharedTerms::kKeep;
  Step steps_[2];
  std::vector<NamedParameter> watched_;
  std::shared_ptr<MemorySink> sink_ = std::make_shared<MemorySink>();
};

}  // namespace

void ask_cockpit(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts) {
  int64_t D = 0;
  for (const NamedParameter& parameter : model.parameters) D += parameter.tensor.numel();
  if (D > kMostParameters || model.outputs.numel() > kMostOutputs) return;
  CockpitCheck(seed, model, dice, verdicts).run();
}

}  // namespace flightdeck::tests
