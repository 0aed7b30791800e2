// SPDX-License-Identifier: MIT
#include "study/pack.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "src/base/exact_text.h"
#include "study/analysis/choice.h"
#include "study/analysis/measure.h"
#include "study/analysis/trial.h"
#include "study/space.h"

namespace flightdeck::study {
namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string>;

Key key_of(const Setting& setting, const std::string& sample) {
  return {setting.problem, setting.optimizer, setting.schedule, sample};
}

std::string sample_of(const Outcome& outcome) {
  const auto tag = outcome.tags.find("sample");
  return tag == outcome.tags.end() ? "" : tag->second;
}

constexpr int kDigits = 6;  // that a pack keeps

std::vector<double> picked(const std::vector<double>& values, const std::set<size_t>& places) {
  std::vector<double> kept;
  for (const size_t place : places) {
    if (place < values.size()) kept.push_back(rounded(values[place], kDigits));
  }
  return kept;
}

void keep(Outcome& outcome, const std::set<size_t>& places) {
  for (const MeasuredPart part :
       {MeasuredPart::kTrain, MeasuredPart::kValid, MeasuredPart::kTest}) {
    Curve& curve = curve_of(outcome, part);
    curve.loss = picked(curve.loss, places);
    curve.accuracy = picked(curve.accuracy, places);
  }
  std::vector<int64_t> evaluated;
  for (const size_t place : places) evaluated.push_back(outcome.evaluated[place]);
  outcome.evaluated = evaluated;
}

std::set<size_t> all_places(const Outcome& outcome) {
  std::set<size_t> places;
  for (size_t k = 0; k < outcome.evaluated.size(); ++k) places.insert(k);
  return places;
}

std::set<size_t> few_places(const Outcome& outcome) {
  const std::vector<int64_t>& epochs = outcome.evaluated;
  if (epochs.empty()) return {};
  const auto after = std::upper_bound(epochs.begin(), epochs.end(), outcome.reported_epoch);
  const size_t reported =
      after == epochs.begin() ? 0 : static_cast<size_t>(after - epochs.begin()) - 1;
  return {0, reported, epochs.size() - 1};
}

}  // namespace

std::string packed(const std::vector<Outcome>& outcomes) {
  std::map<Key, int> repeats;
  for (const Outcome& outcome : outcomes) ++repeats[key_of(outcome.setting, sample_of(outcome))];
  const Trials trials = group(outcomes, /*are_baselines=*/false);
  std::set<Key> chosen;
  for (const Choice& choice : choose(trials.all)) {
    chosen.insert(key_of(trials.all[choice.trial].setting, trials.all[choice.trial].sample));
  }
  std::string lines;
  for (const Outcome& original : outcomes) {
    if (original.ending == Ending::kInterrupted) continue;
    Outcome outcome = original;
    const std::string sample = sample_of(outcome);
    const Key key = key_of(outcome.setting, sample);
    const bool is_thinned =
        !is_in_budget(sample, "any") && repeats[key] == 1 && chosen.count(key) == 0;
    keep(outcome, is_thinned ? few_places(outcome) : all_places(outcome));
    outcome.batch_losses.clear();
    outcome.batch_loss_every = 0;
    outcome.training_seconds = rounded(outcome.training_seconds, kDigits);
    outcome.seconds = rounded(outcome.seconds, kDigits);
    lines += to_json(outcome) + "\n";
  }
  return lines;
}

}  // namespace flightdeck::study
