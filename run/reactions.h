// SPDX-License-Identifier: MIT
// What a run does by itself when a lamp lights: it stops, keeps a checkpoint, or intervenes in the
// training. Nothing unless it is asked for.
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

namespace flightdeck {
class Cockpit;
}

namespace flightdeck::run {

class Training;

using at::Tensor;

struct ReactionOptions {
  // Each list names lamps, or a severity, which stands for graver ones too. Empty: never.
  std::vector<std::string> stop_on;        ///< ends the run in order, with a checkpoint; once each
  std::vector<std::string> checkpoint_on;  ///< keeps a checkpoint, and the model in RUN/models
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
  /// Returns whether one of them names this lamp.
  bool names(const std::string& lamp) const;
  /// Writes "stop on diverged, lower the rate on long_steps", for the record.
  std::string text() const;
};

/// Throws std::invalid_argument if a name is neither a lamp nor a severity, or a number too small.
void check_reactions(const ReactionOptions& options);

/// Looks at the run's own record between the backward pass and the update of a step. When it looks,
/// and so all that follows, depends on steps alone: on the CPU a run that goes on from a checkpoint
/// comes to the same numbers.
class Reactions {
 public:
  /// Is told each intervention in a sentence.
  using Tell = std::function<void(int64_t step, const std::string& what)>;

  /// Training and cockpit have to outlive it.
  Reactions(
      ReactionOptions options, std::string folder, Training& training, Cockpit& cockpit, Tell tell);

  /// Decides for Training::step; false leaves out the update.
  bool takes_update();

  /// Returns the lamp that stopped the run; empty while none has.
  const std::string& stopped_by() const { return stopped_by_; }
  /// Returns true once for each checkpoint that a lamp asks for.
  bool takes_checkpoint();
  /// Returns whether the last step was skipped or what it came from restored: its loss ends
  /// nothing.
  bool was_last_left_out() const { return is_left_out_; }

  /// Returns what a checkpoint needs, so that a run goes on to the bit.
  std::map<std::string, Tensor> save() const;
  void load(const std::map<std::string, Tensor>& saved);

 private:
  struct Acted {
    int64_t last_step = -1, times = 0;
  };
  struct Good {
    int64_t step = 0;
    std::map<std::string, Tensor> model;
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
  Training& training_;
  Cockpit& cockpit_;
  Tell tell_;
  std::unique_ptr<RunReader> record_;
  std::map<std::string, Acted> acted_;  // by reaction and lamp
  std::deque<Good> good_;               // two at most, the older first
  double clip_norm_ = 0;                // 0: gradients are not clipped
  int64_t skipped_in_a_row_ = 0;
  bool is_left_out_ = false, is_checkpoint_wanted_ = false;
  std::string stopped_by_;
};

}  // namespace flightdeck::run
