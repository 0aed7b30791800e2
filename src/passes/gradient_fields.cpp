// SPDX-License-Identifier: MIT
#include "passes/gradient_fields.h"

#include <algorithm>

#include <c10/util/Exception.h>

#include "rows/answer.h"

namespace flightdeck {
namespace {

std::vector<GradientField> make_fields() {
  // This field is not one of rows, and so not in their catalogue.
  std::vector<GradientField> fields = {{"arrived_norm",
                                        "Need::kArrivedNorm",
                                        "norm of the gradient",
                                        Need::kArrivedNorm,
                                        &ParameterGradients::arrived_norm,
                                        /*is_small=*/true}};
  for (const Answer* answer : answer_catalogue()) {
    const auto* one = dynamic_cast<const TensorAnswer*>(answer);
    if (!one) continue;
    const AnswerKind kind = one->kind();
    fields.push_back({kind.name,
                      kind.asked_by,
                      kind.in_words,
                      one->own_need(),
                      one->field(),
                      kind.extent == Extent::kSamples});
  }
  std::sort(fields.begin(), fields.end(), [](const GradientField& a, const GradientField& b) {
    return a.need < b.need;
  });
  return fields;
}

const GradientField& find(Tensor ParameterGradients::*tensor) {
  for (const GradientField& field : gradient_fields()) {
    if (field.tensor == tensor) return field;
  }
  TORCH_INTERNAL_ASSERT(false, "a field of ParameterGradients is not an answer");
}

}  // namespace

const std::vector<GradientField>& gradient_fields() {
  static const std::vector<GradientField> fields = make_fields();
  return fields;
}

void check_field(const Gradients& result, size_t parameter, Tensor ParameterGradients::*field) {
  const ParameterGradients& answers = result.parameters[parameter];
  if ((answers.*field).defined()) return;
  const GradientField& missing = find(field);
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
                    missing.asked_by);
}

std::string missing_fields(const Gradients& result) {
  std::string text;
  for (const GradientField& field : gradient_fields()) {
    const auto has = [&](const ParameterGradients& p) { return (p.*field.tensor).defined(); };
    if (std::any_of(result.parameters.begin(), result.parameters.end(), has)) continue;
    text += (text.empty() ? "" : ", ") + std::string(field.name) + " (" + field.asked_by + ")";
  }
  return text;
}

bool asks_rows(Needs what) {
  return what.has(static_cast<Need>(~static_cast<uint32_t>(Need::kArrivedNorm)));
}

bool asks_rows(Needs what, const GradientOptions& options) {
  // A caller who asks for nothing wants to know how rows would be obtained.
  return what.empty() || asks_rows(what) || !options.histograms.empty() ||
         !options.joint_histograms.empty() || options.keep_rows || options.reuse_gradients;
}

}  // namespace flightdeck
