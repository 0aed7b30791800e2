// SPDX-License-Identifier: MIT
#include "suite/nets/wide_resnet.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem svhn_wrn164() {
  Problem problem = colour_images(10);
  problem.name = "svhn_wrn164";
  problem.summary = "wide residual network 16-4, with batch norm, on house numbers";
  problem.data_set = "svhn";
  problem.parameters = 2748890;
  problem.epochs = 160;
  problem.l2 = 5e-4;
  problem.benchmark_place = 7;
  problem.target = 0.9501991843298437;
  problem.build = [] { return nets::wide_resnet(16, 10); };
  return problem;
}

}  // namespace flightdeck::suite::problems
