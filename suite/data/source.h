// SPDX-License-Identifier: MIT
// What an entry of the catalogue of data sets states, and what the entries share.
#pragma once

#include <string>
#include <vector>

#include "suite/data_set.h"

namespace flightdeck::suite {

/// The samples as files or generators give them.
struct Parts {
  Samples train;
  Samples valid;  ///< empty: drawn from `train`
  Samples test;
};

struct DataSource {
  std::string name;
  std::string summary;
  std::vector<std::string> files;    ///< empty: the data are always generated
  bool may_be_gzip = false;          ///< <file>.gz is as good
  std::vector<std::string> places;   ///< well-known folders
  std::vector<std::string> folders;  ///< that unpacking makes inside a folder: also looked into
  std::string how_to_get;
  int64_t classes = 0;
  double valid_share = 0.0;  ///< of the training file
  /// Reads the files in a folder that holds them all.
  std::function<Parts(const std::string& folder)> read;
  /// Generates synthetic data, or the data if there are no files.
  std::function<Parts(uint64_t seed)> generate;
  bool is_synthetic = false;  ///< without files: they stand for no published data
  std::function<Tensor(const Tensor&)> prepare;      ///< see DataSet
  std::function<Tensor(const Tensor&)> prepare_raw;  ///< empty: `prepare`
  std::function<Tensor(const Tensor&, Generator&)> augment;
};

/// <folder>/<file>, or that with .gz if only that exists.
std::string file_in(const std::string& folder, const std::string& file);

/// Labels [n] or [n, 1] as int64 [n]; throws, naming `path`, if one is not below `classes`.
Tensor checked_labels(const Tensor& labels, int64_t classes, const std::string& path);

/// Throws, naming `path`, if images and labels differ in number or images are not [n, shape...].
void check_images(const Tensor& images,
                  const Tensor& labels,
                  at::IntArrayRef shape,
                  const std::string& path);

/// Images of the given shape that can be learnt: each class has a pattern of blocks, which noise
/// three times as strong covers. 12 000 training and 2 000 test samples.
Parts synthetic_images(at::IntArrayRef shape, int64_t classes, uint64_t seed);

/// A source of MNIST's format: four IDX files, values scaled to [0, 1].
DataSource idx_source();

/// A source of 32 x 32 colour images, each standardised by its own mean and deviation.
DataSource colour_source();

}  // namespace flightdeck::suite
