// SPDX-License-Identifier: MIT
#include "flightdeck/lamp.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/nearest.h"
#include "lamps/recent.h"

namespace flightdeck {
namespace {

constexpr Severity kSeverities[] = {Severity::kAdvice, Severity::kWarning, Severity::kFailure};

std::optional<Severity> severity_of(const std::string& name) {
  for (const Severity severity : kSeverities) {
    if (name == to_string(severity)) return severity;
  }
  return std::nullopt;
}

// Returns the learning rate at a step, or the last one; nothing where none or several are recorded.
std::optional<double> rate_at(const LampView& view, int64_t step) {
  const SeriesInfo* rate = view.find("learning_rate");
  if (rate == nullptr || rate->kind != ReadingKind::kNumber) return std::nullopt;
  if (view.find("learning_rate", "", "smallest") != nullptr) return std::nullopt;
  const std::vector<NumberPoint> points = view.run.numbers(rate->id, {step, step});
  if (!points.empty()) return points.back().value;
  for (const LastNumber& last : view.summary.numbers) {
    if (last.series.id == rate->id) return last.point.value;
  }
  return std::nullopt;
}

// Adds the rates to the advice: "Divide the learning rate by about 5 (learning rate 0.1 to about
// 0.02)".
void name_rates(Finding& finding, const LampView& view) {
  if (!(finding.rate_factor > 0) || finding.advice.empty()) return;
  const std::optional<double> rate = rate_at(view, finding.step);
  if (!rate || !(*rate > 0) || !std::isfinite(*rate * finding.rate_factor)) return;
  finding.advice += " (learning rate " + lamps::short_text(*rate) + " to about " +
                    lamps::short_text(*rate * finding.rate_factor) + ")";
}

std::vector<Finding> found_by(const Lamp& lamp, const LampView& view) {
  std::vector<Finding> findings;
  Severity severity = lamp.severity;
  try {
    findings = lamp.look(view);
    for (Finding& finding : findings) name_rates(finding, view);
  } catch (const std::exception& error) {
    severity = Severity::kWarning;
    Finding failed;
    failed.step = view.summary.last_step;
    failed.symptom = "The lamp " + lamp.name + " could not look at the run";
    failed.evidence = error.what();
    findings = {failed};
  }
  for (Finding& finding : findings) {
    finding.lamp = lamp.name;
    finding.severity = severity;
    finding.page = lamp.page;
  }
  return findings;
}

}  // namespace

const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::kFailure:
      return "failure";
    case Severity::kWarning:
      return "warning";
    case Severity::kAdvice:
      break;
  }
  return "advice";
}

const SeriesInfo* LampView::find(const std::string& quantity,
                                 const std::string& group,
                                 const std::string& field) const {
  for (const SeriesInfo& one : series) {
    if (one.quantity == quantity && one.group == group && one.field == field) return &one;
  }
  return nullptr;
}

std::string Finding::text() const {
  return evidence + (cause.empty() ? "" : ": " + cause) + (advice.empty() ? "" : ". " + advice);
}

bool is_wanted(const std::string& lamp, Severity severity, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    const std::optional<Severity> least = severity_of(name);
    return least ? severity >= *least : name == lamp;
  });
}

void check_wanted(const std::string& what, const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const Severity severity : kSeverities) names.emplace_back(to_string(severity));
  for (const Lamp& lamp : lamp_catalogue()) names.push_back(lamp.name);
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = nearest_name(name, names);
    throw std::invalid_argument(
        what + " names '" + name + "', which is neither a lamp nor a severity; " +
        (near.empty() ? "lamp_catalogue() has the lamps, severities are advice, warning and failure"
                      : "did you mean '" + near + "'?"));
  }
}

std::vector<Finding> findings_in(const RunReader& run) { return findings_in(run, {"advice"}); }

std::vector<Finding> findings_in(const RunReader& run, const std::vector<std::string>& wanted) {
  const LampView view(run);
  std::vector<Finding> findings;
  for (const Lamp& lamp : lamp_catalogue()) {
    if (!is_wanted(lamp.name, lamp.severity, wanted)) continue;
    for (Finding& finding : found_by(lamp, view)) findings.push_back(std::move(finding));
  }
  // Advice is dropped beside a divergence, but what the watching has to say stays.
  const bool has_diverged = std::any_of(
      findings.begin(), findings.end(), [](const Finding& one) { return one.lamp == "diverged"; });
  if (has_diverged) {
    findings.erase(std::remove_if(findings.begin(),
                                  findings.end(),
                                  [](const Finding& one) {
                                    return one.severity == Severity::kAdvice &&
                                           one.lamp != "remark";
                                  }),
                   findings.end());
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::make_tuple(b.severity, a.step) < std::make_tuple(a.severity, b.step);
  });
  return findings;
}

std::vector<std::string> lamps_lit_by(const std::vector<std::string>& quantities) {
  std::vector<std::string> names;
  for (const Lamp& lamp : lamp_catalogue()) {
    const bool has_all =
        std::all_of(lamp.reads.begin(), lamp.reads.end(), [&](const std::string& read) {
          return read == "notes" || read == "status" || read == "train_loss" ||
                 std::find(quantities.begin(), quantities.end(), read) != quantities.end();
        });
    if (lamp.is_evidence && has_all) names.push_back(lamp.name);
  }
  return names;
}

}  // namespace flightdeck
