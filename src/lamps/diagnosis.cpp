// SPDX-License-Identifier: MIT
// Naive Bayes over lamps: every cause says how often it lights a lamp, health how often that is a
// false alarm. Lamps are taken as independent of one another given the cause, which they are not;
// the shares are kept away from 0 and 1 so that no single lamp decides alone but an exact one.
#include "flightdeck/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/words.h"
#include "lamps/recent.h"

namespace flightdeck {
namespace {

// This is the share of health beside all causes. It is even because people ask when they have a
// reason to.
constexpr double kHealthyShare = 0.5;
constexpr double kLeastShare = 0.005;
constexpr double kLeastShown = 0.01;
// A cause counts as visible if a lamp that can be lit is lit by so many of its runs.
constexpr double kVisibleShare = 0.5;
constexpr size_t kMostTracked = 4;
// A piece of evidence shows at most this many series.
constexpr size_t kMostPictured = 8;
constexpr size_t kMostSamples = 24;

// Lamps that state a fact have this limit instead of kLeastShare.
constexpr double kLeastShareOfFacts = 0.0005;
// Lamps of values go dark together, and their fault may only show later, so a dark lamp counts as
// part of a lit one.
constexpr double kDarkWeight = 0.6;

double kept_away(double share) { return std::clamp(share, kLeastShare, 1 - kLeastShare); }

// Holds what one lamp has to say of a run.
struct LampState {
  Lamp lamp;
  bool can_be_lit = false;
  const Finding* finding = nullptr;  // the first; null: dark
  Evidence evidence;                 // but for its weight, which is a cause's
};

bool has_values(const std::vector<SeriesInfo>& all, const std::string& quantity, int64_t count) {
  return std::any_of(all.begin(), all.end(), [&](const SeriesInfo& series) {
    return series.quantity == quantity && series.count >= count;
  });
}

// Returns true if the record has what the lamp reads. Notes and the ending are always there.
bool can_be_lit(const Lamp& lamp, const std::vector<SeriesInfo>& series) {
  if (lamp.waits_for == 0) return true;
  return std::all_of(lamp.reads.begin(), lamp.reads.end(), [&](const std::string& read) {
    return read == "notes" || read == "status" || has_values(series, read, lamp.waits_for);
  });
}

bool is_number_of(const SeriesInfo& series, const std::string& quantity) {
  return series.quantity == quantity && series.kind == ReadingKind::kNumber && series.count > 0;
}

// Adds the series of the layers that the finding names, as fields or groups. Adds those of the
// model where it names none or none of them has a series.
void add_series(Evidence& evidence, const LampState& state, const std::vector<SeriesInfo>& all) {
  const auto is_named = [&](const std::string& name) {
    const auto& layers = evidence.layers;
    return !name.empty() && std::find(layers.begin(), layers.end(), name) != layers.end();
  };
  for (const bool is_of_layers : {true, false}) {
    if (!is_of_layers && !evidence.series.empty()) break;
    for (const SeriesInfo& one : all) {
      const auto& pictures = state.lamp.pictured;
      const bool is_pictured = std::any_of(pictures.begin(), pictures.end(), [&](const auto& show) {
        if (!is_number_of(one, show.quantity)) return false;
        const bool is_field = one.field == show.field;
        if (!is_of_layers) return is_field && one.group.empty();
        return is_field ? is_named(one.group) : one.group.empty() && is_named(one.field);
      });
      if (is_pictured && evidence.series.size() < kMostPictured) evidence.series.push_back(one.id);
    }
  }
  for (const Pictured& pictured : state.lamp.pictured) {
    evidence.limits.insert(evidence.limits.end(), pictured.limits.begin(), pictured.limits.end());
  }
}

const SeriesInfo* list_of(const std::vector<SeriesInfo>& all,
                          const std::string& quantity,
                          const std::string& field) {
  for (const SeriesInfo& one : all) {
    const bool is_of_model = one.group.empty() && one.kind == ReadingKind::kList;
    if (is_of_model && one.quantity == quantity && one.field == field) return &one;
  }
  return nullptr;
}

// Adds the samples that the quantity lists at the step of the evidence. A damaged record may list
// anything, so numbers that cannot be places are left out.
void add_samples(Evidence& evidence, const RunReader& run, const std::vector<SeriesInfo>& all) {
  constexpr double kMostPlaces = 9007199254740992;  // whole numbers beyond 2^53 are not exact
  for (const char* field : {"ids", "samples"}) {
    const SeriesInfo* series = list_of(all, evidence.quantity, field);
    if (!series) continue;
    for (const auto& [step, reading] : run.readings(series->id, {evidence.step, evidence.step})) {
      for (const double sample : reading.list) {
        const bool is_place = sample >= 0 && sample <= kMostPlaces;
        if (!is_place || evidence.samples.size() == kMostSamples) continue;
        evidence.samples.push_back(static_cast<int64_t>(sample));
      }
    }
    evidence.samples_are_positions = std::string(field) == "samples";
    if (!evidence.samples.empty()) return;
  }
}

Evidence evidence_of(const LampState& state,
                     const RunReader& run,
                     const std::vector<SeriesInfo>& series) {
  Evidence evidence;
  evidence.lamp = state.lamp.name;
  evidence.is_lit = state.finding != nullptr;
  if (state.finding) {
    evidence.title = state.finding->symptom;
    evidence.text = state.finding->evidence;
    evidence.quantity = state.finding->quantity;
    evidence.step = state.finding->step;
    evidence.layers = state.finding->layers;
    add_samples(evidence, run, series);
  } else {
    evidence.title = state.lamp.summary;
    evidence.text = "Not seen: " + state.lamp.summary;
    evidence.quantity = joined(state.lamp.reads);
  }
  add_series(evidence, state, series);
  return evidence;
}

std::vector<LampState> states_of(const RunReader& run, const std::vector<Finding>& findings) {
  const std::vector<SeriesInfo> series = run.series();
  std::vector<LampState> states;
  for (Lamp& lamp : lamp_catalogue()) {
    if (!lamp.is_evidence) continue;
    LampState state;
    for (const Finding& finding : findings) {
      const bool is_its = finding.lamp == lamp.name;
      if (is_its && (!state.finding || finding.step < state.finding->step)) {
        state.finding = &finding;
      }
    }
    state.can_be_lit = state.finding != nullptr || can_be_lit(lamp, series);
    state.lamp = std::move(lamp);
    if (state.can_be_lit) state.evidence = evidence_of(state, run, series);
    states.push_back(std::move(state));
  }
  return states;
}

double false_alarms_of(const Lamp& lamp) {
  return lamp.is_exact ? kLeastShareOfFacts : kept_away(lamp.false_alarms);
}

double share_of(const Cause& cause, const Lamp& lamp) {
  for (const auto& [name, share] : cause.lights) {
    if (name == lamp.name) return kept_away(share);
  }
  return false_alarms_of(lamp);
}

// Returns the log of how much more often the cause gives this than health does.
double weight_of(const Cause& cause, const LampState& state) {
  const double with = share_of(cause, state.lamp), without = false_alarms_of(state.lamp);
  if (state.finding) return std::log(with / without);
  return (state.lamp.is_exact ? 1 : kDarkWeight) * std::log((1 - with) / (1 - without));
}

void sort_by_weight(std::vector<Evidence>& evidence) {
  std::stable_sort(evidence.begin(), evidence.end(), [](const Evidence& a, const Evidence& b) {
    return std::abs(a.weight) > std::abs(b.weight);
  });
}

// Returns what the finding multiplies the first change of the cause by; 0 if it says nothing, or
// points the other way.
double factor_of(const Cause& cause, const Finding& finding) {
  if (cause.changes.empty() || !(cause.factor > 0)) return 0;
  const double factor =
      cause.changes.front() == "learning_rate" ? finding.rate_factor : finding.factor;
  return factor > 0 && (factor < 1) == (cause.factor < 1) ? factor : 0;
}

RankedCause ranked(const Cause& cause, double probability, const std::vector<LampState>& states) {
  // Evidence below this moves no ranking.
  constexpr double kLeastWeight = 0.2;
  RankedCause result;
  result.name = cause.name;
  result.sentence = cause.sentence;
  result.advice = cause.remedy;
  result.probability = probability;
  result.changes = cause.changes;
  result.factor = cause.factor;
  result.page = cause.page;
  double boldest = 0;
  for (const LampState& state : states) {
    if (!state.can_be_lit) continue;
    Evidence evidence = state.evidence;
    evidence.weight = weight_of(cause, state);
    if (std::abs(evidence.weight) < kLeastWeight) continue;
    (evidence.weight > 0 ? result.speaks_for : result.speaks_against).push_back(evidence);
    if (!state.finding || evidence.weight <= 0) continue;
    if (result.step < 0 || evidence.step < result.step) result.step = evidence.step;
    // Of several factors the one that changes most counts: it was measured, while others may be one
    // step of a rule of thumb.
    const double factor = factor_of(cause, *state.finding);
    if (factor > 0 && std::abs(std::log(factor)) > boldest) {
      boldest = std::abs(std::log(factor));
      result.factor = factor;
      result.advice = state.finding->advice;
    }
  }
  const bool is_rate = !cause.changes.empty() && cause.changes.front() == "learning_rate";
  if (is_rate) result.rate_factor = result.factor;
  sort_by_weight(result.speaks_for);
  sort_by_weight(result.speaks_against);
  return result;
}

// Returns the share of the causes, by their weight, that a lamp which can be lit would show.
double visible_share(const std::vector<Cause>& all, const std::vector<LampState>& states) {
  double visible = 0, total = 0;
  for (const Cause& cause : all) {
    total += cause.weight;
    const bool is_visible = std::any_of(states.begin(), states.end(), [&](const LampState& state) {
      return state.can_be_lit && share_of(cause, state.lamp) >= kVisibleShare;
    });
    if (is_visible) visible += cause.weight;
  }
  return total > 0 ? visible / total : 0;
}

// Lists quantities of lamps that cannot be lit, by how well these tell the likely causes apart.
std::vector<std::string> worth_tracking(const std::vector<Cause>& all,
                                        const std::vector<double>& probabilities,
                                        const std::vector<LampState>& states,
                                        const RunReader& run) {
  const std::vector<SeriesInfo> series = run.series();
  // A quantity that is tracked already may have no value for this model; tracking it more would not
  // help.
  std::set<std::string> tracked;
  for (const QuantityInfo& quantity : run.info().quantities) tracked.insert(quantity.name);
  std::map<std::string, double> worth;
  for (const LampState& state : states) {
    if (state.can_be_lit) continue;
    double mean = 0, spread = 0;
    for (size_t c = 0; c < all.size(); ++c) mean += probabilities[c] * share_of(all[c], state.lamp);
    for (size_t c = 0; c < all.size(); ++c) {
      spread += probabilities[c] * std::pow(share_of(all[c], state.lamp) - mean, 2);
    }
    for (const std::string& read : state.lamp.reads) {
      if (read == "notes" || read == "status" || tracked.count(read) != 0) continue;
      if (has_values(series, read, 1)) continue;
      worth[read] += spread;
    }
  }
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [quantity, value] : worth) sorted.emplace_back(-value, quantity);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> names;
  for (const auto& [value, quantity] : sorted) {
    if (names.size() < kMostTracked) names.push_back(quantity);
  }
  return names;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

void conclude(Diagnosis& diagnosis, double visible, int64_t last_step) {
  const bool is_lit =
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& finding) {
        return finding.severity != Severity::kAdvice;
      });
  const RankedCause* first = diagnosis.causes.empty() ? nullptr : &diagnosis.causes.front();
  if (last_step < 0) {
    diagnosis.verdict = Verdict::kCannotTell;
    diagnosis.sentence = "Cannot tell: no values are recorded yet";
    return;
  }
  if (first && first->probability >= kLeastConfidence) {
    diagnosis.verdict = Verdict::kFault;
    diagnosis.confidence = first->probability;
    diagnosis.sentence = first->sentence + " (" + percent(first->probability) + ")";
    if (!first->advice.empty()) diagnosis.sentence += ": " + lower_first(first->advice);
    return;
  }
  const std::string track =
      diagnosis.track.empty() ? "" : "; track " + lamps::listed(diagnosis.track);
  if (diagnosis.health >= kLeastConfidence) {
    if (visible >= kVisibleShare) {
      diagnosis.verdict = Verdict::kHealthy;
      diagnosis.confidence = diagnosis.health;
      diagnosis.sentence = "Healthy so far, up to step " + std::to_string(last_step);
      return;
    }
    diagnosis.sentence =
        "Cannot tell: what is tracked shows " + percent(visible) + " of the usual causes" + track;
    return;
  }
  diagnosis.confidence = 1 - diagnosis.health;
  diagnosis.sentence = std::string(is_lit ? "Something is wrong" : "Something may be wrong") +
                       ", but its cause cannot be told";
  if (first)
    diagnosis.sentence +=
        "; likeliest: " + lower_first(first->sentence) + " (" + percent(first->probability) + ")";
  diagnosis.sentence += track;
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHealthy:
      return "healthy";
    case Verdict::kFault:
      return "fault";
    case Verdict::kCannotTell:
      break;
  }
  return "cannot_tell";
}

Diagnosis diagnose(const RunReader& run) {
  Diagnosis diagnosis;
  diagnosis.findings = findings_in(run);
  const std::vector<LampState> states = states_of(run, diagnosis.findings);
  const std::vector<Cause> all = cause_catalogue();
  double total_weight = 0;
  for (const Cause& cause : all) total_weight += cause.weight;

  // Scores are relative to health, whose score is 0.
  std::vector<double> scores;
  double highest = 0;
  for (const Cause& cause : all) {
    double score = std::log((1 - kHealthyShare) / kHealthyShare * cause.weight / total_weight);
    for (const LampState& state : states) {
      if (state.can_be_lit) score += weight_of(cause, state);
    }
    scores.push_back(score);
    highest = std::max(highest, score);
  }
  double sum = std::exp(-highest);
  for (const double score : scores) sum += std::exp(score - highest);
  std::vector<double> probabilities;
  for (const double score : scores) probabilities.push_back(std::exp(score - highest) / sum);
  diagnosis.health = std::exp(-highest) / sum;

  for (size_t c = 0; c < all.size(); ++c) {
    if (probabilities[c] < kLeastShown) continue;
    diagnosis.causes.push_back(ranked(all[c], probabilities[c], states));
  }
  std::stable_sort(
      diagnosis.causes.begin(),
      diagnosis.causes.end(),
      [](const RankedCause& a, const RankedCause& b) { return a.probability > b.probability; });
  diagnosis.track = worth_tracking(all, probabilities, states, run);
  conclude(diagnosis, visible_share(all, states), run.last_step());
  return diagnosis;
}

}  // namespace flightdeck
