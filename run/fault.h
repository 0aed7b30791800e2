// SPDX-License-Identifier: MIT
// Faults: ways to spoil a training, each with the cause that a diagnosis is to name. Entries live
// in faults/, one file each; a program may add its own, and a small file of text may join some.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "suite/optimizer.h"
#include "suite/problem.h"

namespace flightdeck::run {

using at::Tensor;

/// Functions that the networks of the bench call on their way, so that a fault can change them.
struct NetParts {
  std::function<Tensor(const Tensor&)> activation;  ///< after every hidden layer; relu
  /// What goes on to the next layer, [N, ...], after the activation of hidden layer `layer`.
  std::function<Tensor(int64_t layer, const Tensor&)> between;
  std::function<Tensor(const Tensor&)> head;  ///< of the outputs
  int64_t hidden_layers = 0;
  bool is_training = true;             ///< false while held-out samples are looked at
  double dropout = 0;                  ///< share of the units of hidden layers
  bool is_left_in_evaluation = false;  ///< as by a forgotten train()
};

/// One training before its first step. A fault alters what it likes.
struct FaultyTraining {
  std::string subject;
  Tensor inputs;                     ///< [n, ...] as the network reads them: all that it trains on
  Tensor targets;                    ///< [n] labels; of text [n, T]
  Tensor held_inputs, held_targets;  ///< never trained on; faults of the data leave them alone
  /// Changes inputs on their way into the network, held-out ones too; null: nothing.
  std::function<Tensor(const Tensor&)> prepare;
  /// Adds a change of inputs after those that are there already.
  void prepare_with(std::function<Tensor(const Tensor&)> next) {
    prepare = [before = prepare, next = std::move(next)](const Tensor& given) {
      return next(before ? before(given) : given);
    };
  }
  int64_t classes = 0;
  bool is_text = false;
  suite::Model model;
  std::shared_ptr<NetParts> parts;  ///< null for a problem of the suite
  /// Gives individual losses [N].
  std::function<Tensor(const Tensor& outputs, const Tensor& targets)> losses;
  std::function<Tensor(const Tensor& losses)> reduce;  ///< to the scalar of backward(); the mean
  std::string optimizer = "sgd";
  suite::Hyperparameters hyperparameters;
  int64_t batch_size = 64, steps = 100;
  int64_t passes = 1;           ///< backward passes between two updates
  bool averages_passes = true;  ///< their losses are divided by their number
  bool clears_gradients = true, shuffles = true;
  double penalty = 0;  ///< times half the squared parameters, added to the loss
  double decay = 0;    ///< share of the parameters that every step takes away
  double clip = 0;     ///< longest gradient; 0: any
  /// The loss is multiplied by it before backward(), the gradient divided by it before the update.
  double loss_scale = 1;
  int64_t forgets_train_at = -1;        ///< step before which an evaluation leaves its mode behind
  std::set<std::string> not_optimized;  ///< names of parameters
  /// Changes a batch before the network sees it.
  std::function<void(int64_t step, suite::Batch& batch)> on_batch;
  at::Generator random;  ///< for faults that draw
};

struct Fault {
  std::string name;
  std::string summary;                   ///< what is done, in one line
  std::string cause;                     ///< name in the catalogue of causes
  std::vector<std::string> also;         ///< causes with the same remedy
  std::vector<double> severities = {1};  ///< the mildest first
  /// True if the fault is a setting that is too large or too small. A training that ends as well as
  /// a healthy one then had no fault, and is not counted.
  bool is_of_degree = false;
  std::function<bool(const FaultyTraining&)> fits = [](const FaultyTraining&) { return true; };
  std::function<void(FaultyTraining&, double severity)> inject;
};

/// Returns all faults by name, registered ones too.
std::vector<Fault> all_faults();
/// Throws c10::ValueError, naming the nearest and all, if there is none.
Fault find_fault(const std::string& name);
/// Adds a fault to the catalogue of this program. Throws c10::ValueError if the name is taken, and
/// if it lacks its name, summary, cause or function. Safe to call from any thread. Always true.
bool register_fault(Fault fault);

/// A fault of a file of lines "key = value": name, summary, cause, also (words apart by spaces),
/// severities (numbers, the mildest first), of_degree (yes or no), and what is done, in the order
/// of the lines: changes such as learning_rate_times, dropout, activation or labels_drawn
/// (docs/adding_a_fault.md has all), and names of known faults with the severity at which they are
/// injected. A value that is the word severity is that of the case. Lines that begin with # are
/// left out. Throws c10::ValueError, naming file and line.
Fault read_fault(const std::string& path);

}  // namespace flightdeck::run
