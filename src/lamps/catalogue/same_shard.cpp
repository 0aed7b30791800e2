// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp same_shard() {
  Lamp lamp;
  lamp.name = "same_shard";
  lamp.summary = "Ranks have the same losses to the bit: they read the same samples";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"rank_twins"};
  lamp.waits_for = 3;
  lamp.is_evidence = false;
  light_above(lamp, {"rank_twins", "", {0}}, 3, [](Finding& finding, double twins) {
    finding.symptom = "Ranks read the same samples";
    finding.evidence = "The losses of " + short_text(twins) + " ranks equal another's";
    finding.cause = "a sampler that was not told the rank, so that shards are not parts";
    finding.advice =
        "Use a DistributedSampler, or split the data by rank; N is smaller than it looks";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
