// SPDX-License-Identifier: MIT
// Histogram of individual gradient entries against the parameter entries they belong to.
#include "quantities/adaptive_range.h"

namespace flightdeck::quantities {
namespace {

Value counts_of(const StepView& step, const JointBins& bins) {
  Value value;
  value.with_histogram("", {bins.gradients, bins.parameters}, step.joint_histogram(bins));
  return value;
}

struct Adaptation {
  bool of_gradients = false, of_parameters = false;
  AdaptiveRange gradients, parameters;
};

Quantity::Functions adapting(const JointBins& initial, const Adaptation& adaptation) {
  auto bins = std::make_shared<JointBins>(initial);
  Quantity::Functions functions;
  functions.needs = [bins, adaptation] {
    StepNeeds needs;
    if (adaptation.of_gradients) needs.gradients = Need::kIndividual;
    needs.joint_histograms = {*bins};
    return needs;
  };
  if (adaptation.of_gradients) {
    functions.share = [](const StepView& step) -> std::vector<Tensor> {
      return {at::full({1}, largest_gradient_entry(step), at::kDouble)};
    };
  }
  functions.compute = [bins, adaptation](const StepView& step) {
    Value value = counts_of(step, *bins);
    if (adaptation.of_gradients) {
      const auto largest = step.shared()[0].amax().item<double>();
      bins->gradients = adaptation.gradients.adapt(bins->gradients, largest);
    }
    if (adaptation.of_parameters) {
      bins->parameters =
          adaptation.parameters.adapt(bins->parameters, largest_parameter_entry(step));
    }
    return value;
  };
  functions.save = [bins] {
    const Bins &gradients = bins->gradients, &parameters = bins->parameters;
    return std::vector<double>{gradients.low, gradients.high, parameters.low, parameters.high};
  };
  functions.load = [bins](const std::vector<double>& ranges) {
    bins->gradients.low = ranges.at(0);
    bins->gradients.high = ranges.at(1);
    bins->parameters.low = ranges.at(2);
    bins->parameters.high = ranges.at(3);
  };
  return functions;
}

// Declares and reads the bins of one axis.
Bins read_axis(Settings& settings, const std::string& axis, Bins bins) {
  bins.count = settings.integer(axis + "_bins", bins.count, "number of bins", 1);
  bins.low = settings.number(axis + "_low", bins.low, "lower end of the range");
  bins.high = settings.number(axis + "_high", bins.high, "upper end of the range");
  check_range("grad_hist_2d", bins);
  return bins;
}

}  // namespace

Quantity grad_hist_2d(Settings& settings) {
  JointBins bins;
  bins.gradients = read_axis(settings, "gradient", bins.gradients);
  bins.parameters = read_axis(settings, "parameter", bins.parameters);
  const std::string adapt = settings.choice(
      "adapt", {"none", "gradients", "parameters", "both"}, "ranges from the last tracked step");
  Adaptation adaptation;
  adaptation.of_gradients = adapt == "gradients" || adapt == "both";
  adaptation.of_parameters = adapt == "parameters" || adapt == "both";
  adaptation.gradients.padding = read_padding(settings, "gradient_");
  adaptation.parameters.padding = read_padding(settings, "parameter_");
  adaptation.gradients.min_size = adaptation.parameters.min_size =
      settings.number("min_size", adaptation.gradients.min_size, "adapted ranges: smallest width");

  Quantity quantity("grad_hist_2d");
  quantity.summary("Histogram of individual gradient entries against their parameters' values")
      .reference("C.3.4, equation C.13; both axes clamped into their range")
      .cost(Cost::kFirstOrder)
      .reads_parameters(true)
      .has_groups(true);
  if (adapt != "none") {
    return quantity.make([bins, adaptation] { return adapting(bins, adaptation); });
  }
  StepNeeds needs;
  needs.joint_histograms = {bins};
  return quantity.needs(needs).compute(
      [bins](const StepView& step) { return counts_of(step, bins); });
}

}  // namespace flightdeck::quantities
