// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>

#include <torch/torch.h>

#include "conformance/adverse_checks.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

using Reduce = std::function<Tensor(const Tensor& losses)>;

// One way to run backward passes while a watch listens.
struct Loop {
  std::string name;
  Reduce reduce;                   // what is differentiated
  std::function<void()> backward;  // with the graph retained
  bool is_plain = false;           // one pass over `reduce(losses)` alone
  std::vector<size_t> reached;     // the only parameters it asks for; empty means all
};

void retaining(const Tensor& loss) { loss.backward({}, /*retain_graph=*/true); }

Reduce random_reduction(const AdverseModel& model, Sketch& dice, std::string& name) {
  const Tensor losses = model.losses;
  if (losses.dim() == 0) {
    const double scale = dice.chance(0.5) ? 1.0 : 1024.0;
    name = scale == 1.0 ? "itself" : "scaled";
    return [scale](const Tensor& l) { return l * scale; };
  }
  const Tensor weights = at::linspace(0.5, 2.0, losses.size(0), doubles()).to(losses.scalar_type());
  switch (dice.integer(0, 6)) {
    case 0:
      name = "sum";
      return [](const Tensor& l) { return l.sum(); };
    case 1:
      name = "weighted mean";
      return [weights](const Tensor& l) { return (weights * l).sum() / weights.sum(); };
    case 2: {
      name = "weights with zeros";
      const Tensor some = weights.clone();
      some[dice.integer(0, losses.size(0) - 1)] = 0.0;
      return [some](const Tensor& l) { return (some * l).sum(); };
    }
    case 3:
      name = "squares";
      return [](const Tensor& l) { return l.square().mean(); };
    case 4:
      name = "largest";
      return [](const Tensor& l) { return l.max(); };
    case 5:
      name = "negative weights";
      return [](const Tensor& l) { return l.mean() * -3.0; };
    default:
      name = "mean";
      return [](const Tensor& l) { return l.mean(); };
  }
}

// Gives the loop one of four ways to combine the losses with another one.
void combine(const AdverseModel& model, int64_t way, Loop& loop) {
  const Reduce reduce = loop.reduce;
  const Tensor losses = model.losses;
  const Tensor other = model.other_loss;
  switch (way) {
    case 0:
      loop.name += " + another loss";
      loop.backward = [=] { retaining(reduce(losses) + other); };
      return;
    case 1:
      loop.name += " after another loss";
      loop.backward = [=] { retaining(other), retaining(reduce(losses)); };
      return;
    case 2:
      loop.name += " before another loss";
      loop.backward = [=] { retaining(reduce(losses)), retaining(other); };
      return;
    default:
      loop.name += " times another loss";
      loop.backward = [=] { retaining(reduce(losses) * other); };
  }
}

Loop random_loop(const AdverseModel& model, Sketch& dice) {
  Loop loop;
  loop.reduce = random_reduction(model, dice, loop.name);
  const Reduce reduce = loop.reduce;
  const Tensor losses = model.losses;
  const int64_t way = dice.integer(0, 8);
  if (model.other_loss.defined() && way < 4) {
    combine(model, way, loop);
    return loop;
  }
  switch (way) {
    case 4: {
      loop.name += " + a penalty outside";
      const Tensor penalty = model.parameters.back().tensor.square().sum();
      loop.backward = [=] { retaining(reduce(losses) + penalty); };
      break;
    }
    case 5:
      loop.name += " twice";
      loop.backward = [=] { retaining(reduce(losses)), retaining(losses.sum()); };
      break;
    case 6: {
      std::vector<Tensor> some;
      for (size_t i = 0; i < model.parameters.size(); ++i) {
        if (!model.parameters[i].tensor.requires_grad() || dice.chance(0.5)) continue;
        some.push_back(model.parameters[i].tensor);
        loop.reached.push_back(i);
      }
      if (some.empty()) {
        loop.is_plain = true;
        loop.backward = [=] { retaining(reduce(losses)); };
        break;
      }
      loop.name += " by autograd::grad for some";
      loop.backward = [=] {
        torch::autograd::grad({reduce(losses)}, some, {}, true, false, /*allow_unused=*/true);
      };
      break;
    }
    case 7:
      loop.name += " with create_graph";
      loop.backward = [=] {
        reduce(losses).backward({}, /*retain_graph=*/true, /*create_graph=*/true);
      };
      break;
    default:
      loop.is_plain = true;
      loop.backward = [=] { retaining(reduce(losses)); };
  }
  return loop;
}

// A user's hook on an activation, for as long as this lives.
class Hook {
 public:
  Hook(const AdverseModel& model, Sketch& dice) {
    if (model.activations.empty() || !dice.chance(0.25)) return;
    const auto last = static_cast<int64_t>(model.activations.size()) - 1;
    tensor_ = model.activations[dice.integer(0, last)];
    const int64_t action = dice.integer(0, 3);
    name_ = action == 0   ? ", a hook that doubles"
            : action == 1 ? ", a hook that replaces"
            : action == 2 ? ", a hook that clamps"
                          : ", a hook that looks";
    position_ = tensor_.register_hook([action](const Tensor& gradient) -> Tensor {
      if (action == 0) return gradient * 2.0;
      if (action == 1) return at::ones_like(gradient);
      if (action == 2) return gradient.clamp(-0.1, 0.1);
      return gradient;
    });
  }
  ~Hook() {
    if (tensor_.defined()) tensor_.remove_hook(position_);
  }
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  const std::string& name() const { return name_; }

 private:
  Tensor tensor_;
  unsigned position_ = 0;
  std::string name_;
};

struct Question {
  Needs what;
  BatchOptions batch;
  GradientOptions options;
};

Question random_question(Sketch& dice, const AdverseModel& model) {
  Question question;
  for (Need need : every_need()) {
    if (dice.chance(0.4)) question.what = question.what | need;
  }
  if (question.what.empty()) question.what = Need::kIndividual;
  BatchOptions& batch = question.batch;
  GradientOptions& options = question.options;
  if (dice.chance(0.3)) {
    for (int64_t n = model.N() - 1; n >= 0; --n) {
      if (dice.chance(0.5)) batch.samples.push_back(n);
    }
  }
  if (dice.chance(0.2)) batch.memory.scratch_bytes = 64 << dice.integer(0, 6);
  options.directions = random_directions(model.parameters, dice.integer(1, 3));
  options.keep_rows = dice.chance(0.2);
  batch.batch_size = model.batch_size;
  batch.reduction = model.reduction;
  batch.shared_terms = model.random_sharing(dice);
  if (dice.chance(0.15)) options.histograms = {Bins{-3.0, 3.0, 61}};
  return question;
}

std::string describe(const Question& question) {
  std::ostringstream text;
  text << ", " << to_string(question.what);
  if (!question.batch.samples.empty()) {
    text << ", samples " << at::IntArrayRef(question.batch.samples);
  }
  if (question.options.keep_rows) text << ", keep_rows";
  if (question.batch.shared_terms == SharedTerms::kLeaveOut) text << ", shared terms left out";
  if (question.options.reuse_gradients) text << ", reuse_gradients";
  return text.str();
}

// The gradient that reaches each of the losses, [N].
Tensor weights_of(const AdverseModel& model, const Reduce& reduce) {
  const Tensor losses = model.losses.detach().clone().requires_grad_(true);
  reduce(losses).backward();
  return losses.grad();
}

Oracle without(const Oracle& oracle, const Tensor& zero_samples) {
  Oracle rest{oracle.names, {}};
  for (const Tensor& rows : oracle.individual) {
    std::vector<int64_t> shape(rows.dim(), 1);
    shape[0] = -1;
    rest.individual.push_back(rows * zero_samples.logical_not().to(rows.scalar_type()).view(shape));
  }
  return rest;
}

Oracle only(const Oracle& oracle, const std::vector<size_t>& parameters) {
  Oracle rest;
  for (size_t i : parameters) {
    rest.names.push_back(oracle.names[i]);
    rest.individual.push_back(oracle.individual[i]);
  }
  return rest;
}

Tensor counted(const Tensor& entries, const Bins& bins) {
  const Tensor position =
      ((entries.flatten() - bins.low) / (bins.high - bins.low) * double(bins.count)).floor();
  const Tensor last = position.eq(double(bins.count)) & entries.flatten().le(bins.high);
  const Tensor inside =
      at::where(last, position - 1.0, position.clamp(-1, double(bins.count))) + 1.0;
  return at::bincount(inside.to(at::kLong), {}, bins.count + 3);
}

Tensor as_matrix(const Tensor& stack) { return stack.reshape({stack.size(0), -1}); }

// What a bfloat16 layer sees is scaled by the watched reduction first, and rounded again.
double first_order_tolerance(const AdverseModel& model) {
  const double tolerance = tolerance_of(model.narrowest);
  return model.narrowest == at::kBFloat16 ? 4 * tolerance : tolerance;
}

// What autograd says of the model when its parameters have moved by a rounding: called where an
// answer differs.
using Shake = std::function<Oracle()>;

class FirstOrderCheck {
 public:
  FirstOrderCheck(const AdverseModel& model,
                  const Oracle& oracle,
                  const Question& question,
                  Shake shake)
      : model_(model),
        oracle_(oracle.select(question.batch.samples)),
        question_(question),
        shake_(std::move(shake)) {}

  Answer check(const Gradients& answers, const Tensor& weights = {}) const {
    Answer answer{lines(answers, oracle_), false};
    if (!answer.differences.empty() && model_.narrowest == at::kDouble) {
      answer.differences = lines(answers, oracle_, shake_().select(question_.batch.samples));
    }
    const Tensor zero = zero_samples(weights);
    if (!answer.differences.empty() && zero.defined() && zero.any().item<bool>() &&
        mentions(answers.remarks, "weight zero")) {
      answer.is_remarked = lines(answers, without(oracle_, zero)).empty();
    }
    return answer;
  }

 private:
  Tensor zero_samples(const Tensor& weights) const {
    if (!weights.defined() || weights.dim() == 0) return {};
    const Tensor zero = weights.eq(0);
    const std::vector<int64_t>& samples = question_.batch.samples;
    return samples.empty() ? zero
                           : zero.index_select(0, at::tensor(samples, at::kLong).to(zero.device()));
  }

  static bool vanishes(const Oracle& oracle) {
    constexpr double kNothing = 1e-6;  // a saturated loss has lost the digits of its slope
    return std::all_of(oracle.individual.begin(), oracle.individual.end(), [](const Tensor& rows) {
      return rows.numel() == 0 || rows.abs().max().item<double>() < kNothing;
    });
  }

  std::vector<std::string> lines(const Gradients& answers,
                                 const Oracle& oracle,
                                 const Oracle& shaken = {}) const {
    const GradientOptions& options = question_.options;
    const double tolerance = first_order_tolerance(model_);
    if (vanishes(oracle)) return {};  // what is left is rounding of the activations
    std::vector<std::string> found =
        differences(answers, oracle, question_.what, options.directions, tolerance, shaken);
    check_coverage(answers.coverage, oracle, found);
    if (model_.is_coupled && !mentions(answers.remarks, "couple")) {
      found.push_back("samples are coupled and no remark says so" + reason(answers.coverage));
    }
    if (question_.batch.shared_terms == SharedTerms::kLeaveOut &&
        !mentions(answers.remarks, "left out")) {
      found.push_back("shared terms are left out and no remark says so");
    }
    if (options.keep_rows) check_kept(answers, oracle, tolerance, found);
    if (!options.histograms.empty() && model_.narrowest == at::kDouble) {
      check_counts(answers, oracle, found);
    }
    return found;
  }

  // The first one given for a slow parameter.
  static std::string reason(const Coverage& coverage) {
    for (const ParameterCoverage& covered : coverage.parameters) {
      if (!covered.reason.empty()) return " (" + covered.name + ": " + covered.reason + ")";
    }
    return "";
  }

  static void check_coverage(const Coverage& coverage,
                             const Oracle& oracle,
                             std::vector<std::string>& found) {
    for (size_t i = 0; i < coverage.parameters.size(); ++i) {
      const ParameterCoverage& covered = coverage.parameters[i];
      if (covered.level == CoverageLevel::kExactSlow && covered.reason.empty()) {
        found.push_back(covered.name + " is slow without a reason");
      }
      if (covered.level == CoverageLevel::kUnused && oracle.individual[i].any().item<bool>()) {
        found.push_back(covered.name + " is reported unused but has a gradient");
      }
    }
  }

  void check_kept(const Gradients& answers,
                  const Oracle& oracle,
                  double tolerance,
                  std::vector<std::string>& found) const {
    const std::vector<Tensor>& directions = question_.options.directions;
    Tensor expected = at::zeros({oracle.individual[0].size(0), directions[0].size(0)}, doubles());
    double scale = 0;
    for (size_t i = 0; i < directions.size(); ++i) {
      const Tensor rows = as_matrix(oracle.individual[i]);
      const Tensor along = as_matrix(directions[i].to(at::kDouble));
      expected = expected + rows.matmul(along.t());
      scale += (rows.norm() * along.norm()).item<double>();
    }
    const Tensor actual = answers.rows->dots(directions).to(at::kDouble);
    const double error = (actual - expected).abs().max().item<double>();
    if (!(error <= tolerance * scale)) {
      found.push_back("dots of kept rows differ by " + std::to_string(error) +
                      " where the scale is " + std::to_string(scale));
    }
  }

  void check_counts(const Gradients& answers,
                    const Oracle& oracle,
                    std::vector<std::string>& found) const {
    for (size_t i = 0; i < oracle.individual.size(); ++i) {
      const Tensor actual = answers.parameters[i].histograms.at(0).to(at::kLong);
      const Tensor expected = counted(oracle.individual[i], question_.options.histograms[0]);
      if (!at::equal(actual.reshape({-1}), expected)) {
        found.push_back(oracle.names[i] + ".histogram differs");
      }
    }
  }

  const AdverseModel& model_;
  Oracle oracle_;
  const Question& question_;
  Shake shake_;
};

// Runs the loop without and with a watch; `.grad` has to be the same.
Answer watched(const AdverseModel& model,
               const Oracle& oracle,
               const Question& question,
               const Loop& loop,
               const Shake& shake) {
  const auto run = [&] {
    clear_gradients(model.parameters);
    loop.backward();
    return gradients_of(model.parameters);
  };
  std::vector<Tensor> unwatched;
  try {
    unwatched = run();
  } catch (const std::exception&) {
    return {};  // nobody can train so: LibTorch itself fails in a few such loops
  }
  const bool is_deterministic = identical(unwatched, run());
  const Batch batch(model.losses, model.parameters, question.batch);
  Watch watch(batch, question.what, question.options);
  const std::vector<Tensor> after = run();
  clear_gradients(model.parameters);
  const Gradients answers = watch.finish();
  const Tensor weights = weights_of(model, loop.reduce);
  Answer answer;
  if (loop.reached.empty()) {
    answer = FirstOrderCheck(model, oracle, question, shake).check(answers, weights);
  } else {
    // The answers for the parameters that the caller asked autograd about.
    Gradients part = answers;
    part.parameters.clear();
    part.coverage.parameters.clear();
    for (size_t i : loop.reached) {
      part.parameters.push_back(answers.parameters[i]);
      part.coverage.parameters.push_back(answers.coverage.parameters[i]);
    }
    answer = FirstOrderCheck(model, only(oracle, loop.reached), question, [&] {
               return only(shake(), loop.reached);
             }).check(part, weights);
  }
  for (size_t i = 0; i < unwatched.size(); ++i) {
    bool is_equal = !is_deterministic || identical(unwatched[i], after[i]);
    if (!is_equal && question.options.reuse_gradients && unwatched[i].defined() &&
        after[i].defined()) {
      const double scale = unwatched[i].to(at::kDouble).abs().max().item<double>();
      const double error = (unwatched[i] - after[i]).to(at::kDouble).abs().max().item<double>();
      is_equal = error <= 100 * tolerance_of(model.narrowest) * std::max(scale, 1e-6);
    }
    if (is_equal) continue;
    answer.is_remarked = false;
    answer.differences.push_back(model.parameters[i].name + ".grad differs from the unwatched one");
  }
  return answer;
}

Oracle shaken(uint64_t seed, const AdverseModel& model, SharedTerms shared) {
  std::vector<NamedParameter> moved;
  for (const auto& [name, tensor] : model.parameters) {
    const Tensor signs = at::randint(-1, 2, tensor.sizes(), tensor.options().dtype(at::kDouble));
    const Tensor value = tensor.detach() * (1.0 + std::numeric_limits<double>::epsilon() * signs);
    moved.push_back({name, value.requires_grad_(tensor.requires_grad())});
  }
  return differentiate(adverse_model(seed, moved).terms_with(shared), moved);
}

}  // namespace

void ask_first_order(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts) {
  const bool has_answer = model.terms.defined();
  const auto oracle_of = [&](const Question& question) {
    if (!has_answer) return Oracle();
    return differentiate(model.terms_with(question.batch.shared_terms), model.parameters);
  };
  const auto shake_of = [&](const Question& question) -> Shake {
    return [&] { return shaken(seed, model, question.batch.shared_terms); };
  };
  const Question question = random_question(dice, model);
  verdicts.ask(
      "gradients()" + describe(question),
      [&] {
        const Batch batch(model.losses, model.parameters, question.batch);
        const Gradients answers = gradients(batch, question.what, question.options);
        if (!has_answer) return Answer();
        return FirstOrderCheck(model, oracle_of(question), question, shake_of(question))
            .check(answers);
      },
      has_answer);

  Question heard = random_question(dice, model);
  const Loop loop = random_loop(model, dice);
  if (!loop.reached.empty()) {
    // Totals and directions are over all parameters.
    heard.what = Need::kIndividual | Need::kMean;
    heard.options.keep_rows = false;
    heard.options.histograms.clear();
  }
  heard.options.reuse_gradients = loop.is_plain && heard.batch.samples.empty() && dice.chance(0.2);
  // Before the hook, which is none of the losses'.
  const Oracle oracle = oracle_of(heard);
  const Hook hook(model, dice);
  if (!hook.name().empty()) verdicts.features.insert("hooks");
  if (!loop.is_plain) verdicts.features.insert("unplain-loops");
  verdicts.ask(
      "watch of " + loop.name + hook.name() + describe(heard),
      [&] {
        if (has_answer) return watched(model, oracle, heard, loop, shake_of(heard));
        const Batch batch(model.losses, model.parameters, heard.batch);
        Watch watch(batch, heard.what, heard.options);
        retaining(model.losses);
        static_cast<void>(watch.finish());
        return Answer();
      },
      has_answer);
  clear_gradients(model.parameters);
}

}  // namespace flightdeck::tests
