// SPDX-License-Identifier: MIT
#include "suite/nets/resnet.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem imagenet_resnet50() {
  Problem problem = photographs();
  problem.name = "imagenet_resnet50";
  problem.summary = "residual network of 50 layers, with batch norm, on ImageNet";
  problem.parameters = 25559081;
  problem.batch_size = 64;
  problem.build = [] { return nets::resnet50(1001); };
  return problem;
}

}  // namespace flightdeck::suite::problems
