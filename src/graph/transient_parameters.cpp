// SPDX-License-Identifier: MIT
#include "graph/transient_parameters.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include <c10/core/TensorImpl.h>

namespace flightdeck {
namespace {

using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

struct Told {
  std::string name;
  Weak tensor;
};

std::mutex mutex;
std::atomic<bool> has_any{false};

std::map<const c10::TensorImpl*, Told>& all() {
  static auto* told = new std::map<const c10::TensorImpl*, Told>();
  return *told;
}

}  // namespace

bool is_freed(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() && tensor.numel() > 0 &&
         tensor.storage().nbytes() == 0;
}

void add_transient(const std::string& name, const at::Tensor& whole) {
  const std::lock_guard<std::mutex> lock(mutex);
  // A later tensor may be at the address of one that is gone.
  for (auto it = all().begin(); it != all().end();) {
    it = it->second.tensor.expired() ? all().erase(it) : std::next(it);
  }
  all().insert_or_assign(whole.unsafeGetTensorImpl(), Told{name, Weak(whole.getIntrusivePtr())});
  has_any = true;
}

bool is_transient(const at::Tensor& tensor) {
  if (!has_any) return false;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = all().find(tensor.unsafeGetTensorImpl());
  return found != all().end() && !found->second.tensor.expired();
}

void check_transient() {
  if (!has_any) return;
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& [impl, told] : all()) {
    const auto tensor = told.tensor.lock();
    TORCH_CHECK_NOT_IMPLEMENTED(
        !tensor.defined() || !is_freed(at::Tensor(tensor)),
        "fully_shard has freed '",
        told.name,
        "' after the forward pass, which this needs in a pass of its own; "
        "reshard_after_forward=False "
        "keeps it, or leave out what needs one: curvature, eigenvalues, individual gradients that "
        "take a pass per sample");
  }
}

}  // namespace flightdeck
