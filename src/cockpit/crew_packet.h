// SPDX-License-Identifier: MIT
// Numbers of several kinds that all ranks add up in one collective.
#pragma once

#include <cstdint>
#include <vector>

#include "flightdeck/ranks.h"

namespace flightdeck {

// Every rank adds the same entries in the same order; what it has to give to them may differ. The
// ranks add up, and what is at a place of one rank alone is thereby gathered.
class Packet {
 public:
  // Adds an entry of `numel` numbers and returns its position. An undefined `own` gives nothing.
  size_t add(int64_t numel, const Tensor& own = {});
  // Does the same where `own` stands from `first` on.
  size_t add_at(int64_t numel, int64_t first, const Tensor& own);

  bool is_empty() const { return numel_ == 0; }
  int64_t bytes() const { return numel_ * static_cast<int64_t>(sizeof(double)); }
  // Puts what this rank gives in one place and lets go of it. May throw: out of memory.
  void pack(const Ranks& ranks);
  // Adds up over the ranks, a collective. Calls `pack` first if nobody has.
  void exchange(Ranks& ranks);
  // Returns the sum over the ranks, [numel] in double.
  Tensor get(size_t entry) const;
  // Returns the same as numbers.
  std::vector<double> numbers(size_t entry) const;

 private:
  struct Entry {
    int64_t begin, numel, first;
    Tensor own;
  };

  std::vector<Entry> entries_;
  int64_t numel_ = 0;
  Tensor packed_, sums_;
};

}  // namespace flightdeck
