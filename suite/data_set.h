// SPDX-License-Identifier: MIT
// Data sets: where their files are found, how they are split and what a network reads of them.
// Entries live in data/, one file each; the readers of file formats in formats/.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "suite/random.h"

namespace flightdeck::suite {

using at::Tensor;

struct DataOptions {
  std::string folder;      ///< with the set's files; empty: search (see `describe_data`)
  bool synthetic = false;  ///< generate data of the same shape instead of reading files
  uint64_t seed = 42;      ///< draws the split, and the data if they are synthetic
  bool raw = false;        ///< images keep their values in [0, 255]: no scaling, no standardising
  bool augment = true;     ///< for sets that have an augmentation
  int64_t limit = 0;       ///< at most so many samples in each part; 0: all
};

enum class Part {
  kTrain,
  kTrainEval,  ///< a subset of kTrain as large as kValid, never augmented
  kValid,      ///< drawn from the training file, disjoint from kTrain
  kTest,
};
const char* name_of(Part part);  ///< "train", "train_eval", "valid", "test"

/// Samples as they are stored: images are uint8 and become float batch by batch.
struct Samples {
  Tensor inputs;   ///< [n, ...]
  Tensor targets;  ///< [n] int64, or what the problem's loss reads
  /// [n] int64 on the CPU: places in the file the samples came from, or in what was generated;
  /// undefined: they are all of it, in its order.
  Tensor places = {};
  int64_t size() const { return inputs.defined() ? inputs.size(0) : 0; }
};

struct DataSet {
  std::string name;
  std::string origin;         ///< the folder that was read, or how the data were generated
  bool is_synthetic = false;  ///< generated in place of the files: results mean little
  int64_t classes = 0;        ///< 0: no labels
  Samples train, train_eval, valid, test;

  /// Turns stored inputs [N, ...] into what a network reads.
  std::function<Tensor(const Tensor&)> prepare;
  /// Changes stored training inputs at random before `prepare`; empty: no augmentation.
  std::function<Tensor(const Tensor&, Generator&)> augment;

  const Samples& part(Part part) const;
  /// Moves all samples, so that batches are cut out on the device.
  void to(const at::Device& device);
};

/// What is known of a data set before it is loaded.
struct DataDescription {
  std::string name;
  std::string summary;
  bool needs_files = true;            ///< false: always generated
  bool is_found = false;              ///< all files exist in `folder`; they have not been read
  std::string folder;                 ///< the first of `searched` that holds all files
  std::vector<std::string> searched;  ///< folders, in order
  std::vector<std::string> files;     ///< names, without .gz where both are read
  std::string how_to_get;
};

/// Returns all names, sorted.
std::vector<std::string> data_set_names();

/// Searches `folder` only, if it is given; else $FLIGHTDECK_DATA/<name>,
/// ~/.local/share/flightdeck/<name> and the well-known places of the set; in each of them also the
/// folder that unpacking the published archive makes.
DataDescription describe_data(const std::string& name, const std::string& folder = "");

/// Reads or generates, checks and splits. Throws, naming file, both values and where to get the
/// data, if a file is missing, truncated or wrong.
DataSet load_data(const std::string& name, const DataOptions& options = {});

}  // namespace flightdeck::suite
