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

/// What is known of a published file.
struct FileFact {
  std::string name;
  int64_t bytes = 0;   ///< uncompressed
  std::string sha256;  ///< of the uncompressed bytes, in hexadecimal; empty: not known
};

struct DataSource {
  std::string name;
  std::string summary;
  std::vector<std::string> files;    ///< empty: the data are always generated
  bool may_be_gzip = false;          ///< <file>.gz is as good
  std::vector<std::string> places;   ///< well-known folders
  std::vector<std::string> folders;  ///< that unpacking makes inside a folder: also looked into
  std::string how_to_get;
  std::vector<FileFact> facts;  ///< of those files that are the same everywhere
  int64_t train_samples = 0;    ///< published numbers of what `read` gives, `train` with `valid`
  int64_t test_samples = 0;     ///< 0: not known
  int64_t classes = 0;
  double valid_share = 0.0;  ///< of the training file
  /// Reads the files in a folder that holds them all.
  std::function<Parts(const std::string& folder)> read;
  /// Generates synthetic data, or the data if there are no files. Empty: there are files alone.
  std::function<Parts(uint64_t seed)> generate;
  bool is_synthetic = false;  ///< without files: they stand for no published data
  std::function<Tensor(const Tensor&)> prepare;      ///< see DataSet
  std::function<Tensor(const Tensor&)> prepare_raw;  ///< empty: `prepare`
  std::function<Tensor(const Tensor&, Generator&)> augment;
};

/// Returns the entry with this name; throws c10::ValueError, naming the nearest and all, if there
/// is none.
const DataSource& find_data_source(const std::string& name);

/// Adds a data set to the catalogue of this program: problems name it, and `load_data` reads it.
/// Throws c10::ValueError if there is one of that name, saying what both are, and if a function is
/// empty that it needs: `prepare`, and `read` where there are files, `generate` where there are
/// none. Safe to call from any thread. Always true, so that a constant outside of functions can
/// hold the call.
bool register_data_source(DataSource source);

/// Returns <folder>/<file>, or that with .gz if only that exists.
std::string file_in(const std::string& folder, const std::string& file);

/// Returns labels [n] or [n, 1] as int64 [n]; throws, naming `path`, if one is not below `classes`.
Tensor checked_labels(const Tensor& labels, int64_t classes, const std::string& path);

/// Throws, naming `path`, if images and labels differ in number or images are not [n, shape...].
void check_images(const Tensor& images,
                  const Tensor& labels,
                  at::IntArrayRef shape,
                  const std::string& path);

/// Makes images of the given shape that can be learnt: each class has a pattern of blocks, which
/// noise three times as strong covers.
Parts synthetic_images(at::IntArrayRef shape,
                       int64_t classes,
                       uint64_t seed,
                       int64_t train_samples = 12000,
                       int64_t test_samples = 2000);

/// Returns a source of MNIST's format: four IDX files, values scaled to [0, 1].
DataSource idx_source();

/// Returns a source of 32 x 32 colour images, each standardised by its own mean and deviation.
DataSource colour_source();

/// Returns what the two CIFAR sets have in common: all but their files and how these are read.
DataSource cifar_source(int64_t classes);

}  // namespace flightdeck::suite
