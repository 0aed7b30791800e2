// SPDX-License-Identifier: MIT
#include "study/plan.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "study/json_text.h"

namespace flightdeck::study {
namespace {

constexpr int64_t kSmall = 25, kMedium = 50, kRefined = 25;
constexpr size_t kBestForBounds = 10;  // 20 % of the medium budget

struct Sample {
  std::string name;
  Values values;
};
using Samples = std::vector<Sample>;

std::string numbered(const std::string& kind, size_t number) {
  const std::string digits = std::to_string(number);
  return kind + "-" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

Samples named(const std::string& kind, const std::vector<Values>& all) {
  Samples samples;
  for (const Values& values : all) samples.push_back({numbered(kind, samples.size()), values});
  return samples;
}

// One combination's samples and what is known of them.
class Tuning {
 public:
  Tuning(const Request& request, const Combination& combination, const Scores& scores)
      : request_(request),
        combination_(combination),
        scores_(scores),
        space_(request.optimizer(combination.optimizer).space) {
    if (request.has_budget("one_shot")) default_ = {{"default", defaults(space_)}};
    if (!request.grid.empty()) grid_ = named("grid", grid_samples());
    const bool is_medium = request.has_budget("medium") || request.has_budget("large");
    if (is_medium || request.has_budget("small")) {
      const int64_t count = is_medium ? kMedium : kSmall;
      random_ = named("random", draws(space_, count, request.seed, combination.optimizer));
    }
    if (request.has_budget("large")) refine();
  }

  std::vector<PlannedRun> runs() const {
    std::vector<PlannedRun> all;
    std::set<std::string> ids;  // the best of two budgets may be the same
    const auto add = [&](const std::string& stage, const Sample& sample, uint64_t seed) {
      if (ids.insert(id(sample, seed)).second) all.push_back(run(stage, sample, seed));
    };
    const auto add_other_seeds = [&](const std::string& stage, const Sample& sample) {
      const auto seeds = static_cast<uint64_t>(request_.seeds);
      for (uint64_t k = 1; k < seeds; ++k) add(stage, sample, request_.seed + k);
    };
    for (const Sample& sample : default_) {
      add("tuning", sample, request_.seed);
      add_other_seeds("tuning", sample);
    }
    for (const Sample& sample : grid_) {
      add("tuning", sample, request_.seed);
      if (request_.has_all_seeds) add_other_seeds("tuning", sample);
    }
    for (const Sample& sample : random_) add("tuning", sample, request_.seed);
    for (const Sample& sample : refined_) add("refined", sample, request_.seed);
    for (const std::string& budget : request_.budgets) {
      if (const std::optional<Sample> best = best_of_budget(budget)) {
        add_other_seeds("repeats", *best);
      }
    }
    return all;
  }

  TunedSetting tuned(const std::string& budget) const {
    TunedSetting tuned;
    tuned.combination = combination_;
    tuned.budget = budget;
    const std::optional<Sample> best = best_of_budget(budget);
    if (!best) return tuned;
    tuned.sample = best->name;
    tuned.hyperparameters = best->values;
    std::vector<RunScore> ended;
    for (uint64_t k = 0; k < static_cast<uint64_t>(request_.seeds); ++k) {
      const auto score = scores_.find(id(*best, request_.seed + k));
      if (score != scores_.end()) ended.push_back(score->second);
    }
    tuned.is_complete = static_cast<int64_t>(ended.size()) == request_.seeds;
    tuned.is_accuracy = !ended.empty() && ended.front().is_accuracy;
    tuned.spread = seed_spread_of(ended);
    return tuned;
  }

 private:
  std::vector<Values> grid_samples() const {
    std::vector<Values> points;
    for (const Values& point : grid_points(request_.grid)) {
      points.push_back(defaults(space_));
      for (const auto& [name, value] : point) points.back()[name] = value;
    }
    return points;
  }

  void refine() {
    const std::optional<std::vector<RunScore>> scores = scores_of(random_);
    if (!scores) return;
    std::vector<Values> best;
    for (const size_t k : best_of(*scores, kBestForBounds)) best.push_back(random_[k].values);
    const std::string purpose = combination_.problem + "/" + combination_.optimizer + "/" +
                                combination_.schedule + "/refined";
    refined_ = named("refined", draws(refined(space_, best), kRefined, request_.seed, purpose));
  }

  // Returns nothing while not all samples of the budget are known.
  std::optional<Samples> samples_of(const std::string& budget) const {
    if (budget == "one_shot") return default_;
    if (budget == "grid") return grid_;
    if (budget == "small") return Samples(random_.begin(), random_.begin() + kSmall);
    if (budget == "medium") return random_;
    if (refined_.empty()) return std::nullopt;
    Samples all = random_;
    all.insert(all.end(), refined_.begin(), refined_.end());
    return all;
  }

  // Returns nothing while some have not ended.
  std::optional<std::vector<RunScore>> scores_of(const Samples& samples) const {
    std::vector<RunScore> found;
    for (const Sample& sample : samples) {
      const auto score = scores_.find(id(sample, request_.seed));
      if (score == scores_.end()) return std::nullopt;
      found.push_back(score->second);
    }
    return found;
  }

  std::optional<Sample> best_of_budget(const std::string& budget) const {
    const std::optional<Samples> samples = samples_of(budget);
    if (!samples || samples->empty()) return std::nullopt;
    const std::optional<std::vector<RunScore>> scores = scores_of(*samples);
    if (!scores) return std::nullopt;
    return samples->at(best_of(*scores, 1).front());
  }

  std::string id(const Sample& sample, uint64_t seed) const {
    return combination_.problem + "/" + combination_.optimizer + "/" +
           safe_name(combination_.schedule) + "/" + sample.name + "/seed-" + std::to_string(seed);
  }

  PlannedRun run(const std::string& stage, const Sample& sample, uint64_t seed) const {
    return {id(sample, seed),
            stage,
            combination_.problem,
            combination_.optimizer,
            combination_.schedule,
            sample.name,
            seed,
            sample.values};
  }

  const Request& request_;
  const Combination& combination_;
  const Scores& scores_;
  const Space& space_;
  Samples default_, grid_, random_, refined_;
};

}  // namespace

std::vector<Combination> combinations(const Request& request) {
  std::vector<Combination> all;
  for (const std::string& problem : request.problems) {
    for (const OptimizerRequest& optimizer : request.optimizers) {
      for (const std::string& schedule : request.schedules) {
        all.push_back({problem, optimizer.name, schedule});
      }
    }
  }
  return all;
}

std::string to_json(const PlannedRun& run) {
  return Json({{"id", run.id},
               {"stage", run.stage},
               {"problem", run.problem},
               {"optimizer", run.optimizer},
               {"hyperparameters", run.hyperparameters},
               {"schedule", run.schedule},
               {"seed", run.seed},
               {"sample", run.sample}})
      .dump();
}

namespace {

// Throws unless the id stays below the folder that it is put behind.
void check_id(const std::string& id) {
  bool begins = true;
  bool is_plain = !id.empty() && id.back() != '/';
  for (const char character : id) {
    const bool is_control = static_cast<unsigned char>(character) < 0x20;
    if (is_control || (begins && (character == '/' || character == '.'))) is_plain = false;
    begins = character == '/';
  }
  if (is_plain) return;
  throw std::runtime_error("the id " + Json(id).dump() +
                           " is no path of plain names below runs/: none may be empty or begin "
                           "with a dot");
}

}  // namespace

PlannedRun planned_run_from_json(const std::string& text) {
  try {
    const Json json = parsed(text);
    PlannedRun run;
    json.at("id").get_to(run.id);
    check_id(run.id);
    json.at("stage").get_to(run.stage);
    json.at("problem").get_to(run.problem);
    json.at("optimizer").get_to(run.optimizer);
    json.at("hyperparameters").get_to(run.hyperparameters);
    json.at("schedule").get_to(run.schedule);
    run.seed = natural_at(json, "seed");
    json.at("sample").get_to(run.sample);
    return run;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(error.what());
  }
}

std::vector<PlannedRun> planned_runs(const Request& request,
                                     const Combination& combination,
                                     const Scores& scores) {
  return Tuning(request, combination, scores).runs();
}

size_t most_runs(const Request& request) {
  const auto seeds = static_cast<size_t>(request.seeds);
  size_t runs = request.grid.empty() ? 0 : grid_points(request.grid).size();
  if (request.has_all_seeds) runs *= seeds;
  const bool is_medium = request.has_budget("medium") || request.has_budget("large");
  if (is_medium || request.has_budget("small")) runs += size_t(is_medium ? kMedium : kSmall);
  if (request.has_budget("large")) runs += size_t(kRefined);
  for (const std::string& budget : request.budgets) {
    if (budget == "grid" && request.has_all_seeds) continue;
    runs += budget == "one_shot" ? seeds : seeds - 1;
  }
  return runs * combinations(request).size();
}

std::vector<TunedSetting> tuned_settings(const Request& request, const Scores& scores) {
  std::vector<TunedSetting> all;
  for (const Combination& combination : combinations(request)) {
    const Tuning tuning(request, combination, scores);
    for (const std::string& budget : request.budgets) all.push_back(tuning.tuned(budget));
  }
  return all;
}

std::string safe_name(const std::string& schedule) {
  std::string name;
  for (const char character : schedule) {
    if (character == '@') {
      name += "-at-";
    } else {
      name += character == ':' ? '-' : character == ',' ? '+' : character;
    }
  }
  return name;
}

}  // namespace flightdeck::study
