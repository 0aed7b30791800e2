// SPDX-License-Identifier: MIT
#include "cockpit/late_values.h"

#include <algorithm>
#include <utility>

namespace flightdeck {
namespace {

constexpr size_t kMostHeld = 100;
constexpr std::chrono::seconds kLongest(1);

}  // namespace

bool LateValues::may_hold(const NamedValues& values) const {
  const std::vector<Tensor> numbers = tensors_of(values);
  const bool is_away = std::any_of(
      numbers.begin(), numbers.end(), [](const Tensor& tensor) { return !tensor.is_cpu(); });
  if (!is_away || items_.size() >= kMostHeld) return false;
  return items_.empty() || std::chrono::steady_clock::now() - first_ < kLongest;
}

void LateValues::hold(Item item) {
  if (items_.empty()) first_ = std::chrono::steady_clock::now();
  items_.push_back(std::move(item));
}

void LateValues::add_to(Transfer& transfer) {
  for (Item& item : items_) {
    item.numbers = tensors_of(item.values);
    transfer.add(item.numbers);
  }
}

std::vector<LateValues::Item> LateValues::take() { return std::exchange(items_, {}); }

}  // namespace flightdeck
