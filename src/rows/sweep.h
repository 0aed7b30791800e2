// SPDX-License-Identifier: MIT
// One sweep over rows, a piece at a time, that serves several answers.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "rows/answer.h"
#include "rows/sums.h"

namespace flightdeck {

class Sweep {
 public:
  Sweep(const Asked& asked, const Questions& questions, const RowsSize& size);

  const Look& look() const { return look_; }
  const RowsSize& size() const { return size_; }
  Sums& sums() { return sums_; }

  // Adds pieces as Sums does. `is_summed`: the fused kernel has written sum, squares and norms.
  void add(const Piece& piece, bool is_summed = false);
  void add_pair(const Piece& piece, const Piece& later);

  // Writes the answers, whose entries have this shape.
  void finish(const Shape& shape, Answers& answers);

 private:
  struct Asking {
    const Answer* answer;
    Look look;
    std::unique_ptr<Accumulator> accumulator;
  };

  Look look_;
  RowsSize size_;
  Sums sums_;
  std::vector<Asking> parts_;  // those that give norms to others come first
};

// Describes rows that can be written out, a few samples at a time.
struct Writable {
  RowsSize size;
  std::function<Tensor(int64_t begin, int64_t end)> rows;  // [end - begin, ...]
  std::function<Tensor()> sum;  // [entries]; called if it must be known beforehand
};

// Sweeps over pieces of `samples_at_once` samples.
void sweep_samples(const Writable& writable,
                   int64_t samples_at_once,
                   const Questions& questions,
                   Sweep& sweep);

}  // namespace flightdeck
