// SPDX-License-Identifier: MIT
#include <flightdeck/lamp.h>

namespace {

flightdeck::Lamp my_lamp() {
  flightdeck::Lamp lamp;
  lamp.name = "my_lamp";
  lamp.summary = "Less than the whole gradient is at work";
  lamp.severity = flightdeck::Severity::kAdvice;
  lamp.reads = {"my_quantity"};
  lamp.look = [](const flightdeck::LampView& view) -> std::vector<flightdeck::Finding> {
    const auto series = view.run.find("my_quantity");
    if (!series) return {};
    for (const flightdeck::NumberPoint& point : view.run.numbers(series->id)) {
      if (point.value >= 1) continue;
      flightdeck::Finding finding;
      finding.step = point.step;
      finding.quantity = "my_quantity";
      finding.symptom = "Some entries of the gradient are small";
      finding.evidence = "my_quantity is " + std::to_string(point.value);
      return {finding};
    }
    return {};
  };
  return lamp;
}

const bool kHasMyLamp = flightdeck::register_lamp(my_lamp());

}  // namespace
