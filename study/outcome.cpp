// SPDX-License-Identifier: MIT
#include "study/outcome.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "src/base/whole_file.h"
#include "study/files.h"
#include "study/json_text.h"

namespace flightdeck::study {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "outcome.json";

std::vector<double> numbers_of(const Json& array) {
  std::vector<double> values;
  for (const Json& value : array) {
    values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                     : value.get<double>());
  }
  return values;
}

std::vector<int64_t> integers_of(const Json& array) {
  std::vector<int64_t> values;
  for (const Json& value : array) values.push_back(integer_at({{"evaluated", value}}, "evaluated"));
  return values;
}

Json curve_json(const Curve& curve) {
  Json json = {{"loss", curve.loss}};
  if (!curve.accuracy.empty()) json["accuracy"] = curve.accuracy;
  return json;
}

Curve curve_of(const Json& json, const char* name, size_t evaluations) {
  Curve curve;
  const auto at = json.find(name);
  if (at == json.end()) return curve;
  curve.loss = numbers_of(at->at("loss"));
  if (at->contains("accuracy")) curve.accuracy = numbers_of(at->at("accuracy"));
  const auto check = [&](const std::vector<double>& values, const char* what) {
    if (values.size() == evaluations) return;
    throw std::runtime_error(std::string(name) + " " + what + " has " +
                             std::to_string(values.size()) + " values but there are " +
                             std::to_string(evaluations) + " evaluations");
  };
  check(curve.loss, "loss");
  if (!curve.accuracy.empty()) check(curve.accuracy, "accuracy");
  return curve;
}

}  // namespace

bool Setting::operator==(const Setting& other) const {
  return problem == other.problem && optimizer == other.optimizer && schedule == other.schedule &&
         hyperparameters == other.hyperparameters && batch_size == other.batch_size &&
         epochs == other.epochs;
}

std::string to_json(const Outcome& outcome) {
  const Setting& setting = outcome.setting;
  Json json = {
      {"format", 1},
      {"problem", setting.problem},
      {"optimizer", setting.optimizer},
      {"hyperparameters", setting.hyperparameters},
      {"schedule", setting.schedule},
      {"batch_size", setting.batch_size},
      {"epochs", setting.epochs},
      {"seed", outcome.seed},
      {"ending", to_string(outcome.ending)},
      {"diverged_at", outcome.diverged_at},
      {"steps", outcome.steps},
      {"steps_per_epoch", outcome.steps_per_epoch},
      {"reported_epoch", outcome.reported_epoch},
      {"synthetic", outcome.is_synthetic},
      {"training_seconds", outcome.training_seconds},
      {"seconds", outcome.seconds},
      {"evaluated", outcome.evaluated},
  };
  if (!outcome.version.empty()) json["version"] = outcome.version;
  if (!outcome.tags.empty()) json["tags"] = outcome.tags;
  if (!outcome.train.loss.empty()) json["train"] = curve_json(outcome.train);
  if (!outcome.valid.loss.empty()) json["valid"] = curve_json(outcome.valid);
  if (!outcome.test.loss.empty()) json["test"] = curve_json(outcome.test);
  if (!outcome.batch_losses.empty()) {
    json["batch_loss_every"] = outcome.batch_loss_every;
    json["batch_losses"] = outcome.batch_losses;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome outcome_from_json(const std::string& text) {
  try {
    const Json json = parsed(text);
    if (integer_at(json, "format") > 1) {
      throw std::runtime_error("it is of format " + json.at("format").dump() +
                               " and this flightdeck reads 1; update it");
    }
    Outcome outcome;
    Setting& setting = outcome.setting;
    json.at("problem").get_to(setting.problem);
    json.at("optimizer").get_to(setting.optimizer);
    for (const auto& [name, value] : json.at("hyperparameters").items()) {
      setting.hyperparameters[name] = value.get<double>();
    }
    json.at("schedule").get_to(setting.schedule);
    setting.batch_size = integer_at(json, "batch_size");
    setting.epochs = integer_at(json, "epochs");
    outcome.seed = natural_at(json, "seed");
    outcome.ending = flightdeck::ending_of(json.at("ending").get<std::string>());
    if (json.contains("diverged_at")) outcome.diverged_at = integer_at(json, "diverged_at");
    outcome.steps = integer_at(json, "steps");
    outcome.steps_per_epoch = integer_at(json, "steps_per_epoch");
    outcome.reported_epoch = integer_at(json, "reported_epoch");
    outcome.is_synthetic = json.value("synthetic", false);
    outcome.training_seconds = json.value("training_seconds", 0.0);
    outcome.seconds = json.value("seconds", 0.0);
    if (json.contains("version")) json.at("version").get_to(outcome.version);
    outcome.evaluated = integers_of(json.at("evaluated"));
    if (json.contains("tags")) json.at("tags").get_to(outcome.tags);
    outcome.train = curve_of(json, "train", outcome.evaluated.size());
    outcome.valid = curve_of(json, "valid", outcome.evaluated.size());
    outcome.test = curve_of(json, "test", outcome.evaluated.size());
    if (json.contains("batch_losses")) {
      outcome.batch_loss_every = integer_at(json, "batch_loss_every");
      outcome.batch_losses = numbers_of(json.at("batch_losses"));
    }
    return outcome;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(error.what());
  }
}

std::string outcome_file(const std::string& run_folder) {
  return (fs::path(run_folder) / kFile).string();
}

void write_outcome(const std::string& run_folder, const Outcome& outcome) {
  replace_file(outcome_file(run_folder), to_json(outcome) + "\n");
}

Outcome read_outcome(const std::string& run_folder) {
  const std::string path = outcome_file(run_folder);
  try {
    return outcome_from_json(read_file(path));
  } catch (const std::exception& error) {
    throw std::runtime_error("study: " + path + " is no outcome of a run: " + error.what());
  }
}

bool has_outcome(const std::string& run_folder) {
  std::error_code ignored;
  return fs::exists(outcome_file(run_folder), ignored);
}

std::vector<Outcome> find_outcomes(const std::string& folder_or_file,
                                   std::vector<std::string>& problems) {
  std::vector<Outcome> found;
  if (!fs::is_directory(folder_or_file)) {
    std::istringstream lines(read_file(folder_or_file));
    int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.empty()) continue;
      try {
        found.push_back(outcome_from_json(line));
      } catch (const std::exception& error) {
        problems.push_back(folder_or_file + ":" + std::to_string(number) + ": " + error.what());
      }
    }
    return found;
  }
  std::vector<std::string> folders;
  const auto options = fs::directory_options::skip_permission_denied;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder_or_file, options)) {
    if (entry.path().filename() == kFile) folders.push_back(entry.path().parent_path().string());
  }
  std::sort(folders.begin(), folders.end());
  for (const std::string& folder : folders) {
    try {
      found.push_back(read_outcome(folder));
      found.back().batch_losses = {};
    } catch (const std::exception& error) {
      problems.push_back(error.what());
    }
  }
  return found;
}

}  // namespace flightdeck::study
