// SPDX-License-Identifier: MIT
#include "serve/metrics.h"

#include <cmath>
#include <map>

#include "base/exact_text.h"
#include "flightdeck/ending.h"
#include "flightdeck/lamp.h"
#include "record/text.h"

namespace flightdeck::serve {

namespace {

std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return exact_text(value);
}

std::string label(const std::string& name, const std::string& value) {
  std::string text = name + "=\"";
  // Prometheus refuses the whole text for one byte that is no UTF-8.
  for (const char c : record::valid_utf8(value)) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text + "\"";
}

class Family {
 public:
  Family(std::string name, const std::string& type, const std::string& help)
      : name_(std::move(name)) {
    text_ = "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }
  Family& sample(const std::string& labels, const std::string& value) {
    text_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

std::string own_counts(const ServerCounts& counts) {
  const auto one = [](const char* name, const char* type, const char* help, int64_t value) {
    return Family(name, type, help).sample("", std::to_string(value)).text();
  };
  return one("flightdeck_http_requests_total", "counter", "Requests answered.", counts.requests) +
         one("flightdeck_http_refused_total",
             "counter",
             "Requests answered with a status of 400 or more.",
             counts.refused) +
         one("flightdeck_http_connections", "gauge", "Open connections.", counts.connections) +
         one("flightdeck_event_streams", "gauge", "Open event streams.", counts.event_streams);
}

}  // namespace

std::string metrics_text(const wire::RunList& list,
                         const std::map<std::string, LitLamps>& lit,
                         const ServerCounts& counts) {
  std::map<std::string, int64_t> by_status;
  for (const RunStatus status : {RunStatus::kRunning,
                                 RunStatus::kFinished,
                                 RunStatus::kInterrupted,
                                 RunStatus::kDiverged,
                                 RunStatus::kFailed,
                                 RunStatus::kKilled,
                                 RunStatus::kUnreadable}) {
    by_status[to_string(status)] = 0;
  }
  Family runs("flightdeck_runs", "gauge", "Runs in the served folder.");
  Family steps("flightdeck_run_last_step", "gauge", "Last recorded step.");
  Family times("flightdeck_run_last_time_seconds", "gauge", "When it was recorded, since 1970.");
  Family lamps("flightdeck_lamps", "gauge", "Lamps that are lit.");
  Family values("flightdeck_value", "gauge", "Last number of the whole model.");
  for (const wire::RunSummary& run : list.runs) {
    ++by_status[run.status];
    if (run.last_step < 0) continue;
    const std::string name = label("run", run.id);
    const auto counted = lit.find(run.id);
    for (const Severity severity : {Severity::kAdvice, Severity::kWarning, Severity::kFailure}) {
      if (counted == lit.end()) break;
      lamps.sample(name + "," + label("severity", to_string(severity)),
                   std::to_string(counted->second[static_cast<size_t>(severity)]));
    }
    steps.sample(name, std::to_string(run.last_step));
    times.sample(name, number(run.last_time));
    for (const auto& [key, value] : run.values) {
      const size_t slash = key.find('/');
      values.sample(name + "," + label("quantity", key.substr(0, slash)) + "," +
                        label("field", slash == std::string::npos ? "" : key.substr(slash + 1)),
                    number(value));
    }
  }
  for (const auto& [status, count] : by_status) {
    runs.sample(label("status", status), std::to_string(count));
  }
  return runs.text() + steps.text() + times.text() + lamps.text() + values.text() +
         own_counts(counts);
}

}  // namespace flightdeck::serve
