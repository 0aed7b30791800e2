// SPDX-License-Identifier: MIT
#include "flightdeck/alerts.h"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "lamps/alert_ways.h"
#include "record/json_writer.h"

namespace flightdeck {
namespace {

using lamps::AlertDeadline;

constexpr size_t kMostText = 4000;  // of an environment, which has little room

struct Alert {
  std::string json;
  lamps::Environment environment;
};

AlertDeadline in_seconds(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

// Holds the alerts that wait, and whom they are for. The thread holds it too: a name server that
// does not answer may keep the thread longer than the run.
class AlertQueue {
 public:
  explicit AlertQueue(AlertOptions options) : options_(std::move(options)) {
    if (!options_.webhook.empty()) address_ = lamps::web_address(options_.webhook);
  }

  const AlertOptions& options() const { return options_; }

  void add(Alert alert) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (static_cast<int64_t>(waiting_.size()) < options_.most_waiting) {
        waiting_.push_back(std::move(alert));
        changed_.notify_all();
        return;
      }
    }
    fail("an alert is left out: " + std::to_string(options_.most_waiting) +
         " others wait for the one that is being sent");
  }

  // Sends alerts until the queue is closed; the thread runs this.
  void send_all() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !waiting_.empty() || is_closed_; });
      if (waiting_.empty() || is_given_up_) break;
      const Alert alert = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      send(alert);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    is_done_ = true;
    changed_.notify_all();
  }

  // Sends what waits, for one time limit. The alert that is under way then ends by its own limit.
  // Returns false if it does not.
  bool close() {
    std::unique_lock<std::mutex> lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    const auto is_done = [this] { return is_done_; };
    if (changed_.wait_until(lock, in_seconds(options_.limit_s), is_done)) return true;
    is_given_up_ = true;
    const bool is_rest_lost = !waiting_.empty();
    lock.unlock();
    if (is_rest_lost) fail("alerts that wait at the end of the run are not sent");
    lock.lock();
    return changed_.wait_until(lock, in_seconds(options_.limit_s + 0.1), is_done);
  }

  void fail(const std::string& what) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (has_failed_) return;
      has_failed_ = true;
    }
    const std::string text = what + "; training goes on, and further failures are not told";
    try {
      if (options_.on_warning) return options_.on_warning(text);
    } catch (...) {
      // A warning function that throws cannot be used, so stderr gets the text.
    }
    std::fprintf(stderr, "flightdeck: %s\n", text.c_str());
  }

 private:
  void send(const Alert& alert) {
    if (!options_.command.empty()) {
      const std::string wrong = lamps::run_command(
          options_.command, alert.json, alert.environment, in_seconds(options_.limit_s));
      if (!wrong.empty()) fail("the alert command '" + options_.command + "' " + wrong);
    }
    if (address_) {
      const std::string wrong =
          lamps::post_json(*address_, alert.json, in_seconds(options_.limit_s));
      if (!wrong.empty()) fail("the alert webhook " + options_.webhook + " " + wrong);
    }
  }

  const AlertOptions options_;
  std::optional<lamps::WebAddress> address_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Alert> waiting_;
  bool is_closed_ = false, is_done_ = false, is_given_up_ = false, has_failed_ = false;
};

// Closes the queue when the last copy of the function that alerts is gone.
class AlertSender {
 public:
  explicit AlertSender(AlertOptions options)
      : queue_(std::make_shared<AlertQueue>(std::move(options))),
        thread_([queue = queue_] { queue->send_all(); }) {}
  ~AlertSender() {
    if (queue_->close()) {
      thread_.join();
    } else {
      thread_.detach();  // inside of the system's search for a name, which knows no limit
    }
  }
  AlertSender(const AlertSender&) = delete;
  AlertSender& operator=(const AlertSender&) = delete;

  void add(const Finding& finding, const Diagnosis& diagnosis) {
    const std::string& run = queue_->options().run;
    queue_->add(
        {alert_json(run, finding, diagnosis),
         {{"FLIGHTDECK_RUN", run},
          {"FLIGHTDECK_LAMP", finding.lamp},
          {"FLIGHTDECK_SEVERITY", to_string(finding.severity)},
          {"FLIGHTDECK_STEP", std::to_string(finding.step)},
          {"FLIGHTDECK_TEXT", (finding.symptom + ". " + finding.text()).substr(0, kMostText)}}});
  }

 private:
  std::shared_ptr<AlertQueue> queue_;
  std::thread thread_;
};

// Returns the page of the cause that the diagnosis claims, else that of the lamp.
const std::string& page_of(const Finding& finding, const Diagnosis& diagnosis) {
  const bool is_claimed = diagnosis.verdict == Verdict::kFault && !diagnosis.causes.empty() &&
                          !diagnosis.causes.front().page.empty();
  return is_claimed ? diagnosis.causes.front().page : finding.page;
}

}  // namespace

std::string alert_json(const std::string& run, const Finding& finding, const Diagnosis& diagnosis) {
  record::JsonWriter out;
  out.begin_object();
  out.field("run", run);
  out.field("lamp", finding.lamp);
  out.field("severity", std::string(to_string(finding.severity)));
  out.field("step", finding.step);
  out.field("quantity", finding.quantity);
  out.field("symptom", finding.symptom);
  out.field("evidence", finding.evidence);
  out.field("cause", finding.cause);
  out.field("advice", finding.advice);
  out.field("page", page_of(finding, diagnosis));
  out.field("diagnosis", diagnosis.sentence);
  out.end_object();
  return out.take();
}

OnFinding alerts(AlertOptions options) {
  if (options.command.empty() && options.webhook.empty()) {
    throw std::invalid_argument(
        "alerts: neither options.command nor options.webhook is set; name one of them");
  }
  const auto sender = std::make_shared<AlertSender>(std::move(options));
  return [sender](const Finding& finding, const Diagnosis& diagnosis) {
    sender->add(finding, diagnosis);
  };
}

}  // namespace flightdeck
