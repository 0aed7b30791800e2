// SPDX-License-Identifier: MIT
#include "run/fault_case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include <c10/util/Exception.h>

#include "base/order_statistics.h"
#include "study/json_text.h"

namespace flightdeck::run {
namespace {

using study::Json;

std::string key_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

template <typename Key>
std::map<std::string, FaultScore> scores_by(const std::vector<FaultCase>& cases, const Key& key) {
  std::map<std::string, std::vector<double>> found;
  std::map<std::string, FaultScore> scores;
  for (const FaultCase& one : cases) {
    if (one.is_healthy()) continue;
    scores[key(one)].add(one);
    if (one.is_scored() && one.found_at >= 0) {
      found[key(one)].push_back(static_cast<double>(one.found_at));
    }
  }
  for (auto& [name, values] : found) scores[name].median_found_at = median(values);
  return scores;
}

// Returns in one word what the diagnosis comes to.
std::string word_of(const FaultCase& one) {
  if (one.verdict == Verdict::kFault && !one.causes.empty()) return one.causes[0];
  return to_string(one.verdict);
}

// Reads null as NaN, which JSON does not have.
double number_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nan("") : value.get<double>();
}

template <typename Word>
Word word_at(const Json& json, const std::vector<Word>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [&](Word word) {
    return to_string(word) == json.get<std::string>();
  });
  TORCH_CHECK(found != all.end(), "not known: ", json.get<std::string>());
  return *found;
}

FaultCase case_of(const Json& json) {
  FaultCase one;
  json.at("problem").get_to(one.subject);
  json.at("optimizer").get_to(one.optimizer);
  json.at("fault").get_to(one.fault);
  json.at("cause").get_to(one.cause);
  json.at("also").get_to(one.also);
  json.at("of_degree").get_to(one.is_of_degree);
  one.severity = number_at(json, "severity");
  one.rate_share = number_at(json, "rate_share");
  one.seed = study::natural_at(json, "seed");
  one.verdict = word_at<Verdict>(json.at("verdict"),
                                 {Verdict::kHealthy, Verdict::kFault, Verdict::kCannotTell});
  one.health = number_at(json, "health");
  json.at("causes").get_to(one.causes);
  for (const auto& [lamp, severity] : json.at("lamps").items()) {
    one.lamps[lamp] =
        word_at<Severity>(severity, {Severity::kAdvice, Severity::kWarning, Severity::kFailure});
  }
  one.found_at = study::integer_at(json, "found_at");
  one.steps = study::integer_at(json, "steps");
  one.first_loss = number_at(json, "first_loss");
  one.last_loss = number_at(json, "last_loss");
  one.chance = number_at(json, "chance");
  one.accuracy = number_at(json, "accuracy");
  one.healthy_accuracy = number_at(json, "healthy_accuracy");
  one.seconds = number_at(json, "seconds");
  one.watched_seconds = json.value("watched_seconds", 0.0);
  one.plain_seconds = json.value("plain_seconds", 0.0);
  const auto followed = json.find("followed");
  one.is_followed = followed != json.end();
  if (!one.is_followed) return one;
  one.followed.rounds = study::integer_at(*followed, "rounds");
  followed->at("changes").get_to(one.followed.changes);
  followed->at("by_hand").get_to(one.followed.is_by_hand);
  one.followed.accuracy = number_at(*followed, "accuracy");
  one.followed.first_accuracy = number_at(*followed, "first_accuracy");
  return one;
}

}  // namespace

// Returns whether something is said to be wrong, if only that its cause cannot be told from
// another.
bool FaultCase::is_detected() const { return health < kLeastConfidence; }

bool FaultCase::is_right(const std::string& name) const {
  return name == cause || std::find(also.begin(), also.end(), name) != also.end();
}

bool FaultCase::is_among_three() const {
  return is_detected() && std::any_of(causes.begin(), causes.end(), [&](const std::string& name) {
           return is_right(name);
         });
}

int64_t FaultCase::alarms() const {
  return std::count_if(lamps.begin(), lamps.end(), [](const auto& lamp) {
    return lamp.second != Severity::kAdvice;
  });
}

double FaultCase::learned(double reached) const {
  return (reached - chance) / std::max(healthy_accuracy - chance, 1e-9);
}

bool FaultCase::is_as_good(double reached) const { return learned(reached) >= kAsGood; }

std::string FaultCase::key() const {
  std::string text = subject + "-" + optimizer + "-" + (is_healthy() ? "healthy" : fault) + "-";
  text += key_number(is_healthy() ? rate_share : severity) + "-" + std::to_string(seed);
  return text;
}

void FaultScore::add(const FaultCase& one) {
  if (!one.is_scored()) {
    ++harmless;
    return;
  }
  ++runs;
  detected += one.is_detected();
  first += one.is_first();
  among_three += one.is_among_three();
  if (!one.is_followed || !one.is_harmed()) return;
  ++followed;
  mended += one.is_mended();
  mended_at_once += one.is_mended_at_once();
  mended_alone += one.is_mended() && !one.followed.is_by_hand;
}

FaultScore FaultBenchResult::total() const {
  const auto all = scores_by(cases, [](const FaultCase&) { return std::string("all"); });
  return all.empty() ? FaultScore() : all.begin()->second;
}

std::map<std::string, FaultScore> FaultBenchResult::by_fault() const {
  return scores_by(cases, [](const FaultCase& one) { return one.fault; });
}

std::map<std::string, FaultScore> FaultBenchResult::by_subject() const {
  return scores_by(cases, [](const FaultCase& one) { return one.subject; });
}

int64_t FaultBenchResult::healthy_runs() const {
  return std::count_if(
      cases.begin(), cases.end(), [](const auto& one) { return one.is_healthy(); });
}

int64_t FaultBenchResult::healthy_with_alarm() const {
  return std::count_if(cases.begin(), cases.end(), [](const auto& one) {
    return one.is_healthy() && one.alarms() > 0;
  });
}

int64_t FaultBenchResult::healthy_called_faulty() const {
  return std::count_if(cases.begin(), cases.end(), [](const auto& one) {
    return one.is_healthy() && one.is_detected();
  });
}

double FaultBenchResult::seconds() const {
  double sum = 0;
  for (const FaultCase& one : cases) sum += one.seconds;
  return sum;
}

double FaultBenchResult::watching_cost() const {
  std::vector<double> ratios;
  for (const FaultCase& one : cases) {
    if (one.plain_seconds > 0) ratios.push_back(one.watched_seconds / one.plain_seconds);
  }
  return ratios.empty() ? std::nan("") : median(std::move(ratios));
}

std::map<std::string, std::map<std::string, int64_t>> FaultBenchResult::confusion() const {
  std::map<std::string, std::map<std::string, int64_t>> counts;
  for (const FaultCase& one : cases) {
    if (!one.is_healthy() && !one.is_scored()) continue;
    // A cause with the same remedy counts as the right one.
    const bool is_right = !one.is_healthy() && one.is_first();
    ++counts[one.is_healthy() ? "healthy" : one.cause][is_right ? one.cause : word_of(one)];
  }
  return counts;
}

std::map<std::string, std::map<std::string, double>> FaultBenchResult::lamp_rates() const {
  std::map<std::string, std::map<std::string, double>> rates;
  std::map<std::string, int64_t> runs;
  for (const FaultCase& one : cases) {
    if (!one.is_healthy() && !one.is_scored()) continue;
    ++runs[one.cause];
    for (const auto& [lamp, severity] : one.lamps) rates[one.cause][lamp] += 1;
  }
  for (auto& [cause, lamps] : rates) {
    for (auto& [lamp, count] : lamps) count /= static_cast<double>(runs[cause]);
  }
  return rates;
}

// ---- their file ---------------------------------------------------------------------------------

std::string line_of(const FaultCase& one) {
  Json lamps = Json::object();
  for (const auto& [lamp, severity] : one.lamps) lamps[lamp] = to_string(severity);
  Json json = {{"problem", one.subject},
               {"optimizer", one.optimizer},
               {"fault", one.fault},
               {"cause", one.cause},
               {"also", one.also},
               {"of_degree", one.is_of_degree},
               {"severity", one.severity},
               {"rate_share", one.rate_share},
               {"seed", one.seed},
               {"verdict", to_string(one.verdict)},
               {"health", one.health},
               {"causes", one.causes},
               {"lamps", lamps},
               {"found_at", one.found_at},
               {"steps", one.steps},
               {"first_loss", one.first_loss},
               {"last_loss", one.last_loss},
               {"chance", one.chance},
               {"accuracy", one.accuracy},
               {"healthy_accuracy", one.healthy_accuracy},
               {"seconds", one.seconds},
               {"watched_seconds", one.watched_seconds},
               {"plain_seconds", one.plain_seconds}};
  if (one.is_followed) {
    json["followed"] = {{"rounds", one.followed.rounds},
                        {"changes", one.followed.changes},
                        {"by_hand", one.followed.is_by_hand},
                        {"accuracy", one.followed.accuracy},
                        {"first_accuracy", one.followed.first_accuracy}};
  }
  return json.dump();
}

std::vector<FaultCase> read_cases(const std::string& folder) {
  std::error_code error;
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("cases-", 0) == 0 && entry.path().extension() == ".jsonl") {
      paths.insert(entry.path().string());
    }
  }
  TORCH_CHECK(!error,
              "faultbench: cannot read the folder ",
              folder,
              " (",
              error.message(),
              "); give one that faultbench has written");
  std::map<std::string, size_t> places;
  std::vector<FaultCase> cases;
  for (const std::string& path : paths) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      try {
        FaultCase one = case_of(study::parsed(line));
        const auto [place, is_new] = places.emplace(one.key(), cases.size());
        if (is_new) cases.emplace_back();
        cases[place->second] = std::move(one);
      } catch (const std::exception&) {
        continue;
      }
    }
  }
  return cases;
}

CaseFile::CaseFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  // A killed process may have left half a line, which ends here.
  const bool has_lines = std::filesystem::exists(path_) && std::filesystem::file_size(path_) > 0;
  std::ofstream file(path_, std::ios::app);
  if (has_lines) file << '\n';
  TORCH_CHECK(file.flush(), "faultbench: cannot write ", path_, "; choose another folder");
}

void CaseFile::add(const FaultCase& one) const {
  if (path_.empty()) return;
  std::ofstream file(path_, std::ios::app);
  TORCH_CHECK((file << line_of(one) + "\n").flush(),
              "faultbench: cannot write ",
              path_,
              "; free some space, and go on with the same command");
}

}  // namespace flightdeck::run
