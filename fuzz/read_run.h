// SPDX-License-Identifier: MIT
// Asks a reader for everything that the tool and the server ask for.
#pragma once

#include <ctime>

#include "flightdeck/record.h"
#include "fuzz/fuzz.h"

// A reader waits some milliseconds for files that a writer may be renaming. Nobody writes here, and
// waiting took most of a search: 50 inputs a second instead of thousands.
extern "C" int nanosleep(const timespec*, timespec*) { return 0; }

namespace flightdeck::fuzz {

inline void read_run(const std::string& folder) {
  accepts([&] {
    const RunReader reader(folder);
    accepts([&] { reader.summary(); });
    accepts([&] { reader.info(); });
    accepts([&] { reader.notes(); });
    for (const SeriesInfo& series : reader.series()) {
      accepts([&] { reader.numbers(series.id, {}, 100); });
      accepts([&] { reader.stretches(series.id, {}, 10); });
      accepts([&] { reader.frames(series.id, {}, 3, 1 << 22); });
      accepts([&] {
        const auto readings = reader.readings(series.id, {series.last_step, series.last_step});
        for (const auto& [step, reading] : readings) {
          size_t bins = 1;
          for (const ReadingAxis& axis : reading.axes) bins *= static_cast<size_t>(axis.count);
          require(reading.kind != ReadingKind::kHistogram || bins == reading.counts.size());
        }
      });
    }
    accepts([&] { reader.for_each_step([](const StepReadings&) {}); });
  });
}

}  // namespace flightdeck::fuzz
