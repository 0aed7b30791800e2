// SPDX-License-Identifier: MIT
#include "lamps/layers.h"

#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

void light_by_shares_above(Lamp& lamp,
                           double limit,
                           const std::string& quantity,
                           const std::string& what,
                           std::function<void(Finding&)> describe) {
  lamp.pictured = {{quantity, "", {limit}}};
  lamp.look = [=](const LampView& view) -> std::vector<Finding> {
    Finding finding;
    std::vector<std::string> layers;
    double lowest = 1, highest = 0;
    for (const Recent& layer : recent(view, quantity, 3)) {
      const double share = layer.median();
      if (layer.series.field.empty() || !(share > limit)) continue;
      layers.push_back(layer.series.field);
      lowest = std::min(lowest, share);
      highest = std::max(highest, share);
      finding.step = std::max(finding.step, layer.points.back().step);
    }
    if (layers.empty()) return {};
    const std::string shares = percent_text(lowest) == percent_text(highest)
                                   ? percent_text(highest)
                                   : percent_text(lowest) + " to " + percent_text(highest);
    finding.quantity = quantity;
    finding.layers = layers;
    finding.evidence = shares + ' ' + what + " in " + listed(layers) +
                       " (medians of 3 values up to step " + std::to_string(finding.step) + ')';
    describe(finding);
    return {finding};
  };
}

}  // namespace flightdeck::lamps
