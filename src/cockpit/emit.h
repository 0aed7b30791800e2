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

struct NamedValue;

// Turns tensors of any type into doubles on the CPU together, by one copy per device.
class Transfer {
 public:
  // `finish` puts the numbers in the place of the tensor, which must live until then. An undefined
  // tensor stays undefined.
  void add(Tensor& tensor);
  void add(std::vector<Tensor>& tensors);
  void add(std::vector<NamedValue>& values);
  // Copies behind what each device has queued and waits for none of it. Nothing is added after it.
  void start();
  // Returns true if `finish` will not wait.
  bool is_here() const;
  void finish();

 private:
  // Holds what one device sends.
  struct Packet {
    std::vector<Tensor*> tensors;
    Tensor packed, copy;  // [n] there, and here
    std::unique_ptr<c10::Event> event;
    bool is_here = false;  // where the CPU plays a GPU
  };

  std::vector<Tensor*> tensors_;
  std::vector<Packet> packets_;
};

// Holds what a quantity said. A transfer puts numbers in the place of its tensors.
struct NamedValue {
  std::string quantity;
  std::vector<Value::Field> fields;
  std::vector<Value::Remark> remarks;

  // Returns true if none of its tensors is on a device.
  bool is_here() const;
};

using NamedValues = std::vector<NamedValue>;

// Fetches values at once, for where there is nothing to gain from not waiting.
void fetch(NamedValues& values);

// Throws if the value does not fit the groups.
void check_value(const std::string& quantity, const Value& value, const Groups& groups);

// Return the readings of values that were fetched, and what they say in words: quantity and text.
std::vector<Reading> readings_of(const NamedValues& values, const Groups& groups);
std::vector<std::pair<std::string, std::string>> remarks_of(const NamedValues& values);

}  // namespace flightdeck
