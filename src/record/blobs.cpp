// SPDX-License-Identifier: MIT
#include "record/blobs.h"

#include <stdexcept>

#include "base/limits.h"
#include "record/bytes.h"
#include "record/damage.h"
#include "record/number_budget.h"
#include "record/reading_fault.h"

namespace flightdeck::record {

namespace {

// Writes counts. Most bins of a histogram over two axes are empty, so a run of zeros becomes a zero
// and its length.
void put_counts(std::string& out, const std::vector<int64_t>& counts) {
  put_varint(out, counts.size());
  for (size_t i = 0; i < counts.size();) {
    put_varint(out, static_cast<uint64_t>(counts[i]));
    if (counts[i] != 0) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < counts.size() && counts[i] == 0) ++i;
    put_varint(out, i - begin);
  }
}

// Reads counts. A run of zeros takes a few bytes however long it is, so callers check `size`
// before.
std::vector<int64_t> get_counts(ByteReader& bytes, uint64_t size) {
  std::vector<int64_t> counts;
  counts.reserve(size);
  while (counts.size() < size) {
    const int64_t count = bytes.integer();
    const uint64_t times = count == 0 ? bytes.varint() : 1;
    if (times == 0 || times > size - counts.size()) {
      damaged("a histogram has more counts than its " + std::to_string(size) + " bins");
    }
    counts.insert(counts.end(), times, count);
  }
  return counts;
}

}  // namespace

std::string list_blob(const std::vector<double>& list) {
  std::string out;
  out.reserve(8 * list.size());
  for (const double value : list) put_double(out, value);
  return out;
}

std::vector<double> list_of_blob(std::string_view blob) {
  ByteReader bytes(blob);
  std::vector<double> list;
  list.reserve(blob.size() / 8);
  while (!bytes.is_empty()) list.push_back(bytes.number());
  return list;
}

std::string histogram_blob(const Reading& reading) {
  std::string out;
  put_varint(out, reading.axes.size());
  for (const ReadingAxis& axis : reading.axes) {
    put_double(out, axis.low);
    put_double(out, axis.high);
    put_varint(out, static_cast<uint64_t>(axis.count));
  }
  for (const int64_t outside : {reading.below, reading.above, reading.not_a_number}) {
    put_varint(out, static_cast<uint64_t>(outside));
  }
  put_counts(out, reading.counts);
  return out;
}

void read_histogram_blob(std::string_view blob, Reading& reading, int64_t most_bins) {
  ByteReader bytes(blob);
  const uint64_t axes = bytes.varint();
  if (axes > limits::kAxes) damaged("a histogram has " + std::to_string(axes) + " axes");
  reading.axes.resize(axes);
  for (ReadingAxis& axis : reading.axes) {
    axis.low = bytes.number();
    axis.high = bytes.number();
    axis.count = bytes.integer();
  }
  for (int64_t* outside : {&reading.below, &reading.above, &reading.not_a_number}) {
    *outside = bytes.integer();
  }
  const std::string wrong_axes = axes_fault(reading.axes);
  if (!wrong_axes.empty()) damaged("a histogram " + wrong_axes);
  const int64_t bins = bins_of(reading.axes);
  const uint64_t size = bytes.varint();
  if (size != static_cast<uint64_t>(bins)) {
    damaged("a histogram has " + std::to_string(size) + " counts but axes of " +
            std::to_string(bins) + " bins");
  }
  if (bins > most_bins) {
    throw TooManyNumbers(
        "record: a histogram has " + std::to_string(bins) + " bins where " +
        std::to_string(most_bins) +
        " numbers are left of what is read at once; ask for fewer steps or series");
  }
  reading.counts = get_counts(bytes, size);
  reading.kind = ReadingKind::kHistogram;
  const std::string fault = reading_fault(reading);
  if (!fault.empty()) damaged("a histogram " + fault);
}

}  // namespace flightdeck::record
