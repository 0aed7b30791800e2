// SPDX-License-Identifier: MIT
// Turns values into plain readings; what lives on a device is fetched in one transfer.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Event.h>

#include "flightdeck/quantity.h"
#include "flightdeck/reading.h"

namespace flightdeck {

// Tensors of any type that become doubles on the CPU together, by one copy per device.
class Transfer {
 public:
  // `finish` puts the numbers in the place of the tensor, which must live until then. An undefined
  // tensor stays undefined.
  void add(Tensor& tensor);
  void add(std::vector<Tensor>& tensors);
  // Copies behind what each device has queued and waits for none of it. Nothing is added after it.
  void start();
  // True if `finish` will not wait.
  bool has_arrived() const;
  void finish();

 private:
  // What one device sends.
  struct Packet {
    std::vector<Tensor*> tensors;
    Tensor packed, arrived;  // [n] there, and here
    std::unique_ptr<c10::Event> event;
  };

  std::vector<Tensor*> tensors_;
  std::vector<Packet> packets_;
};

// The same at once, for tensors of which none is worth not waiting for.
std::vector<Tensor> fetched(std::vector<Tensor> tensors);

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
