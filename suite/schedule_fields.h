// SPDX-License-Identifier: MIT
// The text of a learning-rate schedule, cut into its fields, for the entries of schedules/.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::suite {

/// What stands behind the name of a schedule: fields of numbers, "step:30,60:0.1,0.01".
class ScheduleFields {
 public:
  /// Throws c10::ValueError where a field holds no numbers.
  explicit ScheduleFields(const std::string& text);

  const std::string& name() const { return name_; }
  /// Returns all numbers of a field that has no default.
  const std::vector<double>& list(size_t index) const;
  /// Returns the one number of a field, in [low, high]; `otherwise` if the field is left out.
  double number(size_t index, double otherwise, double low, double high) const;
  /// Throws if there are more fields than these.
  void allow(size_t most) const;
  /// Throws c10::ValueError with the text, the reason and the forms of all schedules.
  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  std::vector<double> numbers(const std::string& field) const;

  std::string text_, name_;
  std::vector<std::vector<double>> lists_;
};

}  // namespace flightdeck::suite
