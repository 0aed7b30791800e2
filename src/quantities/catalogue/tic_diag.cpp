// SPDX-License-Identifier: MIT
// Takeuchi's information criterion with the diagonals of noise and curvature.
#include "quantities/curvature_choice.h"
#include "rows/sweeps.h"

namespace flightdeck::quantities {

// Makes sum_d (1/N) sum_n g_nd² / (h_d + epsilon). Nothing is clipped: h_d may be negative.
Quantity tic_diag(Settings& settings) {
  const CurvatureChoice curvature(settings);
  const double epsilon = settings.number("epsilon", 1e-7, "added to the curvature");
  StepNeeds needs;
  needs.gradients = Need::kSecondMoment;
  return Quantity("tic_diag")
      .summary("Takeuchi criterion from diagonals: gradient second moment over curvature")
      .reference("C.3.8, equation C.38, with epsilon as in the reference implementation")
      .needs(curvature.with_diagonal(needs))
      .cost(Cost::kCurvature)
      .has_groups(true)
      .compute([curvature, epsilon](const StepView& step) {
        const std::vector<Tensor> moments = step.gradients(&ParameterGradients::second_moment);
        const std::vector<Tensor> diagonals = curvature.diagonals(step);
        std::vector<Tensor> sums;
        for (size_t p = 0; p < moments.size(); ++p) {
          sums.push_back(
              sum_entries(moments[p], diagonals[p], [epsilon](const auto& moment, const auto& h) {
                return moment / (h + epsilon);
              }));
        }
        return Value(step.group_sums(sums));
      });
}

}  // namespace flightdeck::quantities
