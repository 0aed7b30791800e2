// SPDX-License-Identifier: MIT
// Takes the place of process_group.cpp where LibTorch has no distributed headers.
#include <c10/util/Exception.h>

#include "flightdeck/ranks.h"

namespace flightdeck {
namespace {

[[noreturn]] void refuse() {
  TORCH_CHECK_NOT_IMPLEMENTED(false,
                              "ranks_of: this LibTorch was built without process groups; build "
                              "against one that has them, or give functions to ranks_by");
}

}  // namespace

// The argument is never read, as a group cannot exist. It is a reference, so that its type need not
// be known.
std::shared_ptr<Ranks> ranks_of(const c10::intrusive_ptr<c10d::ProcessGroup>&, at::Device) {
  refuse();
}
std::shared_ptr<Ranks> ranks_of(const c10::intrusive_ptr<c10d::Backend>&, at::Device) { refuse(); }

}  // namespace flightdeck
