// SPDX-License-Identifier: MIT
// Spectral norms of weights and updates by power iteration that goes on from step to step: weights
// move little, so that a product or two keep the singular vector.
#include <limits>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "rows/sweeps.h"

namespace flightdeck::quantities {
namespace {

constexpr int64_t kColdIterations = 20;

// Returns a matrix whose lines are outputs. A vector is one column.
Tensor as_matrix(const Tensor& tensor) {
  return tensor.dim() < 2 ? tensor.reshape({-1, 1}) : tensor.flatten(1);
}

// Makes a vector without a generator: the training's is not to be touched.
Tensor start_vector(int64_t size, const at::TensorOptions& options) {
  const Tensor vector = (at::arange(1, size + 1, options) * 12.9898).sin();
  return vector / vector.norm();
}

// Returns the largest singular value, from below; `right` is its vector of the last time and of
// this.
Tensor largest_singular(const Tensor& matrix, Tensor& right, int64_t iterations) {
  if (right.defined()) right = right.to(matrix.options());  // as it was saved, in double
  if (!right.defined()) {
    right = start_vector(matrix.size(1), matrix.options());
    iterations = std::max(iterations, kColdIterations);
  }
  Tensor stretched;
  for (int64_t k = 0; k < iterations; ++k) {
    const Tensor left = at::mv(matrix, right);
    const Tensor next = at::mv(matrix.t(), left);
    const Tensor length = left.norm(), size = next.norm();
    // This is ||Wᵀ W v|| / ||W v||, which is no more than the largest and no less than ||W v||.
    stretched = at::where(length == 0, length, size / length);
    // Every vector is one of a zero matrix; what is not finite must not stay.
    right = at::where(at::isfinite(size).logical_and(size > 0), next / size, right);
  }
  return stretched.to(at::kDouble);
}

struct Spectrum {
  Tensor norm, stable_rank, condition;  // []; condition may be undefined
};

class PowerIteration {
 public:
  PowerIteration(int64_t iterations, int64_t condition_up_to)
      : iterations_(iterations), condition_up_to_(condition_up_to) {}

  Spectrum of(size_t place, const Tensor& tensor) {
    if (right_.size() <= place) right_.resize(place + 1);
    Tensor matrix = as_matrix(tensor.detach());
    const bool is_coarse =
        matrix.scalar_type() == at::kHalf || matrix.scalar_type() == at::kBFloat16;
    if (is_coarse) matrix = matrix.to(at::kFloat);
    Spectrum spectrum;
    if (matrix.size(1) == 1) {
      spectrum.norm = sum_of_squares(matrix).sqrt();
      spectrum.stable_rank = at::ones_like(spectrum.norm);
      spectrum.condition = spectrum.stable_rank;
      return spectrum;
    }
    spectrum.norm = largest_singular(matrix, right_[place], iterations_);
    spectrum.stable_rank = sum_of_squares(matrix) / spectrum.norm.square();
    const int64_t side = std::min(matrix.size(0), matrix.size(1));
    if (side <= condition_up_to_) {
      const Tensor wide = matrix.to(at::kDouble);
      const Tensor gram = matrix.size(0) <= matrix.size(1) ? wide.mm(wide.t()) : wide.t().mm(wide);
      // A NaN or infinity would be an error of the solver, not a value.
      const Tensor is_finite = at::isfinite(gram).all();
      const Tensor values =
          at::linalg_eigvalsh(at::where(is_finite, gram, at::zeros_like(gram))).clamp_min(0);
      spectrum.condition =
          at::where(is_finite,
                    (values[side - 1] / values[0]).sqrt(),
                    at::full({}, std::numeric_limits<double>::quiet_NaN(), values.options()));
    }
    return spectrum;
  }

  // Saves their number, and of each vector its size and entries; size 0 where there is none.
  void save(std::vector<double>& numbers) const {
    numbers.push_back(static_cast<double>(right_.size()));
    for (const Tensor& vector : right_) {
      numbers.push_back(vector.defined() ? static_cast<double>(vector.numel()) : 0);
      if (!vector.defined()) continue;
      const Tensor entries = vector.to(at::kCPU, at::kDouble).contiguous();
      const auto* first = entries.data_ptr<double>();
      numbers.insert(numbers.end(), first, first + entries.numel());
    }
  }
  void load(const std::vector<double>& numbers, size_t& next) {
    right_.assign(static_cast<size_t>(numbers.at(next++)), Tensor());
    for (Tensor& vector : right_) {
      const auto size = static_cast<size_t>(numbers.at(next++));
      if (size == 0) continue;
      TORCH_CHECK(next + size <= numbers.size(), "weight_spectra: what was saved ends too early");
      vector = at::tensor(at::ArrayRef<double>(numbers.data() + next, size), at::kDouble);
      next += size;
    }
  }

 private:
  int64_t iterations_, condition_up_to_;
  std::vector<Tensor> right_;  // per parameter
};

// Returns the largest (or smallest) of each group, [G]; matrices before vectors.
Tensor extreme_of_groups(const std::vector<Tensor>& values,
                         const Parameters& parameters,
                         const Groups& groups,
                         bool is_largest) {
  std::vector<Tensor> extremes;
  for (const auto& members : groups.members) {
    std::vector<Tensor> matrices, all;
    for (const size_t p : members) {
      if (!values[p].defined()) continue;
      all.push_back(values[p]);
      if (parameters[p].tensor.dim() > 1) matrices.push_back(values[p]);
    }
    const std::vector<Tensor>& chosen = matrices.empty() ? all : matrices;
    if (chosen.empty()) return {};
    const Tensor stacked = at::stack(chosen);
    extremes.push_back(is_largest ? stacked.amax() : stacked.amin());
  }
  return at::stack(extremes);
}

struct WeightSpectra {
  WeightSpectra(int64_t iterations, int64_t condition_up_to)
      : weights(iterations, condition_up_to), updates(iterations, 0) {}

  Value compute(const StepView& step) {
    const Parameters& parameters = step.parameters();
    std::vector<Tensor> norms, ranks, conditions;
    for (size_t p = 0; p < parameters.size(); ++p) {
      const Spectrum spectrum = weights.of(p, parameters[p].tensor);
      norms.push_back(spectrum.norm);
      ranks.push_back(spectrum.stable_rank);
      conditions.push_back(spectrum.condition);
    }
    const Groups& groups = step.groups();
    Value value(extreme_of_groups(norms, parameters, groups, true));
    value.with("stable_rank", extreme_of_groups(ranks, parameters, groups, false));
    const Tensor condition = extreme_of_groups(conditions, parameters, groups, true);
    if (condition.defined()) value.with("condition", condition);
    return value;
  }

  Value after_update(const UpdateView& update) {
    const Parameters& parameters = update.parameters();
    std::vector<Tensor> norms, ranks;
    for (size_t p = 0; p < parameters.size(); ++p) {
      const Spectrum spectrum = updates.of(p, update.updates()[p]);
      norms.push_back(spectrum.norm);
      ranks.push_back(spectrum.stable_rank);
    }
    Value value;
    value.with("update", extreme_of_groups(norms, parameters, update.groups(), true));
    value.with("update_stable_rank", extreme_of_groups(ranks, parameters, update.groups(), false));
    return value;
  }

  PowerIteration weights, updates;
};

}  // namespace

Quantity weight_spectra(Settings& settings) {
  const int64_t iterations =
      settings.integer("iterations", 1, "power iterations per step, warm", 1);
  const int64_t side = settings.integer(
      "condition_up_to", 64, "shorter side up to which the condition is computed; 0: never");
  return Quantity("weight_spectra")
      .summary("Largest spectral norm of a weight; stable rank, condition, update as fields")
      .reference("warm power iteration on W and on its update; beyond the papers")
      .has_groups(true)
      .reads_parameters(true)
      .make([iterations, side] {
        const auto state = std::make_shared<WeightSpectra>(iterations, side);
        Quantity::Functions functions;
        functions.compute = [state](const StepView& step) { return state->compute(step); };
        functions.after_update = [state](const UpdateView& update) {
          return state->after_update(update);
        };
        functions.save = [state] {
          std::vector<double> numbers;
          state->weights.save(numbers);
          state->updates.save(numbers);
          return numbers;
        };
        functions.load = [state](const std::vector<double>& numbers) {
          size_t next = 0;
          state->weights.load(numbers, next);
          state->updates.load(numbers, next);
        };
        return functions;
      });
}

}  // namespace flightdeck::quantities
