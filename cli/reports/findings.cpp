// SPDX-License-Identifier: MIT
#include "cli/reports/findings.h"

#include <exception>
#include <set>

namespace flightdeck::cli {
namespace {

std::set<std::string> lamps_of_notes_and_endings() {
  std::set<std::string> names;
  for (const Lamp& lamp : lamp_catalogue()) {
    for (const std::string& read : lamp.reads) {
      if (read == "notes" || read == "status") names.insert(lamp.name);
    }
  }
  return names;
}

}  // namespace

Json finding_json(const Finding& finding) {
  return Json::object()
      .field("lamp", finding.lamp)
      .field("severity", to_string(finding.severity))
      .field("step", finding.step)
      .field("quantity", finding.quantity)
      .field("symptom", finding.symptom)
      .field("evidence", finding.evidence)
      .field("cause", finding.cause)
      .field("advice", finding.advice)
      .field("layers", finding.layers)
      .field("page", finding.page);
}

std::vector<Finding> findings_by_values(const std::string& folder) {
  try {
    const std::set<std::string> told_otherwise = lamps_of_notes_and_endings();
    std::vector<Finding> findings;
    for (const Finding& finding : findings_in(RunReader(folder))) {
      if (told_otherwise.count(finding.lamp) == 0) findings.push_back(finding);
    }
    return findings;
  } catch (const std::exception&) {
    return {};  // `show` says why; the run itself has ended well or has said its own
  }
}

}  // namespace flightdeck::cli
