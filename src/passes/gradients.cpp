// SPDX-License-Identifier: MIT
// gradients(): the pass that runs on its own.
#include "flightdeck/gradients.h"

#include <ATen/ATen.h>

#include "passes/first_order.h"
#include "passes/gradient_fields.h"
#include "rows/rounding.h"

namespace flightdeck {
namespace {

// Runs the body; PyTorch's errors about the graph come out with their remedy.
template <typename Body>
auto with_remedies(const Body& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();  // with its contexts
    TORCH_CHECK(what.find("backward through the graph a second time") == std::string::npos,
                "gradients: the graph behind losses was already freed by a backward pass; call "
                "gradients before backward(), or keep the graph with retain_graph");
    TORCH_CHECK(what.find("modified by an inplace operation") == std::string::npos,
                "gradients: a tensor the graph saved for its backward pass was modified in place: ",
                what,
                "; do the in-place change after gradients, or on a clone");
    throw;
  }
}

Gradients run_pass(CapturedBatch batch, Needs what, GradientOptions options) {
  options.reuse_gradients = false;
  FirstOrderPass pass(std::move(batch), what, std::move(options), /*hears_arrivals=*/false);
  pass.run();
  return pass.finish();
}

}  // namespace

Parameters::Parameters(const std::vector<Tensor>& tensors) {
  for (size_t k = 0; k < tensors.size(); ++k) entries_.push_back({std::to_string(k), tensors[k]});
}

const ParameterGradients& Gradients::at(const std::string& name) const {
  for (const auto& parameter : parameters) {
    if (parameter.name == name) return parameter;
  }
  TORCH_CHECK_INDEX(false,
                    "gradients: no parameter is named '",
                    name,
                    "' among the ",
                    parameters.size(),
                    " asked for; see coverage for their names");
}

Tensor Gradients::rounding_share(const ParameterGradients& answers) const {
  TORCH_CHECK_VALUE(answers.deviations.defined() || answers.variance.defined(),
                    "rounding_share: '",
                    answers.name,
                    "' has neither deviations nor a variance; ask for Need::kDeviations");
  const Tensor scatter = answers.deviations.defined()
                             ? answers.deviations.sum()
                             : answers.variance.sum(at::kDouble).mul_(double(batch_size));
  const Tensor& length = answers.squared_mean;
  const double rounding = rounding_of_rows(answers.epsilon);
  const Tensor noise = length * (rounding * rounding);
  return rounding_error(scatter, length, noise, batch_size) / scatter;
}

Tensor Gradients::concatenated(Tensor ParameterGradients::*field) const {
  std::vector<Tensor> parts;
  const bool has_rows = field == &ParameterGradients::individual;
  for (size_t p = 0; p < parameters.size(); ++p) {
    check_field(*this, p, field);
    const Tensor& part = parameters[p].*field;
    parts.push_back(has_rows ? part.reshape({part.size(0), -1}) : part.reshape({-1}));
  }
  return at::cat(parts, has_rows ? 1 : 0);
}

Gradients gradients(const Batch& batch, Needs what, const GradientOptions& options) {
  return with_remedies([&] {
    CapturedBatch captured(batch);
    check_scalar(*captured.capture);
    throw_refusals(*captured.capture, captured.batch_norm);
    return run_pass(std::move(captured), what, options);
  });
}

Gradients gradients(const Tensor& losses,
                    const Parameters& parameters,
                    Needs what,
                    const GradientOptions& options) {
  return gradients(Batch(losses, parameters), what, options);
}

Coverage coverage(const Batch& batch, Needs what, const GradientOptions& options) {
  return with_remedies([&] {
    CapturedBatch captured(batch);
    check_scalar(*captured.capture);
    Coverage refused;
    for (size_t p = 0; p < captured.parameters.size(); ++p) {
      const std::string refusal = refusal_of(*captured.capture, p, captured.batch_norm);
      if (refusal.empty()) continue;
      refused.parameters.push_back(
          {captured.parameters[p].name, CoverageLevel::kRefused, {}, refusal, {}});
    }
    if (!refused.parameters.empty()) return refused;
    GradientOptions own = options;
    own.on_parameter = [](ParameterGradients&) {};
    return run_pass(std::move(captured), what, own).coverage;
  });
}

Coverage coverage(const Tensor& losses,
                  const Parameters& parameters,
                  Needs what,
                  const GradientOptions& options) {
  return coverage(Batch(losses, parameters), what, options);
}

}  // namespace flightdeck
