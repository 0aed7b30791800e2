// SPDX-License-Identifier: MIT
// The rows of a finished pass, for directions that are known only after it.
#pragma once

#include <vector>

#include "flightdeck/gradients.h"
#include "rows/rows.h"

namespace flightdeck {

class FactoredRows final : public KeptRows {
 public:
  // Expects `count` rows per parameter; a parameter that is never given rows has zero ones. Factors
  // are copied where they share memory with `leaves`, which optimizers change in place.
  FactoredRows(Parameters parameters,
               int64_t count,
               int64_t scratch_bytes,
               std::vector<Tensor> leaves);

  // Keeps rows that are to be multiplied by `factor` (one element, or undefined for 1), and their
  // products with their mean, if these are known, without it.
  void keep(size_t parameter,
            const Rows& rows,
            const Tensor& factor,
            const Tensor& mean_dots = Tensor());

  // Returns true if rows that are formed for these questions had better be kept written out.
  bool wants_written(const Rows& rows, const Questions& questions) const;
  // Keeps rows that are written out: `dense` [N, *shape] is a view with the output channels last in
  // memory, as convolutions give it.
  void keep_written(size_t parameter, const Tensor& dense, const Tensor& factor);

  Tensor dots(const std::vector<Tensor>& directions) const override;
  // The same where something is known of the directions [1, *shape].
  Tensor dots(const std::vector<Tensor>& directions, const KnownDirections& known) const;
  // Finds which directions [1, *shape] are multiples of the means of these rows. `is_tried` says of
  // which parameters that is worth trying; a parameter whose direction is none is not tried again.
  std::shared_ptr<const KnownDirections> know(const std::vector<Tensor>& directions,
                                              std::vector<bool>& is_tried) const;
  // Returns the products without the sum over the parameters: [N, V] each.
  std::vector<Tensor> dots_by_parameter(const std::vector<Tensor>& directions) const;

 private:
  struct Kept {
    Rows rows;
    Tensor factor;
    Tensor mean_dots;                // [N] in double, or undefined
    std::vector<uint32_t> versions;  // of the factors
  };

  void check_unmodified(size_t parameter) const;
  Tensor dots_of(size_t parameter, const Questions& questions) const;

  Parameters parameters_;
  int64_t count_;
  int64_t scratch_bytes_;
  std::vector<Tensor> leaves_;
  std::vector<Kept> kept_;
};

// Throws, naming the caller and its field, unless there is one tensor [V, *shape] per parameter.
void check_directions(const std::vector<Tensor>& directions,
                      const Parameters& parameters,
                      const char* caller,
                      const char* field);

}  // namespace flightdeck
