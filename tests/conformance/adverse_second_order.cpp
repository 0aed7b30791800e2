// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>

#include <torch/torch.h>

#include "conformance/adverse_checks.h"
#include "conformance/dense_facts.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

// More entries than this take longer to write out than a case may.
constexpr int64_t kMostRows = 100;
constexpr int64_t kMostColumns = 40;

class SecondOrderCheck {
 public:
  SecondOrderCheck(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts)
      : model_(model),
        dice_(dice),
        verdicts_(verdicts),
        has_answer_(model.terms.defined()),
        tolerance_(second_order_tolerance(model)) {
    if (dice.chance(0.25)) {
      for (int64_t n = model.N() - 1; n >= 0; --n) {
        if (dice.chance(0.5)) samples_.push_back(n);
      }
    }
    shared_ = model.random_sharing(dice);
    if (has_answer_) facts_.emplace(seed, model, shared_, samples_);
    gives_outputs_ = !model.has_known_head || dice.chance(0.5);
  }

  void run() {
    // A scalar that has no individual losses has a Hessian all the same.
    const bool asks_hessian = has_answer_ || model_.contradicts_reduction;
    if (asks_hessian && dice_.chance(0.6)) ask_product(CurvatureKind::kHessian, "Hessian");
    if (dice_.chance(0.6)) ask_product(CurvatureKind::kGgn, "GGN");
    if (dice_.chance(0.4)) ask_product(CurvatureKind::kEmpiricalFisher, "Fisher");
    if (dice_.chance(0.5)) ask_diagonals(CurvatureNeed::kDiagGgn | CurvatureNeed::kTraceGgn);
    if (dice_.chance(0.3)) ask_diagonals(CurvatureNeed::kDiagGgnPerSample);
    if (asks_hessian && dice_.chance(0.5)) {
      ask_diagonals(CurvatureNeed::kDiagHessian | CurvatureNeed::kTraceHessian);
    }
    if (dice_.chance(0.3)) ask_diagonals(CurvatureNeed::kDiagHessianPerSample);
    if (dice_.chance(0.5)) ask_vivit();
  }

 private:
  std::string chosen() const {
    return std::string(samples_.empty() ? "" : " of some samples") +
           (shared_ == SharedTerms::kKeep ? "" : " without shared terms");
  }

  std::string difference(const std::string& what,
                         const Tensor& actual,
                         const Tensor& expected,
                         double scale) const {
    std::ostringstream text;
    if (!actual.defined()) return what + " is undefined";
    if (actual.sizes() != expected.sizes()) {
      text << what << " has shape " << actual.sizes() << ", the oracle " << expected.sizes();
      return text.str();
    }
    if (actual.numel() == 0) return "";
    const double error = (actual.to(at::kDouble) - expected).abs().max().item<double>();
    if (error <= tolerance_ * std::max(scale, 1e-4)) return "";
    text << what << " differs by " << error << " where the scale is " << scale;
    return text.str();
  }

  void compare(Answer& answer,
               const std::string& what,
               const Tensor& actual,
               const Tensor& expected,
               double scale) const {
    const std::string line = difference(what, actual, expected, scale);
    if (!line.empty()) answer.differences.push_back(line);
  }

  // A GGN that is another one says so: terms without outputs are left out, and a loss that is not
  // convex is replaced by its positive part.
  Answer best_of(const std::vector<std::string>& remarks,
                 const std::function<Answer(const Tensor& ggn)>& check) const {
    Answer answer = check(facts_->ggn);
    if (answer.differences.empty()) return answer;
    if (mentions(remarks, "the GGN has nothing of")) {
      answer.is_remarked = check(facts_->outputs_ggn).differences.empty();
    } else if (mentions(remarks, "positive part") || mentions(remarks, "clipped")) {
      answer.is_remarked = check(facts_->positive_ggn()).differences.empty();
    }
    return answer;
  }

  BatchOptions said() const {
    BatchOptions options;
    options.samples = samples_;
    options.shared_terms = shared_;
    options.batch_size = model_.batch_size;
    options.reduction = model_.reduction;
    if (gives_outputs_) options.outputs = model_.outputs;
    return options;
  }

  static double largest(const Tensor& tensor) { return tensor.abs().max().item<double>(); }

  void ask_product(CurvatureKind kind, const std::string& name) {
    BatchOptions options = said();
    if (kind != CurvatureKind::kGgn) options.outputs = Tensor();
    const Batch batch(model_.losses, model_.parameters, options);
    verdicts_.ask(
        name + " operator" + chosen() + (options.outputs.defined() ? " with outputs" : ""),
        [&] {
          const auto op = curvature_operator(batch, kind);
          const Tensor v = random({2, op->dim()}).to(op->options());
          const Tensor product = op->multiply(v);
          const Tensor gradient = op->gradient();
          if (!has_answer_) return Answer();
          const auto check = [&](const Tensor& matrix) {
            Answer answer;
            compare(answer,
                    "product",
                    product,
                    v.to(at::kDouble).matmul(matrix),
                    largest(matrix) * largest(v));
            compare(answer, "gradient()", gradient, facts_->rows.mean(0), largest(facts_->rows));
            return answer;
          };
          if (kind == CurvatureKind::kHessian) return check(facts_->hessian);
          if (kind == CurvatureKind::kEmpiricalFisher) return check(facts_->fisher());
          return best_of(op->remarks(), check);
        },
        has_answer_);
  }

  void ask_diagonals(CurvatureNeeds what) {
    BatchOptions options = said();
    if (dice_.chance(0.3)) options.memory.stack_bytes = 1;
    const Batch batch(model_.losses, model_.parameters, options);
    const bool of_hessian =
        what.has(CurvatureNeed::kDiagHessian) || what.has(CurvatureNeed::kDiagHessianPerSample);
    const bool per_sample = what.has(CurvatureNeed::kDiagGgnPerSample) ||
                            what.has(CurvatureNeed::kDiagHessianPerSample);
    verdicts_.ask(
        std::string("curvature(): diagonal of the ") + (of_hessian ? "Hessian" : "GGN") +
            (per_sample ? " per sample" : "") + chosen() + (gives_outputs_ ? " with outputs" : ""),
        [&] {
          const Curvature answers = curvature(batch, what);
          if (!has_answer_) return Answer();
          if (of_hessian) return check_hessian(answers, per_sample);
          return best_of(answers.remarks,
                         [&](const Tensor& ggn) { return check_ggn(answers, ggn, per_sample); });
        },
        has_answer_);
  }

  Answer check_hessian(const Curvature& answers, bool per_sample) const {
    Answer answer;
    const double count = static_cast<double>(facts_->N());
    const double scale = largest(facts_->hessian);
    if (per_sample) {
      const Tensor lines = facts_->hessian_diagonals() / count;
      compare(answer,
              "diag_hessian_per_sample",
              answers.concatenated(&ParameterCurvature::diag_hessian_per_sample),
              lines,
              std::max(scale, largest(lines)));
      return answer;
    }
    const Tensor diagonal = facts_->hessian.diagonal();
    compare(answer,
            "diag_hessian",
            answers.concatenated(&ParameterCurvature::diag_hessian),
            diagonal,
            scale);
    compare(answer, "trace_hessian", answers.total.trace_hessian, diagonal.sum(), scale);
    return answer;
  }

  Answer check_ggn(const Curvature& answers, const Tensor& ggn, bool per_sample) const {
    Answer answer;
    const Tensor diagonal = ggn.diagonal();
    const double scale = largest(ggn);
    if (per_sample) {
      // What each sample contributes is one question, that they add up is another.
      const Tensor lines = answers.concatenated(&ParameterCurvature::diag_ggn_per_sample);
      compare(answer, "sum of diag_ggn_per_sample", lines.sum(0), diagonal, scale);
      return answer;
    }
    compare(
        answer, "diag_ggn", answers.concatenated(&ParameterCurvature::diag_ggn), diagonal, scale);
    compare(answer, "trace_ggn", answers.total.trace_ggn, diagonal.sum(), scale);
    return answer;
  }

  void ask_vivit() {
    BatchOptions said_once = said();
    if (dice_.chance(0.3)) said_once.memory.stack_bytes = 1;
    const Batch batch(model_.losses, model_.parameters, said_once);
    VivitOptions options;
    options.gradient_samples = samples_;
    verdicts_.ask(
        "Vivit" + chosen() + (gives_outputs_ ? " with outputs" : ""),
        [&] {
          const Vivit vivit(batch, options);
          const Tensor values = vivit.gram_eigenvalues();
          const Tensor gram = vivit.gradient_gram();
          if (!has_answer_) return Answer();
          return best_of(vivit.remarks(), [&](const Tensor& ggn) {
            Answer answer;
            const Tensor spectrum = at::linalg_eigvalsh(ggn).flip(0);
            const double scale = largest(spectrum);
            // The other eigenvalues of either matrix are zero.
            const int64_t count = std::min(values.numel(), spectrum.numel());
            compare(answer,
                    "Gram eigenvalues",
                    values.slice(0, 0, count),
                    spectrum.slice(0, 0, count),
                    scale);
            compare(answer, "sum of the Gram eigenvalues", values.sum(), ggn.trace(), scale);
            const Tensor dots = facts_->rows.matmul(facts_->rows.t());
            compare(answer, "gradient_gram", gram, dots, largest(dots));
            return answer;
          });
        },
        has_answer_);
  }

  const AdverseModel& model_;
  Sketch& dice_;
  Verdicts& verdicts_;
  bool has_answer_;
  std::vector<int64_t> samples_;
  SharedTerms shared_ = SharedTerms::kKeep;
  bool gives_outputs_ = false;
  double tolerance_;
  std::optional<DenseFacts> facts_;
};

}  // namespace

void ask_second_order(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts) {
  if (!model.is_twice_differentiable || model.narrowest == at::kBFloat16) return;
  int64_t D = 0;
  for (const NamedParameter& parameter : model.parameters) D += parameter.tensor.numel();
  if (D > kMostRows || model.outputs.numel() > kMostColumns) return;
  SecondOrderCheck(seed, model, dice, verdicts).run();
}

}  // namespace flightdeck::tests
