// SPDX-License-Identifier: MIT
#include "suite/nets/allcnnc.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar100_allcnnc() {
  Problem problem = colour_images(100);
  problem.name = "cifar100_allcnnc";
  problem.summary = "All-CNN-C, nine convolutions, on photographs, 100 classes";
  problem.data_set = "cifar100";
  problem.parameters = 1387108;
  problem.batch_size = 256;
  problem.epochs = 350;
  problem.l2 = 5e-4;
  problem.benchmark_place = 6;
  problem.target = 0.5256043511573971;
  problem.build = [] { return nets::allcnnc(100); };
  return problem;
}

}  // namespace flightdeck::suite::problems
