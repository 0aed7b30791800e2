// SPDX-License-Identifier: MIT
#include "passes/gradient_fields.h"

#include <algorithm>

#include <c10/util/Exception.h>

namespace flightdeck {
namespace {

struct Field {
  Tensor ParameterGradients::*tensor;
  const char* name;
  const char* need;
};

constexpr Field kFields[] = {
    {&ParameterGradients::mean, "mean", "Need::kMean"},
    {&ParameterGradients::individual, "individual", "Need::kIndividual"},
    {&ParameterGradients::norms, "norms", "Need::kNorms"},
    {&ParameterGradients::second_moment, "second_moment", "Need::kSecondMoment"},
    {&ParameterGradients::variance, "variance", "Need::kVariance"},
    {&ParameterGradients::gram, "gram", "Need::kGram"},
    {&ParameterGradients::dots, "dots", "Need::kDots"},
    {&ParameterGradients::mean_dots, "mean_dots", "Need::kMeanDots"},
    {&ParameterGradients::arrived_norm, "arrived_norm", "Need::kArrivedNorm"}};

const Field& find(Tensor ParameterGradients::*tensor) {
  for (const Field& field : kFields) {
    if (field.tensor == tensor) return field;
  }
  TORCH_INTERNAL_ASSERT(false, "a field of ParameterGradients is not in the table");
}

}  // namespace

void check_field(const Gradients& result, size_t parameter, Tensor ParameterGradients::*field) {
  const ParameterGradients& answers = result.parameters[parameter];
  if ((answers.*field).defined()) return;
  const Field& missing = find(field);
  const ParameterCoverage& covered = result.coverage.parameters.at(parameter);
  TORCH_CHECK_VALUE(covered.level != CoverageLevel::kRefused,
                    "gradients: there is no '",
                    missing.name,
                    "' of '",
                    answers.name,
                    "': ",
                    covered.reason,
                    "; call backward() on the whole loss, or ask for the parameters it reaches "
                    "alone");
  TORCH_CHECK_VALUE(false,
                    "gradients: '",
                    missing.name,
                    "' was not computed for '",
                    answers.name,
                    "'; ask for it with ",
                    missing.need);
}

std::string missing_fields(const Gradients& result) {
  std::string text;
  for (const Field& field : kFields) {
    const auto has = [&](const ParameterGradients& p) { return (p.*field.tensor).defined(); };
    if (std::any_of(result.parameters.begin(), result.parameters.end(), has)) continue;
    text += (text.empty() ? "" : ", ") + std::string(field.name) + " (" + field.need + ")";
  }
  return text;
}

bool asks_rows(Needs what) {
  return what.has(static_cast<Need>(~static_cast<uint32_t>(Need::kArrivedNorm)));
}

bool asks_rows(Needs what, const GradientOptions& options) {
  // Who asks for nothing wants to know how it would be obtained.
  return what.empty() || asks_rows(what) || !options.histograms.empty() ||
         !options.joint_histograms.empty() || options.keep_rows || options.reuse_gradients;
}

}  // namespace flightdeck
