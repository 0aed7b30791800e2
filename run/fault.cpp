// SPDX-License-Identifier: MIT
#include "run/fault.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include <c10/util/Exception.h>

#include "base/registry.h"
#include "flightdeck/diagnosis.h"
#include "suite/find_entry.h"

namespace flightdeck::run {
namespace faults {

#define FLIGHTDECK_ENTRY(name) Fault name();
#include "flightdeck/faults.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace faults

namespace {

Registry<Fault>& fault_registry() {
  static auto* registry = new Registry<Fault>({
#define FLIGHTDECK_ENTRY(name) faults::name(),
#include "flightdeck/faults.inc"
#undef FLIGHTDECK_ENTRY
  });
  return *registry;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Of a file that names a few faults.
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

double number_in(const std::string& text, const std::string& where) {
  std::istringstream in(text);
  double value = 0;
  TORCH_CHECK_VALUE((in >> value) && (in >> std::ws).eof(),
                    where,
                    ": '",
                    text,
                    "' is not a number; give the severity of the fault");
  return value;
}

}  // namespace

std::vector<Fault> all_faults() { return fault_registry().all(); }

Fault find_fault(const std::string& name) {
  const Fault* found = fault_registry().find(name);
  if (found == nullptr) suite::refuse_name(name, fault_registry().names(), "fault");
  return *found;
}

bool register_fault(Fault fault) {
  TORCH_CHECK_VALUE(
      !fault.name.empty() && !fault.summary.empty() && !fault.cause.empty() && fault.inject,
      "register_fault: fault '",
      fault.name,
      "' lacks a name, a summary, a cause or its function inject; set all four");
  TORCH_CHECK_VALUE(!fault.severities.empty() && fault.fits,
                    "register_fault: fault '",
                    fault.name,
                    "' has no severities or no function fits; leave the defaults");
  const std::string wrong = fault_of_name(fault.name);
  TORCH_CHECK_VALUE(wrong.empty(), "register_fault: ", wrong);
  const std::string name = fault.name, summary = fault.summary;
  const Fault* same = fault_registry().add(std::move(fault));
  TORCH_CHECK_VALUE(same == nullptr,
                    "register_fault: ",
                    taken_name("fault", name, same ? same->summary : "", summary));
  return true;
}

Fault read_fault(const std::string& path) {
  std::istringstream file = text_of(path);
  Fault fault;
  std::vector<std::pair<Fault, double>> parts;
  int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string where = path + ", line " + std::to_string(number);
    const size_t equals = line.find('=');
    TORCH_CHECK_VALUE(
        equals != std::string::npos, where, ": '", line, "' has no '='; write key = value");
    const std::string key = trimmed(line.substr(0, equals)),
                      value = trimmed(line.substr(equals + 1));
    if (key == "name") {
      fault.name = value;
    } else if (key == "summary") {
      fault.summary = value;
    } else if (key == "cause") {
      fault.cause = value;
    } else if (key == "also") {
      std::istringstream words(value);
      for (std::string word; words >> word;) fault.also.push_back(word);
    } else {
      const Fault* known = fault_registry().find(key);
      TORCH_CHECK_VALUE(known != nullptr,
                        where,
                        ": there is no fault '",
                        key,
                        "'; keys are name, summary, cause, also and the names of known faults");
      parts.emplace_back(*known, number_in(value, where));
    }
  }
  TORCH_CHECK_VALUE(!fault.name.empty() && !fault.cause.empty() && !parts.empty(),
                    "read_fault: ",
                    path,
                    " lacks name, cause or a known fault with its severity; give all three");
  const std::string wrong = fault_of_name(fault.name);
  TORCH_CHECK_VALUE(wrong.empty(), "read_fault: ", path, ": ", wrong);
  check_cause(path, fault.cause);
  for (const std::string& cause : fault.also) check_cause(path, cause);
  if (fault.summary.empty()) fault.summary = "read from " + path;
  fault.fits = [parts](const Trial& trial) {
    for (const auto& [part, severity] : parts) {
      if (!part.fits(trial)) return false;
    }
    return true;
  };
  fault.inject = [parts](Trial& trial, double) {
    for (const auto& [part, severity] : parts) part.inject(trial, severity);
  };
  return fault;
}

}  // namespace flightdeck::run
