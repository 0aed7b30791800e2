// SPDX-License-Identifier: MIT
// The bytes of TensorBoard's event files: Protocol Buffers messages of type Event in TFRecord
// frames. They are encoded by hand, since five fields do not need the library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flightdeck/reading.h"

namespace flightdeck::record {

// Frames a message: its length and its content, each followed by its masked CRC-32C.
std::string tensorboard_frame(std::string_view message);

// Returns the first message of a file, the version of its format.
std::string tensorboard_version(double wall_time);

// Returns a message of several values of one step. The two below append fields of Summary.Value.
std::string tensorboard_event(double wall_time, int64_t step, std::string_view values);
void put_scalar(std::string& values, const std::string& tag, double number);
// Appends a histogram, which has one axis. What fell outside is counted in buckets of no width at
// its ends; sums are those of the middles of the bins.
void put_histogram(std::string& values, const std::string& tag, const Reading& histogram);

}  // namespace flightdeck::record
