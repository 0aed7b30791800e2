// SPDX-License-Identifier: MIT
#include "flightdeck/finding_sink.h"

#include <stdexcept>
#include <utility>

namespace flightdeck {

FindingSink::FindingSink(std::string folder, OnFinding on_finding, FindingSinkOptions options)
    : folder_(std::move(folder)),
      on_finding_(std::move(on_finding)),
      options_(options),
      last_look_(std::chrono::steady_clock::now()) {
  if (!on_finding_) {
    throw std::invalid_argument("FindingSink: on_finding is empty; give a function");
  }
}

void FindingSink::write(const StepReadings&) {
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - last_look_).count() < options_.pause_s) return;
  look();
  last_look_ = std::chrono::steady_clock::now();
}

void FindingSink::finish(Ending) {
  if (options_.looks_at_end) look();
}

// A record that is not there, or cannot be read now, is none of the training's business.
void FindingSink::look() {
  std::vector<Finding> findings;
  try {
    findings = findings_in(RunReader(folder_));
  } catch (const std::exception&) {
    return;
  }
  for (const Finding& finding : findings) {
    if (finding.severity < options_.least) continue;
    if (told_.insert(finding.lamp + "\n" + finding.symptom).second) on_finding_(finding);
  }
}

}  // namespace flightdeck
