// SPDX-License-Identifier: MIT
// Faults of small files of text: each line changes one thing of a training, or injects a known
// fault.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include <c10/util/Exception.h>
#include <torch/torch.h>

#include "base/registry.h"
#include "base/words.h"
#include "flightdeck/diagnosis.h"
#include "run/fault.h"
#include "suite/find_entry.h"
#include "suite/optimizer.h"

namespace flightdeck::run {
namespace {

constexpr double kBoundless = std::numeric_limits<double>::infinity();

// A change that a line of the file names with a number.
struct LineChange {
  const char* name;
  double low, high;  // of the number, both included
  bool is_whole;
  void (*apply)(FaultyTraining& training, double number);
  bool (*fits)(const FaultyTraining& training) = [](const FaultyTraining&) { return true; };
};

bool has_numbers(const FaultyTraining& training) { return !training.is_text; }
bool has_hidden_layers(const FaultyTraining& training) {
  return training.parts && training.parts->hidden_layers > 0;
}

int64_t whole_part(int64_t count, double factor) {
  return std::max<int64_t>(1, std::llround(static_cast<double>(count) * factor));
}

template <typename Function>
void change_matrices(FaultyTraining& training, Function change) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : training.model.module->parameters()) {
    if (parameter.dim() > 1) change(parameter);
  }
}

// Draws which targets are changed, each with probability `share`.
Tensor drawn(const FaultyTraining& training, double share) {
  return torch::rand(training.targets.sizes(), training.random, torch::kFloat) < share;
}

void draw_labels(FaultyTraining& training, double share) {
  const Tensor is_wrong = drawn(training, share);
  const Tensor other =
      torch::randint(0, training.classes, training.targets.sizes(), training.random, torch::kLong);
  training.targets = torch::where(is_wrong, other, training.targets);
}

void shuffle_labels(FaultyTraining& training, double share) {
  const Tensor is_wrong = drawn(training, share);
  const Tensor of_others = training.targets.masked_select(is_wrong);
  const Tensor order = torch::randperm(of_others.numel(), training.random, torch::kLong);
  training.targets = training.targets.masked_scatter(is_wrong, of_others.index_select(0, order));
}

const LineChange kLineChanges[] = {
    {"batch_size_times",
     1e-6,
     1e6,
     false,
     [](FaultyTraining& training, double factor) {
       training.batch_size =
           std::min(whole_part(training.batch_size, factor), training.targets.size(0));
     }},
    {"clip",
     1e-12,
     kBoundless,
     false,
     [](FaultyTraining& training, double norm) { training.clip = norm; }},
    {"decay", 0, 1, false, [](FaultyTraining& training, double share) { training.decay = share; }},
    {"dropout",
     0,
     0.999,
     false,
     [](FaultyTraining& training, double share) { training.parts->dropout = share; },
     &has_hidden_layers},
    {"inputs_plus",
     -kBoundless,
     kBoundless,
     false,
     [](FaultyTraining& training, double number) {
       training.prepare_with([number](const Tensor& inputs) { return inputs + number; });
     },
     &has_numbers},
    {"inputs_times",
     -kBoundless,
     kBoundless,
     false,
     [](FaultyTraining& training, double number) {
       training.prepare_with([number](const Tensor& inputs) { return inputs * number; });
     },
     &has_numbers},
    {"labels_drawn", 0, 1, false, &draw_labels},
    {"labels_permuted", 0, 1, false, &shuffle_labels},
    {"learning_rate_times",
     1e-12,
     1e12,
     false,
     [](FaultyTraining& training, double factor) {
       training.hyperparameters["learning_rate"] *= factor;
     }},
    {"passes",
     1,
     1000,
     true,
     [](FaultyTraining& training, double passes) {
       training.passes = static_cast<int64_t>(passes);
     }},
    {"penalty",
     0,
     kBoundless,
     false,
     [](FaultyTraining& training, double factor) { training.penalty = factor; }},
    {"steps_times",
     1e-6,
     100,
     false,
     [](FaultyTraining& training, double factor) {
       training.steps = whole_part(training.steps, factor);
     }},
    {"weights_plus",
     -kBoundless,
     kBoundless,
     false,
     [](FaultyTraining& training, double number) {
       change_matrices(training, [number](Tensor& weights) { weights.add_(number); });
     }},
    {"weights_times",
     -kBoundless,
     kBoundless,
     false,
     [](FaultyTraining& training, double number) {
       change_matrices(training, [number](Tensor& weights) { weights.mul_(number); });
     }},
};

struct Activation {
  const char* name;
  Tensor (*function)(const Tensor& values);
};

const Activation kActivations[] = {
    {"gelu", [](const Tensor& values) { return torch::gelu(values); }},
    {"leaky_relu", [](const Tensor& values) { return torch::leaky_relu(values); }},
    {"none", [](const Tensor& values) { return values; }},
    {"relu", [](const Tensor& values) { return torch::relu(values); }},
    {"sigmoid", [](const Tensor& values) { return torch::sigmoid(values); }},
    {"tanh", [](const Tensor& values) { return torch::tanh(values); }},
};

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A file that changes a few things is not longer.
constexpr std::streamsize kMostBytes = 1 << 16;

std::istringstream text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), kMostBytes + 1);
  const std::streamsize size = file.gcount();
  TORCH_CHECK_VALUE(size > 0 || (file.is_open() && file.eof() && !file.bad()),
                    "read_fault: cannot read ",
                    path,
                    "; give a file of lines key = value");
  TORCH_CHECK_VALUE(size <= kMostBytes,
                    "read_fault: ",
                    path,
                    " has more than ",
                    kMostBytes,
                    " bytes; give a file of a few lines key = value");
  text.resize(static_cast<size_t>(size));
  return std::istringstream(text);
}

void check_cause(const std::string& path, const std::string& name) {
  std::vector<std::string> names;
  for (const Cause& cause : cause_catalogue()) names.push_back(cause.name);
  if (std::count(names.begin(), names.end(), name) > 0) return;
  suite::refuse_name(name, names, "cause of " + path);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

double number_in(const std::string& text, const std::string& where) {
  std::istringstream in(text);
  double value = 0;
  TORCH_CHECK_VALUE((in >> value) && (in >> std::ws).eof(),
                    where,
                    ": '",
                    text,
                    "' is not a number; give one, or the word severity for those of the line "
                    "severities");
  return value;
}

// Holds the number of a line; nothing where it is the word "severity".
using Number = std::optional<double>;

// What one line does to a training.
struct Part {
  std::function<bool(const FaultyTraining&)> fits = [](const FaultyTraining&) { return true; };
  std::function<void(FaultyTraining&, double number)> apply;
  Number number = 0.0;
};

class FaultFile {
 public:
  explicit FaultFile(const std::string& path) : path_(path) {}

  Fault read() {
    std::istringstream file = text_of(path_);
    int64_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      line = trimmed(line);
      if (line.empty() || line[0] == '#') continue;
      where_ = path_ + ", line " + std::to_string(number);
      const size_t equals = line.find('=');
      TORCH_CHECK_VALUE(
          equals != std::string::npos, where_, ": '", line, "' has no '='; write key = value");
      take(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    }
    check();
    fault_.fits = [parts = parts_](const FaultyTraining& training) {
      return std::all_of(
          parts.begin(), parts.end(), [&](const Part& part) { return part.fits(training); });
    };
    fault_.inject = [parts = parts_](FaultyTraining& training, double severity) {
      for (const Part& part : parts) part.apply(training, part.number.value_or(severity));
    };
    return fault_;
  }

 private:
  void take(const std::string& key, const std::string& value) {
    if (key == "name") {
      fault_.name = value;
    } else if (key == "summary") {
      fault_.summary = value;
    } else if (key == "cause") {
      fault_.cause = value;
    } else if (key == "also") {
      fault_.also = words_of(value);
    } else if (key == "severities") {
      fault_.severities.clear();
      for (const std::string& word : words_of(value)) {
        fault_.severities.push_back(number_in(word, where_));
      }
      TORCH_CHECK_VALUE(!fault_.severities.empty(),
                        where_,
                        ": there are no severities; give numbers, the mildest first");
    } else if (key == "of_degree") {
      TORCH_CHECK_VALUE(value == "yes" || value == "no",
                        where_,
                        ": of_degree is '",
                        value,
                        "'; give yes for a setting that may do no harm, no for a mistake");
      fault_.is_of_degree = value == "yes";
    } else if (key == "optimizer") {
      std::vector<std::string> names;
      for (const suite::OptimizerEntry& one : suite::first_order_optimizers()) {
        names.push_back(one.name);
      }
      if (std::count(names.begin(), names.end(), value) == 0) {
        suite::refuse_name(value, names, "optimizer of " + where_);
      }
      parts_.push_back({[](const FaultyTraining&) { return true; },
                        [value](FaultyTraining& training, double) { training.optimizer = value; }});
    } else if (key == "activation") {
      take_activation(value);
    } else {
      take_number(key, value);
    }
  }

  void take_activation(const std::string& name) {
    std::vector<std::string> names;
    for (const Activation& one : kActivations) {
      names.emplace_back(one.name);
      if (names.back() != name) continue;
      parts_.push_back(
          {&has_hidden_layers, [function = one.function](FaultyTraining& training, double) {
             training.parts->activation = function;
           }});
      return;
    }
    suite::refuse_name(name, names, "activation of " + where_);
  }

  void take_number(const std::string& key, const std::string& value) {
    const Number number = value == "severity" ? Number() : Number(number_in(value, where_));
    uses_severity_ = uses_severity_ || !number;
    for (const LineChange& change : kLineChanges) {
      if (key != change.name) continue;
      const auto check = [where = where_, change](double given) {
        const bool is_inside = given >= change.low && given <= change.high && std::isfinite(given);
        TORCH_CHECK_VALUE(is_inside && (!change.is_whole || given == std::floor(given)),
                          where,
                          ": ",
                          change.name,
                          " is ",
                          given,
                          " but must be ",
                          change.is_whole ? "a whole number" : "a number",
                          " from ",
                          change.low,
                          " to ",
                          change.high);
      };
      checks_.emplace_back(number, check);
      parts_.push_back({change.fits, change.apply, number});
      return;
    }
    for (const Fault& known : all_faults()) {
      if (known.name != key) continue;
      parts_.push_back({known.fits, known.inject, number});
      return;
    }
    std::vector<std::string> names = {
        "name", "summary", "cause", "also", "severities", "of_degree", "optimizer", "activation"};
    for (const LineChange& change : kLineChanges) names.emplace_back(change.name);
    TORCH_CHECK_VALUE(false,
                      where_,
                      ": there is neither a change nor a fault '",
                      key,
                      "'; keys are ",
                      joined(names),
                      " and the names of known faults");
  }

  void check() const {
    TORCH_CHECK_VALUE(!fault_.name.empty() && !fault_.cause.empty() && !parts_.empty(),
                      "read_fault: ",
                      path_,
                      " lacks name, cause or a line that changes something; give all three");
    const std::string wrong = fault_of_name(fault_.name);
    TORCH_CHECK_VALUE(wrong.empty(), "read_fault: ", path_, ": ", wrong);
    check_cause(path_, fault_.cause);
    for (const std::string& cause : fault_.also) check_cause(path_, cause);
    TORCH_CHECK_VALUE(
        uses_severity_ || fault_.severities.size() == 1,
        "read_fault: ",
        path_,
        " has ",
        fault_.severities.size(),
        " severities, but no line has the value severity; write it where they belong");
    for (const auto& [number, check] : checks_) {
      if (number) {
        check(*number);
        continue;
      }
      for (const double severity : fault_.severities) check(severity);
    }
  }

  std::string path_, where_;
  Fault fault_;
  std::vector<Part> parts_;
  std::vector<std::pair<Number, std::function<void(double)>>> checks_;
  bool uses_severity_ = false;
};

}  // namespace

Fault read_fault(const std::string& path) {
  FaultFile file(path);
  Fault fault = file.read();
  if (fault.summary.empty()) fault.summary = "read from " + path;
  return fault;
}

}  // namespace flightdeck::run
