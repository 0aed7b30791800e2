// SPDX-License-Identifier: MIT
#include "record/tensorboard_events.h"

#include <cstring>
#include <limits>
#include <vector>

#include "record/bytes.h"
#include "record/checksum.h"

namespace flightdeck::record {

namespace {

// The wire types of Protocol Buffers.
enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_key(std::string& out, int field, Wire wire) {
  put_varint(out, static_cast<uint64_t>(field) << 3 | wire);
}

void put_double_field(std::string& out, int field, double value) {
  put_key(out, field, kFixed64);
  put_double(out, value);
}

void put_bytes_field(std::string& out, int field, std::string_view bytes) {
  put_key(out, field, kBytes);
  put_string(out, bytes);
}

void put_packed_doubles(std::string& out, int field, const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) put_double(bytes, value);
  put_bytes_field(out, field, bytes);
}

// Scrambles the checksum as TFRecord does, because a checksum of data that holds checksums is weak.
uint32_t masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

// Holds TensorBoard's buckets. Each reaches from the limit before to its own, the first from `min`
// and the last to `max`.
struct Buckets {
  std::vector<double> limits, counts;
  double total = 0, sum = 0, sum_squares = 0;

  void add(double limit, double middle, int64_t entries) {
    const auto count = static_cast<double>(entries);
    limits.push_back(limit);
    counts.push_back(count);
    total += count;
    sum += count * middle;
    sum_squares += count * middle * middle;
  }
};

Buckets buckets_of(const Reading& histogram) {
  const ReadingAxis& axis = histogram.axes[0];
  const auto bins = static_cast<double>(histogram.counts.size());
  const auto edge = [&](size_t bin) {
    return axis.low + (axis.high - axis.low) * static_cast<double>(bin) / bins;
  };
  Buckets buckets;
  if (histogram.below != 0) buckets.add(axis.low, axis.low, histogram.below);
  for (size_t bin = 0; bin < histogram.counts.size(); ++bin) {
    const double left = edge(bin), right = edge(bin + 1);
    buckets.add(right, left + (right - left) / 2, histogram.counts[bin]);
  }
  if (histogram.above != 0) {
    buckets.add(std::numeric_limits<double>::max(), axis.high, histogram.above);
  }
  return buckets;
}

}  // namespace

std::string tensorboard_frame(std::string_view message) {
  std::string frame;
  put_u64(frame, message.size());
  put_u32(frame, masked_crc(std::string_view(frame.data(), 8)));
  frame.append(message);
  put_u32(frame, masked_crc(message));
  return frame;
}

std::string tensorboard_version(double wall_time) {
  std::string event;
  put_double_field(event, 1, wall_time);
  put_bytes_field(event, 3, "brain.Event:2");
  return event;
}

std::string tensorboard_event(double wall_time, int64_t step, std::string_view values) {
  std::string event;
  put_double_field(event, 1, wall_time);
  put_key(event, 2, kVarint);
  put_varint(event, static_cast<uint64_t>(step));
  put_bytes_field(event, 5, values);
  return event;
}

void put_scalar(std::string& values, const std::string& tag, double number) {
  const auto single = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  std::string value;
  put_bytes_field(value, 1, tag);
  put_key(value, 2, kFixed32);
  put_u32(value, bits);
  put_bytes_field(values, 1, value);
}

void put_histogram(std::string& values, const std::string& tag, const Reading& histogram) {
  const Buckets buckets = buckets_of(histogram);
  std::string content;
  put_double_field(content, 1, histogram.axes[0].low);
  put_double_field(content, 2, histogram.axes[0].high);
  put_double_field(content, 3, buckets.total);
  put_double_field(content, 4, buckets.sum);
  put_double_field(content, 5, buckets.sum_squares);
  put_packed_doubles(content, 6, buckets.limits);
  put_packed_doubles(content, 7, buckets.counts);
  std::string value;
  put_bytes_field(value, 1, tag);
  put_bytes_field(value, 5, content);
  put_bytes_field(values, 1, value);
}

}  // namespace flightdeck::record
