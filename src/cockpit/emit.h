// SPDX-License-Identifier: MIT
// Turns values into plain readings; what lives on a device is fetched in one transfer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flightdeck/quantity.h"
#include "flightdeck/reading.h"

namespace flightdeck {

/// Fetches tensors of any type as doubles, all of them in one transfer per device.
std::vector<Tensor> fetch(const std::vector<Tensor>& tensors);

/// Values with the name of their quantity.
using NamedValues = std::vector<std::pair<std::string, Value>>;

/// Throws if the value does not fit the groups.
void check_value(const std::string& quantity, const Value& value, const Groups& groups);

/// `fetched` are the tensors that `tensors_of` named, fetched.
std::vector<Tensor> tensors_of(const NamedValues& values);
std::vector<Reading> readings_of(const NamedValues& values,
                                 const std::vector<Tensor>& fetched,
                                 const Groups& groups);

}  // namespace flightdeck
