// SPDX-License-Identifier: MIT
#include "record/reading_fault.h"

#include <algorithm>

#include "base/limits.h"

namespace flightdeck::record {

namespace {

std::string more_than(const std::string& what, size_t value, int64_t limit) {
  return "has " + std::to_string(value) + " " + what + ", more than " + std::to_string(limit);
}

std::string histogram_fault(const Reading& reading) {
  const std::string fault = axes_fault(reading.axes);
  if (!fault.empty()) return fault;
  if (static_cast<int64_t>(reading.counts.size()) != bins_of(reading.axes)) {
    return "has " + std::to_string(reading.counts.size()) + " counts but axes of " +
           std::to_string(bins_of(reading.axes)) + " bins";
  }
  const bool is_negative =
      std::min({reading.below, reading.above, reading.not_a_number}) < 0 ||
      std::any_of(
          reading.counts.begin(), reading.counts.end(), [](int64_t count) { return count < 0; });
  return is_negative ? "has a count below 0" : "";
}

}  // namespace

std::string name_fault(const std::string& quantity,
                       const std::string& field,
                       const std::string& group) {
  const size_t longest = std::max({quantity.size(), field.size(), group.size()});
  if (longest <= limits::kNameBytes) return "";
  return more_than("bytes in its name", longest, limits::kNameBytes);
}

std::string axes_fault(const std::vector<ReadingAxis>& axes) {
  if (axes.empty()) return "has no axis";
  if (axes.size() > limits::kAxes) return more_than("axes", axes.size(), limits::kAxes);
  for (const ReadingAxis& axis : axes) {
    if (axis.count < 1 || axis.count > limits::kBins) {
      return "has an axis of " + std::to_string(axis.count) + " bins, not 1 to " +
             std::to_string(limits::kBins);
    }
  }
  if (bins_of(axes) <= limits::kBins) return "";
  return more_than("bins", static_cast<size_t>(bins_of(axes)), limits::kBins);
}

int64_t bins_of(const std::vector<ReadingAxis>& axes) {
  int64_t bins = 1;
  for (const ReadingAxis& axis : axes) bins *= axis.count;
  return bins;
}

std::string reading_fault(const Reading& reading) {
  const std::string fault = name_fault(reading.quantity, reading.field, reading.group);
  if (!fault.empty()) return fault;
  if (reading.kind == ReadingKind::kHistogram) return histogram_fault(reading);
  if (reading.kind == ReadingKind::kList && reading.list.size() > limits::kEntryNumbers) {
    return more_than("numbers", reading.list.size(), limits::kEntryNumbers);
  }
  return "";
}

}  // namespace flightdeck::record
