// SPDX-License-Identifier: MIT
#include "cockpit/crew_packet.h"

#include <ATen/ATen.h>

namespace flightdeck {

size_t Packet::add(int64_t numel, const Tensor& own) { return add_at(numel, 0, own); }

size_t Packet::add_at(int64_t numel, int64_t first, const Tensor& own) {
  TORCH_INTERNAL_ASSERT(!own.defined() || first + own.numel() <= numel);
  entries_.push_back({numel_, numel, first, own});
  numel_ += numel;
  return entries_.size() - 1;
}

void Packet::pack(const Ranks& ranks) {
  const at::NoGradGuard no_grad;
  const auto options = at::TensorOptions(at::kDouble).device(ranks.device());
  packed_ = at::zeros({numel_}, options);
  for (Entry& entry : entries_) {
    if (!entry.own.defined() || entry.own.numel() == 0) continue;
    packed_.narrow(0, entry.begin + entry.first, entry.own.numel())
        .copy_(entry.own.detach().reshape({-1}));
    entry.own = Tensor();
  }
}

void Packet::exchange(Ranks& ranks) {
  if (!packed_.defined()) pack(ranks);
  sums_ = ranks.sum(packed_);
  packed_ = Tensor();
}

Tensor Packet::get(size_t entry) const {
  return sums_.narrow(0, entries_[entry].begin, entries_[entry].numel);
}

std::vector<double> Packet::numbers(size_t entry) const {
  const Tensor here = get(entry).cpu().contiguous();
  return {here.data_ptr<double>(), here.data_ptr<double>() + here.numel()};
}

}  // namespace flightdeck
