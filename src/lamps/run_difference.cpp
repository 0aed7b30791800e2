// SPDX-License-Identifier: MIT
#include "flightdeck/run_difference.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace flightdeck {
namespace {

using Name = std::tuple<std::string, std::string, std::string>;  // quantity, field, group

std::map<Name, SeriesInfo> series_of(const RunReader& run, const DifferenceOptions& options) {
  std::map<Name, SeriesInfo> all;
  for (SeriesInfo& one : run.series()) {
    if (options.left_out.count(one.quantity) != 0) continue;
    Name name{one.quantity, one.field, one.group};
    all.emplace(std::move(name), std::move(one));
  }
  return all;
}

std::string text_of(const Name& name) {
  const auto& [quantity, field, group] = name;
  return quantity + (field.empty() ? "" : "/" + field) + (group.empty() ? "" : "@" + group);
}

bool is_same_number(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

bool is_same_reading(const Reading& a, const Reading& b, double tolerance) {
  const auto is_same_entry = [&](double x, double y) { return is_same_number(x, y, tolerance); };
  return a.kind == b.kind && is_same_number(a.number, b.number, tolerance) &&
         a.list.size() == b.list.size() &&
         std::equal(a.list.begin(), a.list.end(), b.list.begin(), is_same_entry) &&
         a.counts == b.counts && a.below == b.below && a.above == b.above &&
         a.not_a_number == b.not_a_number;
}

// Says where in a step a value is computed: the part, and the layer's place within it.
struct Place {
  DifferenceKind kind;
  std::string layer;
  int64_t order;
};

// Finds the place of a value. `id` is the place of the series in the record, which lists layers and
// groups from the inputs on.
Place place_of(const ValueDifference& value, int64_t id) {
  using Kind = DifferenceKind;
  const size_t colon = value.field.find(':');
  const std::string layer = value.group.empty() && colon != std::string::npos
                                ? value.field.substr(colon + 1)
                                : value.group;
  const std::string& name = value.quantity;
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (name == "inputs") return {Kind::kData, "", id};
  // The quantity `distance` is about the parameters before the step.
  if (is_one_of({"parameters", "distance"})) return {Kind::kParameter, layer, id};
  if (name == "activation_scale") {
    // The backward pass reaches the last layer first.
    const bool is_gradient = value.field.rfind("gradient_", 0) == 0;
    return is_gradient ? Place{Kind::kGradient, layer, -id} : Place{Kind::kLayer, layer, id};
  }
  if (is_one_of({"dead_units", "saturated_units"})) return {Kind::kLayer, value.field, id};
  if (is_one_of({"loss", "logits"})) return {Kind::kLoss, "", id};
  if (is_one_of({"grad_norm", "grad_hist_1d"})) return {Kind::kGradient, layer, id};
  if (is_one_of({"update_size", "update_ratio"})) return {Kind::kUpdate, layer, id};
  return {Kind::kOther, "", id};
}

// Compares one series of both runs step by step until one differs or the last step is passed.
class Comparison {
 public:
  Comparison(const DifferenceOptions& options, RunDifference& result)
      : options_(options), result_(result) {}

  void numbers(const RunReader& first,
               const RunReader& second,
               const SeriesInfo& a,
               const SeriesInfo& b,
               const Name& name) {
    std::map<int64_t, double> others;
    for (const NumberPoint& point : second.numbers(b.id, up_to())) others[point.step] = point.value;
    for (const NumberPoint& point : first.numbers(a.id, up_to())) {
      const auto other = others.find(point.step);
      if (other == others.end()) continue;
      count(point.step);
      if (is_same_number(point.value, other->second, options_.tolerance)) continue;
      return found(point.step, name, point.value, other->second);
    }
  }

  void readings(const RunReader& first,
                const RunReader& second,
                const SeriesInfo& a,
                const SeriesInfo& b,
                const Name& name) {
    std::map<int64_t, Reading> others;
    for (auto& [step, reading] : second.readings(b.id, up_to())) others[step] = std::move(reading);
    for (const auto& [step, reading] : first.readings(a.id, up_to())) {
      const auto other = others.find(step);
      if (other == others.end()) continue;
      count(step);
      if (is_same_reading(reading, other->second, options_.tolerance)) continue;
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      return found(step, name, kNone, kNone);
    }
  }

 private:
  // Ends at the first difference so far, since nothing behind it is read.
  StepRange up_to() const {
    StepRange range;
    if (!result_.values.empty()) range.last = result_.values.front().step;
    return range;
  }

  void count(int64_t step) {
    ++result_.compared;
    result_.last_common_step = std::max(result_.last_common_step, step);
  }

  void found(int64_t step, const Name& name, double first, double second) {
    if (!result_.values.empty() && step < result_.values.front().step) result_.values.clear();
    const auto& [quantity, field, group] = name;
    result_.values.push_back({step, quantity, field, group, first, second});
  }

  const DifferenceOptions& options_;
  RunDifference& result_;
};

// Sets kind and layer of the first difference.
void find_first_place(const std::map<Name, SeriesInfo>& series, RunDifference& result) {
  if (result.values.empty()) {
    if (!result.is_same()) result.first_kind = DifferenceKind::kSetting;
    return;
  }
  std::optional<Place> first;
  for (const ValueDifference& value : result.values) {
    const SeriesInfo& info = series.at({value.quantity, value.field, value.group});
    Place place = place_of(value, static_cast<int64_t>(info.id));
    // Layers of the same part tell more than numbers of the whole model, which have no layer.
    const auto rank = [](const Place& one) {
      return std::make_tuple(one.kind, one.layer.empty(), one.order);
    };
    if (!first || rank(place) < rank(*first)) first = std::move(place);
  }
  result.first_kind = first->kind;
  result.first_layer = first->layer;
}

// Compares the hashes of the batch at the first step that differs.
DataDifference data_difference(const RunReader& first,
                               const RunReader& second,
                               const std::map<Name, SeriesInfo>& of_first,
                               const std::map<Name, SeriesInfo>& of_second,
                               const RunDifference& result) {
  if (result.values.empty()) return DataDifference::kUnknown;
  const int64_t step = result.values.front().step;
  // Says whether the hash is the same; nothing if a run has none of that step.
  const auto is_same = [&](const char* field) -> std::optional<bool> {
    const Name name{"inputs", field, ""};
    const auto a = of_first.find(name), b = of_second.find(name);
    if (a == of_first.end() || b == of_second.end()) return std::nullopt;
    StepRange range;
    range.first = range.last = step;
    const auto one = first.numbers(a->second.id, range),
               other = second.numbers(b->second.id, range);
    if (one.empty() || other.empty()) return std::nullopt;
    return one.front().value == other.front().value;
  };
  const std::optional<bool> has_order = is_same("batch_hash"), has_samples = is_same("set_hash");
  if (!has_order || !has_samples) return DataDifference::kUnknown;
  if (*has_order) return DataDifference::kSame;
  return *has_samples ? DataDifference::kOrder : DataDifference::kSamples;
}

void compare_settings(const RunReader& first, const RunReader& second, RunDifference& result) {
  std::map<std::string, std::pair<std::string, std::string>> all;
  const RunInfo a = first.info(), b = second.info();
  for (const auto& [key, value] : a.config) all[key].first = value;
  for (const auto& [key, value] : b.config) all[key].second = value;
  all["device"] = {a.device, b.device};
  all["flightdeck"] = {a.flightdeck_version, b.flightdeck_version};
  all["libtorch"] = {a.libtorch_version, b.libtorch_version};
  const auto shapes = [](const RunInfo& info) {
    std::string text;
    for (const ParameterInfo& parameter : info.parameters) {
      text += parameter.name + " " + parameter.type + " [";
      for (const int64_t size : parameter.shape) text += std::to_string(size) + " ";
      text += "] ";
    }
    return text;
  };
  all["parameters"] = {shapes(a), shapes(b)};
  for (const auto& [key, values] : all) {
    if (values.first != values.second) {
      result.settings.push_back({key, values.first, values.second});
    }
  }
}

}  // namespace

const char* to_string(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kNone:
      return "none";
    case DifferenceKind::kSetting:
      return "setting";
    case DifferenceKind::kData:
      return "data";
    case DifferenceKind::kParameter:
      return "parameter";
    case DifferenceKind::kLayer:
      return "layer";
    case DifferenceKind::kLoss:
      return "loss";
    case DifferenceKind::kGradient:
      return "gradient";
    case DifferenceKind::kUpdate:
      return "update";
    case DifferenceKind::kOther:
      break;
  }
  return "other";
}

const char* to_string(DataDifference data) {
  switch (data) {
    case DataDifference::kSame:
      return "same";
    case DataDifference::kOrder:
      return "order";
    case DataDifference::kSamples:
      return "samples";
    case DataDifference::kUnknown:
      break;
  }
  return "unknown";
}

RunDifference difference(const RunReader& first,
                         const RunReader& second,
                         const DifferenceOptions& options) {
  RunDifference result;
  compare_settings(first, second, result);
  const auto of_first = series_of(first, options), of_second = series_of(second, options);
  Comparison comparison(options, result);
  for (const auto& [name, series] : of_first) {
    const auto other = of_second.find(name);
    if (other == of_second.end()) {
      result.only_first.push_back(text_of(name));
    } else if (series.kind == ReadingKind::kNumber && other->second.kind == ReadingKind::kNumber) {
      comparison.numbers(first, second, series, other->second, name);
    } else {
      comparison.readings(first, second, series, other->second, name);
    }
  }
  for (const auto& [name, series] : of_second) {
    if (of_first.count(name) == 0) result.only_second.push_back(text_of(name));
  }
  find_first_place(of_first, result);
  result.data = data_difference(first, second, of_first, of_second, result);
  return result;
}

}  // namespace flightdeck
