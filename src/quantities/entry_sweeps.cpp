// SPDX-License-Identifier: MIT
#include "quantities/entry_sweeps.h"

#include "quantities/entry_stats.h"

namespace flightdeck {

Tensor EntrySweeps::of_kept(const Tensor& values, const Layout& layout) {
  const auto* storage = values.storage().unsafeGetStorageImpl();
  for (const Kept& one : kept_) {
    // A storage that is gone may have left its address to another one.
    if (one.storage._unsafe_get_target() != storage || one.storage.expired()) continue;
    if (one.offset == values.storage_offset() && one.type == values.scalar_type() &&
        values.sizes() == at::IntArrayRef(one.sizes) &&
        values.strides() == at::IntArrayRef(one.strides)) {
      return one.stats;
    }
  }
  Tensor stats = entry_stats(values, range_of(values.scalar_type()), layout);
  kept_.push_back({c10::weak_intrusive_ptr<c10::StorageImpl>(values.storage().getWeakStorageImpl()),
                   values.storage_offset(),
                   values.sizes().vec(),
                   values.strides().vec(),
                   values.scalar_type(),
                   stats});
  return stats;
}

Tensor EntrySweeps::of_heard(const Tensor& gradient, const Layout& layout) {
  if (!heard_.empty() && !heard_.front().tensor.expired() &&
      heard_.front().tensor._unsafe_get_target() == gradient.unsafeGetTensorImpl()) {
    return heard_.front().stats;
  }
  heard_.clear();
  Tensor stats = entry_stats(gradient, range_of(gradient.scalar_type()), layout);
  heard_.push_back({c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>(
                        gradient.getIntrusivePtr()),
                    stats});
  return stats;
}

}  // namespace flightdeck
