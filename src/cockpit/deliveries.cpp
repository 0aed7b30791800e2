// SPDX-License-Identifier: MIT
#include "cockpit/deliveries.h"

#include <algorithm>
#include <utility>

namespace flightdeck {
namespace {

// Values of light steps are held until one of these limits is reached, and are then fetched
// together. A run that is looked at live lags behind by a second at most.
constexpr size_t kMostHeld = 100;
constexpr std::chrono::seconds kLongest(1);
// The most steps whose values are on their way from the device. If it falls further behind, the
// cockpit waits for it.
constexpr size_t kMostUnderWay = 32;

bool is_here(const NamedValues& values) {
  return std::all_of(
      values.begin(), values.end(), [](const NamedValue& value) { return value.is_here(); });
}

}  // namespace

void Deliveries::hold(Delivery delivery) {
  const auto now = std::chrono::steady_clock::now();
  const bool waits = !is_here(delivery.values);
  if (held_.empty()) first_ = now;
  held_.push_back(std::make_unique<Delivery>(std::move(delivery)));
  if (!waits || held_.size() >= kMostHeld || now - first_ >= kLongest) start();
}

void Deliveries::send(Delivery delivery) {
  held_.push_back(std::make_unique<Delivery>(std::move(delivery)));
  start();
}

void Deliveries::start() {
  if (held_.empty()) return;
  auto freight = std::make_unique<Freight>();
  freight->deliveries = std::exchange(held_, {});
  for (const auto& delivery : freight->deliveries) {
    freight->transfer.add(delivery->values);
    if (delivery->fetched) delivery->fetched->add_to(freight->transfer);
    if (delivery->completed) delivery->completed->add_to(freight->transfer);
  }
  freight->transfer.start();
  under_way_.push_back(std::move(freight));
}

void Deliveries::take_first(std::vector<std::unique_ptr<Delivery>>& taken) {
  under_way_.front()->transfer.finish();
  for (auto& delivery : under_way_.front()->deliveries) taken.push_back(std::move(delivery));
  under_way_.pop_front();
}

std::vector<std::unique_ptr<Delivery>> Deliveries::take_fetched() {
  std::vector<std::unique_ptr<Delivery>> taken;
  while (!under_way_.empty() &&
         (under_way_.size() > kMostUnderWay || under_way_.front()->transfer.is_here())) {
    take_first(taken);
  }
  return taken;
}

std::vector<std::unique_ptr<Delivery>> Deliveries::take_all() {
  start();
  std::vector<std::unique_ptr<Delivery>> taken;
  while (!under_way_.empty()) take_first(taken);
  return taken;
}

}  // namespace flightdeck
