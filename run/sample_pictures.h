// SPDX-License-Identifier: MIT
// What the samples that a run names look like, kept with its record: whoever looks at a run need
// not have its data.
#pragma once

#include <cstdint>
#include <vector>

#include "flightdeck/cockpit.h"
#include "run/training.h"

namespace flightdeck::run {

// Returns samples by their places in the data set, as one list of numbers: how many samples,
// height, width, then one colour 0xRRGGBB per pixel, row by row. Samples that are no pictures have
// height 0 and `width` of their numbers. Empty if a sample is neither, or none of these is in the
// part.
std::vector<double> picture_list(const suite::DataSet& data,
                                 suite::Part part,
                                 const std::vector<double>& ids);

// Listens to a cockpit and logs the pictures of the samples that it names, as the quantity
// "sample_pictures" with one field per quantity that names them. The sum over a run is bounded;
// after that only the places in the data set are recorded.
class SamplePictures : public Sink {
 public:
  // Training and cockpit have to outlive it. `tracked` has the due steps.
  SamplePictures(const Training& training, Cockpit& cockpit, const std::vector<Quantity>& tracked);

  void begin(const RunInfo&) override {}
  void write(const StepReadings& step) override;
  void note(const Note&) override {}
  void finish(Ending) override {}

 private:
  const Training& training_;
  Cockpit& cockpit_;
  int64_t named_before_ = 0;  // steps that named outliers before a resumed run went on
  int64_t numbers_ = 0;       // logged so far, as far as they are known
};

}  // namespace flightdeck::run
