// SPDX-License-Identifier: MIT
#include "cockpit/crew_table.h"

#include <mutex>

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include "cockpit/crew_texts.h"

namespace flightdeck {
namespace {

BitSum random_state() {
  auto generator = at::globalContext().defaultGenerator(at::kCPU);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return sum_of_bits({generator.get_state()});
}

void write_bits(const BitSum& sum, Column high, Column low, CrewLine& line) {
  line[high] = sum.high;
  line[low] = sum.low;
}

}  // namespace

void write_light(const Step& step, double outside, CrewLine& line) {
  line[kSamples] = static_cast<double>(step.batch_size());
  try {
    line[kLoss] = step.loss().item<double>();
    line[kKnowsLoss] = 1;
  } catch (const c10::Error&) {
    // Terms that all samples share are left out of the losses: there is no loss on any rank.
  }
  line[kOutside] = outside;
  line[kBackward] = step.clock().backward;
}

void write_rest(const Step& step, const StepContext& context, bool wants_rows, CrewLine& line) {
  const StepSamples samples = step.samples();
  const bool knows_losses = samples.losses.defined() && step.has_whole_losses();
  line[kKnowsLosses] = knows_losses;
  line[kKnowsIds] = samples.ids.defined();
  line[kKnowsLabels] = samples.labels.defined();
  line[kKnowsPredictions] = samples.predictions.defined();
  line[kHasGradients] = step.has_gradients();
  const bool has_rows = step.has_gradients() && !step.gradients().parameters.empty() &&
                        step.gradients().parameters[0].individual.defined();
  line[kBringsRows] = has_rows && wants_rows;
  const bool has_norm = step.has_gradients() && step.gradients().total.arrived_norm.defined();
  line[kGradNorm] = has_norm ? step.gradients().total.arrived_norm.item<double>() : kUnknown;
  std::vector<Tensor> parameters;
  for (const NamedParameter& one : context.parameters) parameters.push_back(one.tensor);
  write_bits(context.is_sharded ? BitSum{0, 0} : sum_of_bits(parameters),
             kParametersHigh,
             kParametersLow,
             line);
  write_bits(knows_losses ? sum_of_bits({samples.losses}) : BitSum{kUnknown, kUnknown},
             kLossesHigh,
             kLossesLow,
             line);
  write_bits(random_state(), kRandomHigh, kRandomLow, line);
}

bool CrewTable::all_have(int64_t column) const {
  for (int64_t rank = 0; rank < W(); ++rank) {
    if (has_samples(rank) && at(rank, column) == 0) return false;
  }
  return true;
}

double CrewTable::sum_before(int64_t rank, int64_t column) const {
  double sum = 0;
  for (int64_t other = 0; other < rank; ++other) sum += at(other, column);
  return sum;
}

}  // namespace flightdeck
