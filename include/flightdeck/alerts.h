// SPDX-License-Identifier: MIT
// Tells findings to a command or a webhook that the user names. Free of LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "flightdeck/finding_sink.h"

namespace flightdeck {

struct AlertOptions {
  /// Started by /bin/sh for every finding, one at a time. It has the finding as one JSON object on
  /// its standard input, and FLIGHTDECK_RUN, _LAMP, _SEVERITY, _STEP and _TEXT in its environment;
  /// what it prints is dropped. Empty: none.
  std::string command;
  /// http://HOST[:PORT][/PATH], to which the same object is posted; redirections are not followed.
  /// For https take a command, such as curl. Empty: none.
  std::string webhook;
  std::string run;            ///< what the alerts call the run
  double limit_s = 10;        ///< for one alert, and for all that wait at the end of the run
  int64_t most_waiting = 16;  ///< alerts; further ones are left out
  /// Told the first failure, from any thread; the default writes to stderr.
  std::function<void(const std::string&)> on_warning;
};

/// A function for `Cockpit::on_finding` that alerts, by a thread of its own: training never waits
/// for it. A command that runs too long is killed with all that it started. When the last copy of
/// the function goes, what still waits is sent; that takes twice `limit_s` at most. Throws
/// std::invalid_argument if neither way is given, or the webhook is no address.
[[nodiscard]] OnFinding alerts(AlertOptions options);

/// What an alert says: {"run": ..., "lamp": ..., "severity": ..., "step": ..., "quantity": ...,
/// "symptom": ..., "evidence": ..., "cause": ..., "advice": ..., "diagnosis": ...}, the last one
/// the sentence of the diagnosis.
std::string alert_json(const std::string& run, const Finding& finding, const Diagnosis& diagnosis);

}  // namespace flightdeck
