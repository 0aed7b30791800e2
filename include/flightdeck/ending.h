// SPDX-License-Identifier: MIT
// How a run ended and how it stands, and the words for both. Free of LibTorch.
#pragma once

#include <string>

namespace flightdeck {

/// How a run ended.
enum class Ending {
  kFinished,     ///< as it was planned
  kInterrupted,  ///< somebody asked for it; it can be resumed
  kDiverged,     ///< a loss was not finite
  kFailed,       ///< by an exception
};

/// How a run stands: how it ended, or why it has not.
enum class RunStatus {
  kRunning,  ///< a process records it
  kFinished,
  kInterrupted,
  kDiverged,
  kFailed,
  kKilled,      ///< no process records it, and it did not end
  kUnreadable,  ///< what lies in its folder is no record that can be read
};

/// The word that stands for it in files, on the wire and on the screen: "finished".
inline const char* to_string(Ending ending) {
  switch (ending) {
    case Ending::kFinished:
      return "finished";
    case Ending::kInterrupted:
      return "interrupted";
    case Ending::kDiverged:
      return "diverged";
    case Ending::kFailed:
      return "failed";
  }
  return "";
}

inline RunStatus status_of(Ending ending) {
  switch (ending) {
    case Ending::kFinished:
      return RunStatus::kFinished;
    case Ending::kInterrupted:
      return RunStatus::kInterrupted;
    case Ending::kDiverged:
      return RunStatus::kDiverged;
    case Ending::kFailed:
      return RunStatus::kFailed;
  }
  return RunStatus::kFinished;
}

/// As for endings; "running", "killed" and "unreadable".
inline const char* to_string(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning:
      return "running";
    case RunStatus::kFinished:
      return to_string(Ending::kFinished);
    case RunStatus::kInterrupted:
      return to_string(Ending::kInterrupted);
    case RunStatus::kDiverged:
      return to_string(Ending::kDiverged);
    case RunStatus::kFailed:
      return to_string(Ending::kFailed);
    case RunStatus::kKilled:
      return "killed";
    case RunStatus::kUnreadable:
      return "unreadable";
  }
  return "";
}

/// The ending that a word stands for. Programs of earlier versions could end a run with any word:
/// one that is not known reads as kFinished, because the run did end.
inline Ending ending_of(const std::string& word) {
  for (const Ending ending : {Ending::kInterrupted, Ending::kDiverged, Ending::kFailed}) {
    if (word == to_string(ending)) return ending;
  }
  return Ending::kFinished;
}

}  // namespace flightdeck
