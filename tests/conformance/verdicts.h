// SPDX-License-Identifier: MIT
// What became of each question to the engine: exact, remarked, refused, inherited, or wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace flightdeck::tests {

// An answer held to the oracle.
struct Answer {
  std::vector<std::string> differences;  // empty if the answer is right
  bool is_remarked = false;              // it differs, and a remark says what it is instead
  bool is_inherited = false;             // it differs as autograd's own rows do, no remark says so
};

// True if one of the remarks contains the word.
bool mentions(const std::vector<std::string>& remarks, const std::string& word);

// The verdicts on one case.
class Verdicts {
 public:
  // Takes the answer, or the refusal it throws. A refusal begins with the area that refuses; any
  // other exception is a failure, and so is an answer where only a refusal is right.
  void ask(const std::string& question,
           const std::function<Answer()>& answer,
           bool has_right_answer = true);

  int64_t exact = 0, remarked = 0, refused = 0, inherited = 0;
  std::set<std::string> features;  // of the questions: hooks, a second loss, ...
  std::vector<std::string> failures;
  std::vector<std::string> refusals;
};

}  // namespace flightdeck::tests
