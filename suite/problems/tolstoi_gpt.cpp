// SPDX-License-Identifier: MIT
// This problem is not of DeepOBS: it stands for the networks of today.
#include "suite/nets/gpt.h"
#include "suite/problems/classification.h"
#include "suite/text.h"

namespace flightdeck::suite::problems {

Problem tolstoi_gpt() {
  Problem problem = next_characters(kVocabulary, kTextLength);
  problem.name = "tolstoi_gpt";
  problem.summary = "a GPT, 4 layers, d = 128, predicts the next character of War and Peace";
  problem.parameters = 820992;
  problem.batch_size = 50;
  problem.epochs = 20;
  problem.has_published_budget = false;
  problem.build = &nets::gpt;
  return problem;
}

}  // namespace flightdeck::suite::problems
