// SPDX-License-Identifier: MIT
#include "suite/nets/wide_resnet.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar100_wrn404() {
  Problem problem = colour_images(100);
  problem.name = "cifar100_wrn404";
  problem.summary = "wide residual network 40-4, with batch norm, on photographs, 100 classes";
  problem.data_set = "cifar100";
  problem.parameters = 8972340;
  problem.epochs = 160;
  problem.l2 = 5e-4;
  problem.build = [] { return nets::wide_resnet(40, 100); };
  return problem;
}

}  // namespace flightdeck::suite::problems
