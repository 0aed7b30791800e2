// SPDX-License-Identifier: MIT
#include "suite/batches.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck::suite {

Batches::Batches(const DataSet& data, Part part, const BatchOptions& options)
    : samples_(data.part(part)), prepare_(data.prepare), options_(options) {
  if (options_.streams) options_.drop_last = true;
  if (part == Part::kTrain) augment_ = data.augment;
  TORCH_CHECK_VALUE(options.batch_size > 0,
                    "batches: batch size is ",
                    options.batch_size,
                    " but must be at least 1");
  TORCH_CHECK_VALUE(per_epoch() > 0,
                    "batches: batch size is ",
                    options.batch_size,
                    " but the part ",
                    name_of(part),
                    " of ",
                    data.name,
                    " has only ",
                    samples_.size(),
                    " samples; choose a smaller batch");
  start_epoch(0);
}

int64_t Batches::per_epoch() const {
  const int64_t full = samples_.size() / options_.batch_size;
  const bool has_rest = samples_.size() % options_.batch_size != 0;
  return full + (has_rest && !options_.drop_last ? 1 : 0);
}

void Batches::start_epoch(int64_t epoch) {
  epoch_ = epoch;
  position_ = 0;
  constexpr uint64_t kFirstPurpose = 16;  // those below draw data and splits
  generator_ = generator_of(options_.seed, kFirstPurpose + static_cast<uint64_t>(epoch));
  if (options_.streams) {
    const int64_t used = per_epoch() * options_.batch_size;
    order_ = at::arange(used, at::kLong).view({options_.batch_size, -1}).t().flatten();
  } else if (options_.shuffle) {
    order_ = permutation(generator_, samples_.size());
  } else {
    order_ = at::arange(samples_.size(), at::kLong);
  }
}

Batch Batches::next() {
  const int64_t begin = position_ * options_.batch_size;
  Batch batch;
  batch.indices = order_.slice(0, begin, std::min(begin + options_.batch_size, samples_.size()));
  batch.ids =
      samples_.places.defined() ? samples_.places.index_select(0, batch.indices) : batch.indices;
  const bool is_here = samples_.inputs.is_cpu();
  const Tensor places = is_here ? batch.indices : batch.indices.to(samples_.inputs.device());
  Tensor stored = samples_.inputs.index_select(0, places);
  if (augment_) stored = augment_(stored, generator_);
  batch.inputs = prepare_(stored);
  batch.targets = samples_.targets.index_select(0, places);
  if (++position_ == per_epoch()) start_epoch(epoch_ + 1);
  return batch;
}

}  // namespace flightdeck::suite
