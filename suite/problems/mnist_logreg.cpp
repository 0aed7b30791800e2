// SPDX-License-Identifier: MIT
#include "suite/nets/logreg.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem mnist_logreg() {
  Problem problem = grey_images(10);
  problem.name = "mnist_logreg";
  problem.summary = "logistic regression on handwritten digits";
  problem.data_set = "mnist";
  problem.parameters = 7850;
  problem.epochs = 50;
  problem.build = &nets::logreg;
  return problem;
}

}  // namespace flightdeck::suite::problems
