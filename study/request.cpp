// SPDX-License-Identifier: MIT
#include "study/request.h"

#include <algorithm>
#include <stdexcept>

#include "study/json_text.h"

namespace flightdeck::study {
namespace {

Json json_of(const Dimension& dimension) {
  const Search& search = dimension.search;
  Json json = {{"name", dimension.name},
               {"default", dimension.value},
               {"distribution", to_string(search.kind)}};
  if (search.kind == Search::Kind::kFixed) return json;
  if (search.kind == Search::Kind::kOneOf) {
    json["choices"] = search.choices;
    return json;
  }
  json["low"] = search.low;
  json["high"] = search.high;
  if (search.is_complement) json["of_complement"] = true;
  return json;
}

Dimension dimension_of(const Json& json) {
  Dimension dimension;
  json.at("name").get_to(dimension.name);
  json.at("default").get_to(dimension.value);
  Search& search = dimension.search;
  search.kind = kind_from(json.at("distribution").get<std::string>());
  search.low = json.value("low", 0.0);
  search.high = json.value("high", 0.0);
  search.is_complement = json.value("of_complement", false);
  if (json.contains("choices")) json.at("choices").get_to(search.choices);
  return dimension;
}

Json json_of(const Request& request) {
  Json json = {{"format", 1},
               {"problems", request.problems},
               {"schedules", request.schedules},
               {"budgets", request.budgets},
               {"seed", request.seed},
               {"seeds", request.seeds},
               {"options", request.run_options}};
  if (request.has_all_seeds) json["all_seeds"] = true;
  json["grid"] = Json::object();
  for (const GridAxis& axis : request.grid) json["grid"][axis.name] = axis.values;
  json["optimizers"] = Json::object();
  for (const OptimizerRequest& optimizer : request.optimizers) {
    Json space = Json::array();
    for (const Dimension& dimension : optimizer.space) space.push_back(json_of(dimension));
    json["optimizers"][optimizer.name] = space;
  }
  return json;
}

Request request_of(const Json& json) {
  if (integer_at(json, "format") > 1) {
    throw std::runtime_error("it is of format " + json.at("format").dump() +
                             " and this flightdeck reads 1; update it");
  }
  Request request;
  json.at("problems").get_to(request.problems);
  json.at("schedules").get_to(request.schedules);
  json.at("budgets").get_to(request.budgets);
  request.seed = natural_at(json, "seed");
  request.seeds = integer_at(json, "seeds");
  request.has_all_seeds = json.value("all_seeds", false);
  json.at("options").get_to(request.run_options);
  for (const auto& [name, values] : json.at("grid").items()) {
    request.grid.push_back({name, values.get<std::vector<double>>()});
  }
  for (const auto& [name, space] : json.at("optimizers").items()) {
    OptimizerRequest optimizer{name, {}};
    for (const Json& dimension : space) optimizer.space.push_back(dimension_of(dimension));
    request.optimizers.push_back(optimizer);
  }
  return request;
}

std::string shown(const Json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::string text;
  for (const Json& element : value) text += (text.empty() ? "" : ", ") + shown(element);
  return text.empty() ? "nothing" : text;
}

// Adds a line for each key whose values differ.
void compare(const Json& stored, const Json& asked, std::vector<std::string>& lines) {
  const auto line = [&](const std::string& key, const std::string& here, const std::string& now) {
    lines.push_back(key + " is " + here + " but " + now + " is asked for");
  };
  const auto is_given = [](const Json& value) { return value == "" ? "given" : shown(value); };
  for (const auto& [key, value] : stored.items()) {
    if (!asked.contains(key)) {
      line(key, is_given(value), "none");
    } else if (asked.at(key) != value) {
      line(key, shown(value), shown(asked.at(key)));
    }
  }
  for (const auto& [key, value] : asked.items()) {
    if (!stored.contains(key)) line(key, "not given", is_given(value));
  }
}

Json names_of(const std::vector<OptimizerRequest>& optimizers) {
  Json names = Json::array();
  for (const OptimizerRequest& optimizer : optimizers) names.push_back(optimizer.name);
  return names;
}

}  // namespace

const OptimizerRequest& Request::optimizer(const std::string& name) const {
  for (const OptimizerRequest& optimizer : optimizers) {
    if (optimizer.name == name) return optimizer;
  }
  throw std::out_of_range("study: there is no optimizer '" + name + "' in it");
}

bool Request::has_budget(const std::string& name) const {
  return std::find(budgets.begin(), budgets.end(), name) != budgets.end();
}

const std::vector<std::string>& budget_names() {
  static const std::vector<std::string> names = {"one_shot", "small", "medium", "large"};
  return names;
}

std::string to_json(const Request& request) { return json_of(request).dump(1); }

Request request_from_json(const std::string& text) {
  try {
    return request_of(parsed(text));
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(error.what());
  }
}

std::vector<std::string> differences(const Request& stored, const Request& asked) {
  std::vector<std::string> lines;
  Json before = json_of(stored), now = json_of(asked);
  Json spaces_before = before["optimizers"], spaces_now = now["optimizers"];
  before["optimizers"] = names_of(stored.optimizers);
  now["optimizers"] = names_of(asked.optimizers);
  for (const char* part : {"options", "grid"}) {
    compare(before[part], now[part], lines);
    before.erase(part);
    now.erase(part);
  }
  compare(before, now, lines);
  if (lines.empty() && spaces_before != spaces_now) {
    lines.push_back("the search spaces are those of another version of flightdeck");
  }
  return lines;
}

}  // namespace flightdeck::study
