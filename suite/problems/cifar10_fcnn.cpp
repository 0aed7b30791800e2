// SPDX-License-Identifier: MIT
#include "suite/nets/fcnn.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_fcnn() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_fcnn";
  problem.summary = "eight dense layers with sigmoids on photographs, 10 classes";
  problem.data_set = "cifar10";
  problem.parameters = 3846810;
  problem.batch_size = 500;
  problem.has_published_budget = false;
  problem.build = [] { return nets::fcnn(); };
  return problem;
}

}  // namespace flightdeck::suite::problems
