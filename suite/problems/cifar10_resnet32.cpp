// SPDX-License-Identifier: MIT
// Batch size and epochs are those with which ViViT's authors trained it, without a penalty.
#include "suite/nets/resnet.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem cifar10_resnet32() {
  Problem problem = colour_images(10);
  problem.name = "cifar10_resnet32";
  problem.summary = "residual network of 32 layers, with batch norm, on photographs";
  problem.data_set = "cifar10";
  problem.parameters = 464154;
  problem.epochs = 180;
  problem.build = [] { return nets::small_resnet(32, 10); };
  return problem;
}

}  // namespace flightdeck::suite::problems
