// SPDX-License-Identifier: MIT
// What a loop lets happen when a lamp lights: it stops, keeps a checkpoint, or the training is
// intervened in. Nothing unless it is asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/lamp.h"
#include "flightdeck/parameters.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace flightdeck {

class Cockpit;

struct ReactionOptions {
  // Each list names lamps, or a severity, which stands for graver ones too. Empty: never.
  std::vector<std::string> stop_on;        ///< ends the run in order, with a checkpoint; once each
  std::vector<std::string> checkpoint_on;  ///< asks for a checkpoint; once each
  /// Multiplies the learning rate by what the finding advises, at least 0.1, else by 0.5.
  std::vector<std::string> lower_rate_on;
  /// Clips the gradient's norm from then on at `clip_norm`; half of that the next time.
  std::vector<std::string> clip_on;
  /// Leaves out the update of the step that lit the lamp, ten in a row at most: for lamps that
  /// judge one step, such as diverged.
  std::vector<std::string> skip_on;
  /// Puts parameters, buffers and the optimizer's state back to the last good ones, which are
  /// `keep_every` / 2 steps old or more, and leaves out the update. Data and random numbers go on.
  std::vector<std::string> restore_on;

  /// Steps between two looks at the record; every step where one may be skipped or restored.
  int64_t look_every = 10;
  int64_t pause = 100;       ///< steps before the same lamp causes the same intervention again
  int64_t most = 10;         ///< times that a lamp causes the same intervention
  double clip_norm = 0;      ///< 0: the median of the gradient norms that were recorded
  int64_t keep_every = 100;  ///< steps between two states that may be restored

  bool any() const;
  /// Whether one of them names this lamp.
  bool names(const std::string& lamp) const;
  /// "stop on diverged, lower the rate on long_steps", for the record.
  std::string text() const;
};

/// Throws std::invalid_argument if a name is neither a lamp nor a severity, or a number too small.
void check_reactions(const ReactionOptions& options);

/// What interventions touch of a training. `loop_of` makes it of a model and its optimizer; a loop
/// that keeps its state in other places fills it in by itself.
struct ReactingLoop {
  Parameters parameters{std::vector<NamedParameter>()};  ///< whose gradients are clipped
  std::function<double()> learning_rate;                 ///< for what is said
  /// A factor of all rates, 1 at the beginning; it lasts.
  std::function<double()> rate_factor;
  std::function<void(double)> set_rate_factor;
  /// Parameters and buffers, not copied, and the optimizer's state in bytes of its own.
  std::function<std::map<std::string, at::Tensor>()> save_model;
  std::function<std::string()> save_optimizer;
  /// Puts both back; learning rates stay as they are.
  std::function<void(const std::map<std::string, at::Tensor>&, const std::string&)> restore;
};

/// Both have to outlive what it returns. The factor multiplies the rates of all parameter groups at
/// once: a schedule that sets rates anew multiplies by it too.
ReactingLoop loop_of(torch::nn::Module& model, torch::optim::Optimizer& optimizer);

/// Looks at the run's own record between the backward pass and the update of a step. When it looks,
/// and so all that follows, depends on steps alone: on the CPU a run that goes on from a checkpoint
/// comes to the same numbers.
///
///   cockpit.record_to("runs/first");
///   ReactionOptions wanted;
///   wanted.lower_rate_on = {"long_steps"};
///   Reactions reactions(wanted, "runs/first", loop_of(*model, optimizer), cockpit);
///   ...
///     if (reactions.takes_update(step)) optimizer.step();  // the watch of the step has ended
class Reactions {
 public:
  /// Is told each intervention in a sentence.
  using Tell = std::function<void(int64_t step, const std::string& what)>;

  /// `folder` is that of the cockpit's record; the cockpit has to outlive it. Throws as
  /// `check_reactions` does, and where several ranks train: the first one alone has the record, and
  /// all would have to do the same.
  Reactions(ReactionOptions options,
            std::string folder,
            ReactingLoop loop,
            Cockpit& cockpit,
            Tell tell = {});

  /// Call it once at each step, between the end of its watch and the update; false: leave the
  /// update out.
  bool takes_update(int64_t step);

  /// The lamp that stopped the run; empty while none has.
  const std::string& stopped_by() const { return stopped_by_; }
  /// True once for each checkpoint that a lamp asks for.
  bool takes_checkpoint();
  /// Whether the last step was skipped or what it came from restored: its loss ends nothing.
  bool was_last_left_out() const { return is_left_out_; }

  /// What a checkpoint needs beside the rate factor, so that a run goes on to the bit.
  std::map<std::string, at::Tensor> save() const;
  void load(const std::map<std::string, at::Tensor>& saved);

 private:
  struct Acted {
    int64_t last_step = -1, times = 0;
  };
  struct Good {
    int64_t step = 0;
    std::map<std::string, at::Tensor> model;
    std::string optimizer;
  };
  using Lit = std::vector<Finding>;

  int64_t look_interval() const;
  Lit look();
  // Returns the findings that this reaction asks for and may answer now; marks them as answered.
  Lit answered(const char* what, const std::vector<std::string>& on, const Lit& lit);
  void stop_or_keep(const Lit& lit);
  void lower_rate(const Lit& lit);
  void start_clipping(const Lit& lit);
  bool skips(const Lit& lit);
  bool restores(const Lit& lit);
  void clip() const;
  void keep_good_state(const Lit& lit);
  double usual_gradient_norm() const;
  void record(const std::string& field, double value, const std::string& text, const Lit& because);

  ReactionOptions options_;
  std::string folder_;
  ReactingLoop loop_;
  Cockpit& cockpit_;
  Tell tell_;
  std::unique_ptr<RunReader> record_;
  std::map<std::string, Acted> acted_;  // by reaction and lamp
  std::deque<Good> good_;               // two at most, the older first
  int64_t step_ = 0;                    // of the last question
  double clip_norm_ = 0;                // 0: gradients are not clipped
  int64_t skipped_in_a_row_ = 0;
  bool is_left_out_ = false, is_checkpoint_wanted_ = false;
  std::string stopped_by_;
};

}  // namespace flightdeck
