// SPDX-License-Identifier: MIT
#include "suite/schedule_fields.h"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include <c10/util/Exception.h>

#include "suite/learning_rate.h"

namespace flightdeck::suite {
namespace {

std::vector<std::string> cut(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace

ScheduleFields::ScheduleFields(const std::string& text) : text_(text) {
  const std::vector<std::string> parts = cut(text, ':');
  if (!parts.empty()) name_ = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) lists_.push_back(numbers(parts[i]));
  if (!text.empty() && text.back() == ':') refuse("ends in ':'");
}

const std::vector<double>& ScheduleFields::list(size_t index) const {
  if (index >= lists_.size()) refuse("has too few fields");
  return lists_[index];
}

double ScheduleFields::number(size_t index, double otherwise, double low, double high) const {
  if (index >= lists_.size()) return otherwise;
  const std::vector<double>& list = lists_[index];
  if (list.size() != 1 || !(list[0] >= low && list[0] <= high)) {
    std::ostringstream range;
    range << "needs one number from " << low << " to " << high << " in field " << index + 1;
    refuse(range.str());
  }
  return list[0];
}

void ScheduleFields::allow(size_t most) const {
  if (lists_.size() > most) {
    refuse("has " + std::to_string(lists_.size()) + " fields but at most " + std::to_string(most) +
           " are read");
  }
}

void ScheduleFields::refuse(const std::string& reason) const {
  std::string all;
  for (const ScheduleEntry& entry : all_schedules()) all += (all.empty() ? "" : ", ") + entry.form;
  TORCH_CHECK_VALUE(
      false, "learning rate schedule: '", text_, "' ", reason, "; write it as one of ", all);
}

std::vector<double> ScheduleFields::numbers(const std::string& field) const {
  std::vector<double> values;
  for (const std::string& word : cut(field, ',')) {
    char* end = nullptr;
    values.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end != '\0' || !std::isfinite(values.back())) {
      refuse("has '" + word + "' where a number should stand");
    }
  }
  if (values.empty()) refuse("has an empty field");
  return values;
}

}  // namespace flightdeck::suite
