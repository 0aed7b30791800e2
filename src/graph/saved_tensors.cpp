// SPDX-License-Identifier: MIT
#include "graph/saved_tensors.h"

#include <atomic>

namespace flightdeck {
namespace {

std::atomic<HookedReader> hooked_reader{&read_outside_pass};

}  // namespace

void set_hooked_reader(HookedReader reader) { hooked_reader = reader; }
bool may_have_hooks() { return hooked_reader != &read_outside_pass; }

at::Tensor read_outside_pass(const compat::ag::SavedVariable& saved, const compat::NodePtr& node) {
  at::Tensor tensor;
  compat::outside_pass(node->input_metadata(0).device(), [&] { tensor = saved.unpack(node); });
  return tensor;
}

at::Tensor read_saved(const compat::ag::SavedVariable& saved, compat::ag::Node& node) {
  const compat::NodePtr holder = compat::pointer_to(node);
  const bool is_lent = compat::nodes_of_pass() != nullptr && compat::has_hooks(saved);
  return is_lent ? hooked_reader.load()(saved, holder) : saved.unpack(holder);
}

}  // namespace flightdeck
