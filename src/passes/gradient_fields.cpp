// SPDX-License-Identifier: MIT
#include "passes/gradient_fields.h"

#include <algorithm>

#include <c10/util/Exception.h>

#include "rows/answer.h"

namespace flightdeck {
namespace {

struct Field {
  std::string name, asked_by;
};

// Not one of rows, and so not in their catalogue.
const Field kArrivedNorm = {"arrived_norm", "Need::kArrivedNorm"};

Field find(Tensor ParameterGradients::*tensor) {
  if (tensor == &ParameterGradients::arrived_norm) return kArrivedNorm;
  for (const Answer* answer : answer_catalogue()) {
    if (answer->fills(tensor)) return {answer->kind().name, answer->kind().asked_by};
  }
  TORCH_INTERNAL_ASSERT(false, "a field of ParameterGradients is not an answer");
}

}  // namespace

void check_field(const Gradients& result, size_t parameter, Tensor ParameterGradients::*field) {
  const ParameterGradients& answers = result.parameters[parameter];
  if ((answers.*field).defined()) return;
  const Field missing = find(field);
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
  const auto add_unless = [&](const Field& field, const auto& has) {
    if (std::any_of(result.parameters.begin(), result.parameters.end(), has)) return;
    text += (text.empty() ? "" : ", ") + field.name + " (" + field.asked_by + ")";
  };
  for (const Answer* answer : answer_catalogue()) {
    if (answer->need().empty()) continue;
    add_unless({answer->kind().name, answer->kind().asked_by},
               [&](const ParameterGradients& p) { return !answer->get(p).empty(); });
  }
  add_unless(kArrivedNorm, [](const ParameterGradients& p) { return p.arrived_norm.defined(); });
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
