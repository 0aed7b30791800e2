// SPDX-License-Identifier: MIT
// Cuts a part of a data set into batches, epoch after epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/data_set.h"
#include "suite/problem.h"

namespace flightdeck::suite {

struct BatchOptions {
  int64_t batch_size = 128;
  bool shuffle = true;    ///< a new full permutation every epoch; false: in order
  bool drop_last = true;  ///< leaves out the rest that does not fill a batch
  /// Serves networks that carry a state. The samples, which follow one another in a text, are cut
  /// into N equal stretches, and batch k holds the k-th sample of each, neither shuffled nor with a
  /// rest.
  bool streams = false;
  uint64_t seed = 42;  ///< of order and augmentation
};

/// Order and augmentation of epoch e depend on the seed and e alone, so a run can start anywhere.
/// The training part is augmented where the data set has an augmentation.
class Batches {
 public:
  /// Throws if the part has no full batch and `drop_last` is set.
  Batches(const DataSet& data, Part part, const BatchOptions& options);

  int64_t per_epoch() const;                      ///< batches in an epoch
  int64_t epoch() const { return epoch_; }        ///< of the batch that `next` returns
  int64_t position() const { return position_; }  ///< within the epoch, of the batch `next` returns

  /// Goes to the start of this epoch.
  void start_epoch(int64_t epoch);
  /// Returns the next batch, on the device of the data; after the last one of an epoch the next
  /// epoch starts.
  Batch next();

 private:
  Samples samples_;
  std::function<Tensor(const Tensor&)> prepare_;
  std::function<Tensor(const Tensor&, Generator&)> augment_;
  BatchOptions options_;
  Generator generator_;
  Tensor order_;  // int64, on the CPU
  int64_t epoch_ = 0;
  int64_t position_ = 0;
};

}  // namespace flightdeck::suite
