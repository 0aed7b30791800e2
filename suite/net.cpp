// SPDX-License-Identifier: MIT
#include "suite/net.h"

#include <torch/torch.h>

namespace flightdeck::suite {
namespace nets {

#define FLIGHTDECK_ENTRY(name) Net name();
#include "flightdeck/nets.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace nets

const std::vector<Net>& all_nets() {
  static const std::vector<Net> table = {
#define FLIGHTDECK_ENTRY(name) nets::name(),
#include "flightdeck/nets.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

const Net& find_net(const std::string& name) {
  std::string names;
  for (const Net& entry : all_nets()) {
    if (entry.name == name) return entry;
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  TORCH_CHECK_VALUE(false, "suite: there is no net '", name, "'; choose one of ", names);
}

Tensor random_labels(const Net& net, int64_t N) {
  return torch::randint(net.classes, {N}, torch::kLong);
}

Tensor individual_losses(const Tensor& logits, const Tensor& labels) {
  namespace F = torch::nn::functional;
  return F::cross_entropy(logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
}

}  // namespace flightdeck::suite
