// SPDX-License-Identifier: MIT
// Which parameters take part in the training: the loss depends on them, the optimizer has them, a
// gradient reaches them, they change. Exact: read from the graph, not guessed from a curve.
#include <algorithm>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "passes/capture.h"
#include "quantities/group_sums.h"
#include "rows/sweeps.h"

namespace flightdeck::quantities {
namespace {

// Says "text: 'a', 'b' and 3 more" of the parameters that are flagged; nothing if none is.
Value::Say naming(std::string text, const Parameters& parameters) {
  std::vector<std::string> names;
  for (const NamedParameter& parameter : parameters) names.push_back(parameter.name);
  return [text = std::move(text), names = std::move(names)](const std::vector<double>& flags) {
    constexpr size_t kMostNamed = 8;
    std::string list;
    size_t count = 0;
    for (size_t p = 0; p < flags.size(); ++p) {
      if (flags[p] == 0 || ++count > kMostNamed) continue;
      list += (count == 1 ? " '" : ", '") + names[p] + "'";
    }
    if (count == 0) return std::string();
    const std::string more =
        count > kMostNamed ? " and " + std::to_string(count - kMostNamed) + " more" : "";
    return text + list + more;
  };
}

Tensor norm_of_gradient(const Tensor& gradient, const at::TensorOptions& options) {
  if (!gradient.defined()) return at::zeros({}, options);
  const Tensor entries = gradient.is_sparse() ? gradient.coalesce().values() : gradient;
  return sum_of_squares(entries.detach()).sqrt();
}

// Returns the norms of all `.grad`, [P] in double.
Tensor kept_gradient_norms(const Parameters& parameters) {
  const auto options = parameters[0].tensor.options().dtype(at::kDouble).requires_grad(false);
  std::vector<Tensor> norms;
  for (const NamedParameter& parameter : parameters) {
    norms.push_back(norm_of_gradient(parameter.tensor.grad(), options).to(options.device()));
  }
  return at::stack(norms);
}

// Sums one number of each parameter over the groups.
Tensor by_group(const Tensor& per_parameter, const Groups& groups) {
  return sum_stacked_by_group(per_parameter.to(at::kDouble), groups);
}

class Trained {
 public:
  void look(const GraphView& graph) {
    const Parameters& parameters = graph.step().parameters();
    unreachable_.clear();
    for (const CapturedParameter& parameter : graph.capture().parameters) {
      unreachable_.push_back(parameter.leaf < 0 ? 1 : 0);
    }
    const bool has_gradients =
        std::any_of(parameters.begin(), parameters.end(), [](const NamedParameter& parameter) {
          return parameter.tensor.grad().defined();
        });
    leftover_ = has_gradients ? kept_gradient_norms(parameters) : Tensor();
  }

  // Shares whom this rank's losses do not reach, [1, P].
  std::vector<Tensor> share() const { return {at::tensor(unreachable_, at::kDouble).unsqueeze(0)}; }

  Value compute(const StepView& step) const {
    const Parameters& parameters = step.parameters();
    const Groups& groups = step.groups();
    std::vector<Tensor> norms;
    for (const ParameterGradients& parameter : step.gradients().parameters) {
      norms.push_back(parameter.arrived_norm.to(at::kDouble).reshape({}));
    }
    const Tensor arrived = at::stack(norms);
    const auto flags = [&](const std::vector<double>& values) {
      return at::tensor(values, at::kDouble).to(arrived.device());
    };
    const Tensor unreachable = step.shared()[0].to(arrived.device()).amin(0);
    const Tensor silent = (arrived == 0).to(at::kDouble) * (1 - unreachable);
    Tensor untrained = unreachable + silent;
    const Tensor count = by_group(at::ones_like(unreachable), groups);

    Value others;
    if (const auto optimized = step.optimized()) {
      std::vector<double> left_out;
      for (const bool is_optimized : optimized->parameters) {
        left_out.push_back(is_optimized ? 0 : 1);
      }
      const Tensor not_optimized = flags(left_out);
      untrained = untrained + not_optimized;
      others.with("not_optimized", by_group(not_optimized, groups));
      others.with("extra_optimized", static_cast<double>(optimized->others));
      others.with_remark(not_optimized, naming("not in the optimizer:", parameters));
    }
    Value value(by_group((untrained == 0), groups) / count);
    value.with("parameters", count);
    value.with("unreachable", by_group(unreachable, groups));
    value.with("without_gradient", by_group(silent, groups));
    value.with_remark(unreachable, naming("the loss does not depend on", parameters));
    value.with_remark(silent, naming("no gradient reaches", parameters));
    for (const Value::Field& field : others.fields()) value.with(field.name, field.data);
    for (const Value::Remark& remark : others.remarks()) {
      value.with_remark(remark.numbers, remark.say);
    }
    if (!leftover_.defined()) return value.with("leftover", at::zeros_like(count));
    const Tensor left = (leftover_ != 0);
    value.with("leftover", by_group(left, groups));
    value.with("leftover_ratio",
               at::linalg_vector_norm(leftover_) /
                   at::linalg_vector_norm(kept_gradient_norms(parameters)));
    value.with_remark(left.to(at::kDouble),
                      naming("gradients were left over before the backward pass:", parameters));
    return value;
  }

  static Value after_update(const UpdateView& update) {
    const Tensor unchanged = (at::stack(update.squared_updates()) == 0).to(at::kDouble);
    Value value;
    value.with("unchanged", by_group(unchanged, update.groups()));
    value.with_remark(unchanged, naming("the update left unchanged", update.parameters()));
    return value;
  }

 private:
  std::vector<double> unreachable_;
  Tensor leftover_;  // norms of `.grad` before the backward pass, [P]; undefined: there were none
};

}  // namespace

Quantity trained(Settings&) {
  return Quantity("trained")
      .summary(
          "Share of parameters that the loss reaches and the optimizer trains; who is left out")
      .reference("exact, from the graph; beyond the papers")
      .needs(Need::kArrivedNorm)
      .has_groups(true)
      .make([] {
        const auto state = std::make_shared<Trained>();
        Quantity::Functions functions;
        functions.look = [state](const GraphView& graph) { state->look(graph); };
        functions.share = [state](const StepView&) { return state->share(); };
        functions.compute = [state](const StepView& step) { return state->compute(step); };
        functions.after_update = &Trained::after_update;
        return functions;
      });
}

}  // namespace flightdeck::quantities
