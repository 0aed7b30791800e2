// SPDX-License-Identifier: MIT
#include "rules/picking.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {

int64_t Picking::count() const {
  return std::count_if(
      places.begin(), places.end(), [](const Tensor& place) { return place.defined(); });
}

int64_t Picking::whole_dim(int64_t dim) const {
  int64_t left = dim < first ? dim : dim - rank;
  for (size_t k = 0; k < places.size(); ++k) {
    if (!picks(k) && left-- == 0) return static_cast<int64_t>(k);
  }
  TORCH_INTERNAL_ASSERT(false, "dimension ", dim, " was not taken whole");
}

int64_t Picking::dim_of_whole(int64_t dim) const {
  int64_t before = 0;
  for (int64_t k = 0; k < dim; ++k) before += picks(k) ? 0 : 1;
  return before < first ? before : before + rank;
}

c10::List<c10::optional<Tensor>> Picking::behind_stack() const {
  c10::List<c10::optional<Tensor>> indices;
  indices.push_back(c10::nullopt);
  for (const Tensor& place : places) {
    indices.push_back(place.defined() ? c10::optional<Tensor>(place) : c10::nullopt);
  }
  return indices;
}

Picking picking_of(const NodeView& node,
                   const std::vector<compat::ag::SavedVariable>& indices,
                   const Shape& shape) {
  Picking picking;
  for (const auto& saved : indices) {
    const Tensor index = node.unpack(saved);
    const bool is_mask =
        index.defined() && (index.scalar_type() == at::kBool || index.scalar_type() == at::kByte);
    if (!is_mask) {
      picking.places.push_back(index);
      continue;
    }
    for (const Tensor& places : index.nonzero().unbind(1)) picking.places.push_back(places);
  }
  picking.places.resize(shape.size());
  std::vector<Tensor> given;
  for (const Tensor& places : picking.places) {
    if (places.defined()) given.push_back(places);
  }
  if (given.empty()) return picking;
  given = at::broadcast_tensors(given);
  picking.rank = given[0].dim();
  int64_t first = -1, last = -1, next = 0;
  for (size_t k = 0; k < picking.places.size(); ++k) {
    if (!picking.picks(k)) continue;
    picking.places[k] = given[next++];
    if (first < 0) first = static_cast<int64_t>(k);
    last = static_cast<int64_t>(k);
  }
  picking.is_in_front = last - first + 1 != next;
  picking.first = picking.is_in_front ? 0 : first;
  return picking;
}

}  // namespace flightdeck
