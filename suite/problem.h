// SPDX-License-Identifier: MIT
// The test problems of the suite: network, objective, data set and customary settings. Entries live
// in problems/, one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace flightdeck::suite {

using at::Tensor;

/// A freshly initialised network on the CPU; draws from LibTorch's default generator.
struct Model {
  std::shared_ptr<torch::nn::Module> module;
  std::function<Tensor(const Tensor&)> forward;  ///< inputs [N, ...] -> outputs [N, ...]
  /// Forgets what was carried over from the batch before, in the module's current mode. It is
  /// called before the first batch of an epoch and of an evaluation. Empty: nothing is carried
  /// over.
  std::function<void()> start_pass = nullptr;
};

/// What one step of training reads.
struct Batch {
  Tensor inputs;   ///< [N, ...]
  Tensor targets;  ///< [N] int64 labels; for problems without classes whatever their loss reads
  /// [N] int64 on the CPU: places in the part of the data; undefined if random.
  Tensor indices = {};
  /// [N] int64 on the CPU: places in the data set (Samples::places); as above.
  Tensor ids = {};
};

/// The objective of a batch is losses(...).mean() + penalty(...).
struct Problem {
  std::string name;
  std::string summary;
  std::string data_set;      ///< name of a DataSource (suite/data_set.h)
  int64_t batch_size = 128;  ///< customary N
  int64_t epochs = 100;      ///< customary
  bool has_published_budget =
      true;  ///< false: DeepOBS sets no batch size and epochs, these are ours
  /// Place in the published comparison, 1 to 8, by which an analysis sorts; 0: not part of it.
  int64_t benchmark_place = 0;
  /// Published convergence performance on the test set, which counts as solved: an accuracy, or a
  /// loss if there are no classes.
  std::optional<double> target = std::nullopt;
  int64_t parameters = 0;        ///< entries of all parameters, known without building the network
  int64_t classes = 0;           ///< C; 0: the problem does not classify and has no accuracy
  double l2 = 0.0;               ///< strength of the penalty; 0: none
  bool l2_spares_dense = false;  ///< the penalty is of convolutions alone
  bool carries_state = false;    ///< batches are N streams in order (BatchOptions::streams)
  std::function<Model()> build;
  /// Returns individual losses [N]. Sequences give the mean over their places.
  std::function<Tensor(const Tensor& outputs, const Tensor& targets)> losses;
  /// Returns the scores of the classes, [N, C, ...], where outputs hold more than them; empty: the
  /// outputs.
  std::function<Tensor(const Tensor& outputs)> class_scores;
  /// Draws a batch of the shape and scale of the real data, without a file; for benchmarks.
  std::function<Batch(int64_t N)> random_batch;

  bool has_accuracy() const { return classes > 0; }

  /// Returns the fraction of targets (samples, or places of sequences) with the largest score; a
  /// scalar on the device.
  Tensor accuracy(const Tensor& outputs, const Tensor& targets) const;

  /// Returns the class with the largest score of each sample, [N] int64 on the device; undefined
  /// where samples have no single label.
  Tensor predictions(const Tensor& outputs, const Tensor& targets) const;

  /// Returns true for convolution and dense weights: parameters called "weight" with two dimensions
  /// or more, with `l2_spares_dense` four; no biases, no scales of normalisation. Never if l2 is 0.
  bool penalises(const std::string& parameter, const Tensor& tensor) const;

  /// Returns R = l2 / 2 times the sum of squares of all that is penalised. A scalar that can be
  /// differentiated; undefined if l2 is 0.
  Tensor penalty(const torch::nn::Module& module) const;
};

/// Returns all entries, by name.
std::vector<Problem> all_problems();

/// Returns the entry with this name; throws c10::ValueError, naming the nearest and all, if there
/// is none.
const Problem& find_problem(const std::string& name);

/// Adds a problem to the catalogue of this program: from now on it can be trained by its name.
/// Throws c10::ValueError if there is one of that name, saying what both are, and if `build`,
/// `losses` or `random_batch` is empty. Safe to call from any thread. Always true, so that a
/// constant outside of functions can hold the call.
bool register_problem(Problem problem);

/// Returns the softmax cross-entropy of each sample, [N]; logits [N, C], labels [N]. For sequences,
/// logits [N, C, T] and labels [N, T], it is the mean over T.
Tensor cross_entropies(const Tensor& logits, const Tensor& labels);

}  // namespace flightdeck::suite
