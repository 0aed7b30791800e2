// SPDX-License-Identifier: MIT
// The network of the published overhead, which had identities in the place of batch norm.
#include "suite/nets/resnet.h"
#include "suite/problems/classification.h"

namespace flightdeck::suite::problems {

Problem imagenet_resnet50_no_norm() {
  Problem problem = photographs();
  problem.name = "imagenet_resnet50_no_norm";
  problem.summary = "the same network of 50 layers without batch norm, for benchmarks";
  problem.parameters = 25505961;
  problem.batch_size = 64;
  problem.build = [] { return nets::resnet50(1001, nets::Normalisation::kNone); };
  return problem;
}

}  // namespace flightdeck::suite::problems
