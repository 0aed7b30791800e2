// SPDX-License-Identifier: MIT
// Turns values into plain readings; what lives on a device is fetched in one transfer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flightdeck/quantity.h"
#include "flightdeck/reading.h"

namespace flightdeck {

// Tensors of any type that become doubles on the CPU together, by one transfer per device.
class Transfer {
 public:
  // `run` puts the numbers in the place of the tensor, which must live until then. An undefined
  // tensor stays undefined.
  void add(Tensor& tensor);
  void add(std::vector<Tensor>& tensors);
  void run();

 private:
  std::vector<Tensor*> tensors_;
};

// Values with the name of their quantity.
using NamedValues = std::vector<std::pair<std::string, Value>>;

// Throws if the value does not fit the groups.
void check_value(const std::string& quantity, const Value& value, const Groups& groups);

// `fetched` are the tensors that `tensors_of` named, after their transfer.
std::vector<Tensor> tensors_of(const NamedValues& values);
std::vector<Reading> readings_of(const NamedValues& values,
                                 const std::vector<Tensor>& fetched,
                                 const Groups& groups);

// What the values have to say in words: quantity and text.
std::vector<std::pair<std::string, std::string>> remarks_of(const NamedValues& values,
                                                            const std::vector<Tensor>& fetched);

}  // namespace flightdeck
