// SPDX-License-Identifier: MIT
#include "cockpit/failures.h"

#include <algorithm>
#include <utility>

#include "base/words.h"
#include "graph/error_message.h"

namespace flightdeck {

void Failures::switch_off(size_t tracked, int64_t step, const char* pass) {
  switch_off(tracked, step, pass, current_message());
}

void Failures::switch_off_elsewhere(size_t tracked, int64_t step, const std::string& why) {
  switch_off(tracked, step, "", why);
}

void Failures::switch_off(size_t tracked,
                          int64_t step,
                          const char* pass,
                          const std::string& message) {
  tracked_[tracked].is_on = false;
  const auto same = std::find_if(news_.begin(), news_.end(), [&](const Failure& other) {
    return other.step == step && other.message == message;
  });
  Failure& failure = same == news_.end() ? news_.emplace_back() : *same;
  failure.step = step;
  failure.message = message;
  add_once(failure.quantities, tracked_[tracked].quantity.name());
  if (*pass != '\0') add_once(failure.passes, pass);
}

void Failures::switch_off(const std::vector<size_t>& all_tracked, int64_t step) {
  if (is_strict_) throw;
  for (size_t k : all_tracked) {
    if (tracked_[k].is_on) switch_off(k, step, "");
  }
}

void Failures::skip(const std::vector<size_t>& all_tracked, int64_t step) {
  if (is_strict_) throw;
  const std::string message = current_message();
  for (size_t k : all_tracked) {
    if (!tracked_[k].is_on) continue;
    output_.remark(step,
                   tracked_[k].quantity.name(),
                   "out of memory: it has no value at step " + std::to_string(step) + " (" +
                       message.substr(0, message.find('\n')) + ")");
  }
}

void Failures::switch_off_concerned(const std::vector<size_t>& all_tracked,
                                    const std::function<bool(const StepNeeds&)>& concerns,
                                    const char* pass,
                                    int64_t step) {
  if (is_strict_) throw;
  for (size_t k : all_tracked) {
    if (tracked_[k].is_on && concerns(tracked_[k].needs())) switch_off(k, step, pass);
  }
}

void Failures::take(
    size_t tracked, int64_t step, const Groups& groups, NamedValues& values, Value value) {
  const std::string& name = tracked_[tracked].quantity.name();
  check_value(name, value, groups);
  if (!value.reason().empty()) output_.remark(step, name, value.reason());
  values.push_back({name, value.fields(), value.remarks()});
}

void Failures::tell() noexcept {
  try {
    for (const Failure& failure : std::exchange(news_, {})) {
      const std::string names = joined(failure.quantities);
      const std::string passes = failure.passes.empty() ? "" : joined(failure.passes) + ": ";
      const bool is_one = failure.quantities.size() == 1;
      output_.note(failure.step, NoteKind::kSwitchedOff, names, passes + failure.message);
      output_.warn(names + " failed at step " + std::to_string(failure.step) + " and " +
                   (is_one ? "is" : "are") + " off from here on: " + passes + failure.message);
    }
  } catch (...) {
    output_.warn("what was switched off could not be told: " + current_message());
  }
}

}  // namespace flightdeck
