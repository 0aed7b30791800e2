// SPDX-License-Identifier: MIT
#include "cli/reports/diagnosis_text.h"

#include <cmath>

#include "cli/reports/findings.h"
#include "cli/text/terminal.h"

namespace flightdeck::cli {
namespace {

constexpr size_t kMostShownCauses = 3, kMostShownEvidence = 5;

std::string percent_of(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

std::string where_of(const Evidence& evidence) {
  return evidence.step < 0 ? "" : " at step " + std::to_string(evidence.step);
}

std::string evidence_lines(const char* sign, const std::vector<Evidence>& all, size_t width) {
  std::string text;
  for (size_t k = 0; k < std::min(all.size(), kMostShownEvidence); ++k) {
    const Evidence& one = all[k];
    text +=
        "    " +
        wrapped(std::string(sign) + " " + one.lamp + where_of(one) + ": " + one.text, width, 6) +
        "\n";
  }
  return text;
}

Json evidence_json(const std::vector<Evidence>& all) {
  Json array = Json::array();
  for (const Evidence& one : all) {
    array.add(Json::object()
                  .field("lamp", one.lamp)
                  .field("lit", one.is_lit)
                  .field("weight", measured(one.weight))
                  .field("text", one.text)
                  .field("quantity", one.quantity)
                  .field("step", one.step)
                  .field("layers", one.layers)
                  .field("samples", one.samples)
                  .field("limits", one.limits));
  }
  return array;
}

}  // namespace

Json diagnosis_json(const Diagnosis& diagnosis) {
  Json causes = Json::array(), findings = Json::array();
  for (const RankedCause& cause : diagnosis.causes) {
    causes.add(Json::object()
                   .field("cause", cause.name)
                   .field("sentence", cause.sentence)
                   .field("probability", measured(cause.probability))
                   .field("advice", cause.advice)
                   .field("changes", cause.changes)
                   .field("factor", measured(cause.factor))
                   .field("rate_factor", measured(cause.rate_factor))
                   .field("step", cause.step)
                   .field("page", cause.page)
                   .field("for", evidence_json(cause.speaks_for))
                   .field("against", evidence_json(cause.speaks_against)));
  }
  for (const Finding& finding : diagnosis.findings) findings.add(finding_json(finding));
  return Json::object()
      .field("verdict", to_string(diagnosis.verdict))
      .field("sentence", diagnosis.sentence)
      .field("confidence", measured(diagnosis.confidence))
      .field("health", measured(diagnosis.health))
      .field("causes", causes)
      .field("findings", findings)
      .field("track", diagnosis.track);
}

std::string diagnosis_text(const Diagnosis& diagnosis, size_t width) {
  std::string text = wrapped(diagnosis.sentence, width, 2) + "\n";
  if (diagnosis.verdict == Verdict::kHealthy) return text;
  size_t shown = 0;
  for (const RankedCause& cause : diagnosis.causes) {
    if (++shown > kMostShownCauses) break;
    text += "\n" +
            wrapped(std::to_string(shown) + ". " + cause.sentence + ": " +
                        percent_of(cause.probability),
                    width,
                    3) +
            "\n";
    text += evidence_lines("+", cause.speaks_for, width);
    text += evidence_lines("-", cause.speaks_against, width);
    if (!cause.advice.empty()) text += "    " + wrapped("> " + cause.advice, width, 6) + "\n";
    if (!cause.page.empty()) text += "    see " + cause.page + "\n";
  }
  if (!diagnosis.track.empty()) {
    std::string names;
    for (const std::string& name : diagnosis.track) names += (names.empty() ? "" : ", ") + name;
    text += "\n" + wrapped("To tell more, track " + names, width, 2) + "\n";
  }
  return text;
}

}  // namespace flightdeck::cli
