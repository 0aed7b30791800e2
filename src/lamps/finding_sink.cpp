// SPDX-License-Identifier: MIT
#include "flightdeck/finding_sink.h"

#include <stdexcept>
#include <utility>

namespace flightdeck {
namespace {

// Returns what tells findings apart: those with the same name are told once.
std::string name_of(const Finding& finding) { return finding.lamp + "\n" + finding.symptom; }

}  // namespace

FindingSink::FindingSink(std::string folder, OnFinding on_finding, FindingSinkOptions options)
    : folder_(std::move(folder)),
      on_finding_(std::move(on_finding)),
      options_(std::move(options)),
      last_look_(std::chrono::steady_clock::now()) {
  if (!on_finding_) throw std::invalid_argument("on_finding: the function is empty; give one");
  check_wanted("on_finding: options.on", options_.on);
}

bool FindingSink::is_time_to_look(int64_t step) {
  if (options_.every > 0) return step - last_step_ >= options_.every;
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - last_look_).count() >= options_.pause_s;
}

void FindingSink::write(const StepReadings& step) {
  if (!is_time_to_look(step.step)) return;
  look();
  last_look_ = std::chrono::steady_clock::now();
  last_step_ = step.step;
}

void FindingSink::finish(Ending) {
  if (options_.looks_at_end) look();
}

// Looks at the record. One that is missing or cannot be read now must not disturb the training.
void FindingSink::look() {
  std::vector<Finding> findings;
  Diagnosis diagnosis;
  try {
    const RunReader run(folder_);
    for (Finding& finding : findings_in(run, options_.on)) {
      if (told_.count(name_of(finding)) == 0) findings.push_back(std::move(finding));
    }
    if (!findings.empty()) diagnosis = diagnose(run);
  } catch (const std::exception&) {
    return;
  }
  for (const Finding& finding : findings) {
    if (told_.insert(name_of(finding)).second) on_finding_(finding, diagnosis);
  }
}

}  // namespace flightdeck
