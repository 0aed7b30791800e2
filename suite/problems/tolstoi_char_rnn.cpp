// SPDX-License-Identifier: MIT
#include "suite/nets/char_rnn.h"
#include "suite/problems/classification.h"
#include "suite/text.h"

namespace flightdeck::suite::problems {

Problem tolstoi_char_rnn() {
  Problem problem = next_characters(kVocabulary, kTextLength);
  problem.name = "tolstoi_char_rnn";
  problem.summary = "two LSTM layers predict the next character of War and Peace";
  problem.parameters = 284499;
  problem.batch_size = 50;
  problem.epochs = 200;
  problem.carries_state = true;
  problem.benchmark_place = 8;
  problem.target = 0.6045863566200845;
  problem.build = &nets::char_rnn;
  return problem;
}

}  // namespace flightdeck::suite::problems
