// SPDX-License-Identifier: MIT
#include "suite/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include <torch/torch.h>

namespace flightdeck::suite {
namespace {

constexpr double kPi = 3.14159265358979323846;

using Factor = std::function<double(const Progress&)>;
using Numbers = std::vector<double>;

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  std::string all;
  for (const std::string& form : LearningRateSchedule::forms()) {
    all += (all.empty() ? "" : ", ") + form;
  }
  TORCH_CHECK_VALUE(
      false, "learning rate schedule: '", text, "' ", reason, "; write it as one of ", all);
}

std::vector<std::string> cut(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// The fields after the name, each a list of numbers.
class Fields {
 public:
  explicit Fields(const std::string& text) : text_(text) {
    const std::vector<std::string> parts = cut(text, ':');
    if (!parts.empty()) name_ = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) lists_.push_back(numbers(parts[i]));
    if (!text.empty() && text.back() == ':') refuse(text, "ends in ':'");
  }

  const std::string& name() const { return name_; }
  const Numbers& list(size_t index) const {
    if (index >= lists_.size()) refuse(text_, "has too few fields");
    return lists_[index];
  }
  // A single number in [low, high].
  double number(size_t index, double otherwise, double low, double high) const {
    if (index >= lists_.size()) return otherwise;
    const Numbers& list = lists_[index];
    if (list.size() != 1 || !(list[0] >= low && list[0] <= high)) {
      std::ostringstream range;
      range << "needs one number from " << low << " to " << high << " in field " << index + 1;
      refuse(text_, range.str());
    }
    return list[0];
  }
  void allow(size_t most) const {
    if (lists_.size() > most) {
      refuse(text_,
             "has " + std::to_string(lists_.size()) + " fields but at most " +
                 std::to_string(most) + " are read");
    }
  }

 private:
  Numbers numbers(const std::string& field) const {
    Numbers values;
    for (const std::string& word : cut(field, ',')) {
      char* end = nullptr;
      values.push_back(std::strtod(word.c_str(), &end));
      if (word.empty() || *end != '\0' || !std::isfinite(values.back())) {
        refuse(text_, "has '" + word + "' where a number should stand");
      }
    }
    if (values.empty()) refuse(text_, "has an empty field");
    return values;
  }

  std::string text_, name_;
  std::vector<Numbers> lists_;
};

Factor step_factor(const Fields& fields, const std::string& text) {
  fields.allow(2);
  const Numbers epochs = fields.list(0), factors = fields.list(1);
  if (epochs.size() != factors.size()) {
    refuse(text,
           "has " + std::to_string(epochs.size()) + " epochs but " +
               std::to_string(factors.size()) + " factors");
  }
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (epochs[i] < 0 || (i > 0 && epochs[i] <= epochs[i - 1])) refuse(text, "needs rising epochs");
    if (factors[i] < 0) refuse(text, "has a factor below 0");
  }
  return [epochs, factors](const Progress& progress) {
    const double epoch = static_cast<double>(progress.step / progress.steps_per_epoch);
    const auto passed = std::upper_bound(epochs.begin(), epochs.end(), epoch) - epochs.begin();
    return passed == 0 ? 1.0 : factors[static_cast<size_t>(passed - 1)];
  };
}

Factor cosine_factor(const Fields& fields) {
  fields.allow(1);
  const double last = fields.number(0, 0.0, 0.0, 1.0);
  return [last](const Progress& progress) {
    const double share =
        static_cast<double>(progress.step) / static_cast<double>(progress.total_steps);
    return last + (1.0 - last) * 0.5 * (1.0 + std::cos(kPi * std::min(share, 1.0)));
  };
}

// With U steps of warm-up the first has 1/U and the last 1; with D steps of decay the first has
// 1 - 1/(D + 1) and the last 1/(D + 1).
Factor trapezoid_factor(const Fields& fields, const std::string& text) {
  fields.allow(2);
  const double up = fields.number(0, 0.1, 0.0, 1.0);
  const double down = fields.number(1, 0.1, 0.0, 1.0);
  if (up + down > 1.0) refuse(text, "rises and falls over more than the whole run");
  return [up, down](const Progress& progress) {
    const double steps = static_cast<double>(progress.total_steps);
    const double step = static_cast<double>(progress.step);
    const double rise = std::round(up * steps), fall = std::round(down * steps);
    if (step < rise) return (step + 1.0) / rise;
    const double fallen = step - (steps - fall) + 1.0;
    return fallen <= 0.0 ? 1.0 : std::max(0.0, 1.0 - fallen / (fall + 1.0));
  };
}

Factor cyclic_factor(const Fields& fields) {
  fields.allow(2);
  const double epochs = fields.number(0, 10.0, 1.0, 1e9);
  const double low = fields.number(1, 0.1, 0.0, 1.0);
  return [epochs, low](const Progress& progress) {
    const double cycle = epochs * static_cast<double>(progress.steps_per_epoch);
    const double share = std::fmod(static_cast<double>(progress.step), cycle) / cycle;
    return low + (1.0 - low) * (1.0 - std::abs(2.0 * share - 1.0));
  };
}

// The cycle that a moment of the run lies in, both in epochs.
struct Cycle {
  double begin, length;
};

Cycle cycle_at(double epoch, double first, double growth) {
  Cycle cycle{0.0, first};
  while (epoch >= cycle.begin + cycle.length) {
    cycle.begin += cycle.length;
    cycle.length *= growth;
  }
  return cycle;
}

Factor restarts_factor(const Fields& fields) {
  fields.allow(2);
  const double first = fields.number(0, 10.0, 1.0, 1e9);
  const double growth = fields.number(1, 2.0, 1.0, 1e3);
  return [first, growth](const Progress& progress) {
    const double epoch =
        static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch);
    const Cycle cycle = cycle_at(epoch, first, growth);
    return 0.5 * (1.0 + std::cos(kPi * (epoch - cycle.begin) / cycle.length));
  };
}

Factor exponential_factor(const Fields& fields) {
  fields.allow(1);
  fields.list(0);  // has no default
  const double factor = fields.number(0, 1.0, 0.0, 1.0);
  return [factor](const Progress& progress) {
    return std::pow(
        factor, static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch));
  };
}

// The schedule at the first step of the epoch.
Factor per_epoch(const Factor& factor) {
  return [factor](const Progress& progress) {
    const int64_t steps = progress.steps_per_epoch;
    return factor({progress.step / steps, 1, (progress.total_steps + steps - 1) / steps});
  };
}

Factor parse_factor(const Fields& fields, const std::string& text) {
  if (fields.name() == "constant") {
    fields.allow(0);
    return [](const Progress&) { return 1.0; };
  }
  if (fields.name() == "step") return step_factor(fields, text);
  if (fields.name() == "cosine") return cosine_factor(fields);
  if (fields.name() == "cosine_restarts") return restarts_factor(fields);
  if (fields.name() == "exponential") return exponential_factor(fields);
  if (fields.name() == "trapezoid") return trapezoid_factor(fields, text);
  if (fields.name() == "cyclic") return cyclic_factor(fields);
  refuse(text, "is no schedule");
}

}  // namespace

LearningRateSchedule LearningRateSchedule::parse(const std::string& text) {
  const std::string suffix = "@epoch";
  const bool is_per_epoch = text.size() > suffix.size() &&
                            text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
  if (!is_per_epoch) return {text, parse_factor(Fields(text), text)};
  return {text, per_epoch(parse_factor(Fields(text.substr(0, text.size() - suffix.size())), text))};
}

int64_t LearningRateSchedule::reported_epoch(int64_t epochs) const {
  const Fields fields(text_.substr(0, text_.find('@')));
  if (fields.name() != "cosine_restarts") return epochs;
  const double first = fields.number(0, 10.0, 1.0, 1e9), growth = fields.number(1, 2.0, 1.0, 1e3);
  const auto last =
      static_cast<int64_t>(cycle_at(static_cast<double>(epochs), first, growth).begin);
  return last > 0 ? last : epochs;
}

const std::vector<std::string>& LearningRateSchedule::forms() {
  static const std::vector<std::string> table = {"constant",
                                                 "step:EPOCHS:FACTORS",
                                                 "cosine[:LAST]",
                                                 "cosine_restarts[:EPOCHS[:GROWTH]]",
                                                 "exponential:FACTOR",
                                                 "trapezoid[:UP[:DOWN]]",
                                                 "cyclic[:EPOCHS[:LOW]]"};
  return table;
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double value) {
  for (torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    group.options().set_lr(value);
  }
}

double learning_rate(const torch::optim::Optimizer& optimizer) {
  return optimizer.param_groups().front().options().get_lr();
}

}  // namespace flightdeck::suite
