// SPDX-License-Identifier: MIT
// First-order questions about the individual gradients of any model, answered from its graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/batch.h"
#include "flightdeck/coverage.h"
#include "flightdeck/histogram.h"
#include "flightdeck/needs.h"
#include "flightdeck/parameters.h"

namespace flightdeck {

/// What to compute. Combine with `|`; only what is asked for is computed.
/// g_n is what autograd gives for losses[n], whatever terms it is made of, without a factor 1/N.
/// For a scalar loss, l_n is N times (for a sum: once) the share of sample n, and a term that all
/// samples share counts in each with 1/N of itself.
enum class Need : uint32_t {
  kMean = 1u << 0,          ///< (1/N) sum_n g_n, the parameter's shape
  kIndividual = 1u << 1,    ///< every g_n, [N, *shape]; may be a strided view
  kNorms = 1u << 2,         ///< L2 norm of every g_n, [N]
  kSecondMoment = 1u << 3,  ///< (1/N) sum_n g_n² per entry, the parameter's shape
  kVariance = 1u << 4,      ///< (1/N) sum_n (g_n - g)² per entry (biased), the parameter's shape
  kGram = 1u << 5,          ///< <g_n, g_m> for all pairs, [N, N]
  kDots = 1u << 6,          ///< <g_n, v> for the directions in the options, [N, V]
  kMeanDots = 1u << 7,      ///< <g_n, g> with the mean g = (1/N) sum_m g_m, [N] in double
  /// L2 norm of the gradient that reaches the parameter from everything the loss depends on (a
  /// penalty too), divided by the sum of the samples' weights so that it belongs to the mean loss.
  /// Without a watch it is the norm of the mean; under `reuse_gradients` penalties are left out.
  kArrivedNorm = 1u << 8,
  kDeviations = 1u << 9,  ///< ||g_n - g||², [N] in double
};

using Needs = NeedSet<Need>;
constexpr Needs operator|(Need a, Need b) { return Needs(a) | Needs(b); }

/// Where rounding may be more than this share of a scatter, the scatter is limited by rounding.
constexpr double kRoundingLimit = 0.01;

/// The answers for one parameter (or the total). A tensor that was not asked for is undefined.
///
/// Variance, deviations and the differences between mean_dots are computed without cancellation:
/// what is wrong with them is what is wrong with the activations and output gradients that the
/// backward pass holds. Where samples agree to nearly all digits of those, nothing is left;
/// `Gradients::rounding_share` says so.
struct ParameterGradients {
  std::string name;
  Tensor mean;
  Tensor individual;
  Tensor norms;
  Tensor second_moment;
  Tensor variance;
  Tensor gram;
  Tensor dots;
  Tensor mean_dots;
  Tensor arrived_norm;  ///< []
  Tensor deviations;
  Tensor squared_mean;  ///< ||g||², [] in double; with kVariance or kDeviations
  /// Machine epsilon of the coarsest type that the backward pass used on the way.
  double epsilon = 0;
  /// One per histogram in the options, int64 [count + 3]: below, the bins, above, NaN.
  std::vector<Tensor> histograms;
  /// One per joint histogram in the options, int64 [gradient bins, parameter bins]; both clamped
  /// into their range, NaN left out.
  std::vector<Tensor> joint_histograms;
};

/// The individual gradients of a finished pass, kept in factored form.
class KeptRows {
 public:
  virtual ~KeptRows() = default;
  /// <g_n, v> summed over all parameters for directions [V, *shape], one tensor per parameter:
  /// [N, V].
  virtual Tensor dots(const std::vector<Tensor>& directions) const = 0;
};

struct KnownDirections;

struct GradientOptions {
  /// For Need::kDots: one tensor [V, *shape] per parameter.
  std::vector<Tensor> directions;
  /// What a cockpit knows of the directions beside their entries; for its own use.
  std::shared_ptr<const KnownDirections> known_directions;
  /// Histograms of the entries of all g_n, and of (entry of g_n, entry of the parameter).
  std::vector<Bins> histograms;
  std::vector<JointBins> joint_histograms;
  /// Keep the factors of the individual gradients in `Gradients::rows`: for directions that are
  /// known only later. They hold the activations of the step, inputs included: `KeptRows::dots`
  /// throws if one was overwritten. Parameters may change.
  bool keep_rows = false;
  /// Watch only: hand over the mean gradient the engine has as a by-product and spare PyTorch
  /// that work. `.grad` then equals PyTorch's to rounding, not to the bit.
  bool reuse_gradients = false;
  /// False: a watch does not wait for a device to say which losses are not finite, and no remark
  /// tells.
  bool looks_at_losses = true;
  /// Called with each parameter's answers as soon as they are known; they are then not kept, so
  /// that memory stays at one layer. Called in the order of the backward pass.
  std::function<void(ParameterGradients&)> on_parameter;
};

struct Gradients {
  int64_t batch_size = 0;                      ///< N, or the number of chosen samples
  std::vector<ParameterGradients> parameters;  ///< in the order asked for
  /// Norms, gram, dots, mean_dots, deviations and arrived_norm of all parameters taken together as
  /// one vector; sums of the histograms.
  ParameterGradients total;
  std::shared_ptr<const KeptRows> rows;  ///< if options.keep_rows
  Coverage coverage;
  /// What a person should know: non-finite losses, unused parameters, samples of weight zero,
  /// samples that are coupled, terms left out, gradient from elsewhere.
  std::vector<std::string> remarks;

  /// The answers of the parameter with this name; throws if there is none.
  const ParameterGradients& at(const std::string& name) const;
  /// An estimate of the relative error of sum_n ||g_n - g||² by rounding, [] in double, to compare
  /// with kRoundingLimit: of a parameter or the total, after kDeviations or (a parameter)
  /// kVariance.
  [[nodiscard]] Tensor rounding_share(const ParameterGradients& answers) const;
  /// One field of all parameters flattened and concatenated: [D], or [N, D] for `individual`.
  [[nodiscard]] Tensor concatenated(Tensor ParameterGradients::*field) const;
};

/// Answers `what` by a backward pass of its own. The graph stays usable; `.grad`, parameters and
/// RNG are untouched. User hooks on tensors are not run. Float16 and bfloat16 rows are computed in
/// float32.
[[nodiscard]] Gradients gradients(const Batch& batch,
                                  Needs what,
                                  const GradientOptions& options = {});
/// The same of individual losses [N] of which nothing else is to be said.
[[nodiscard]] Gradients gradients(const Tensor& losses,
                                  const Parameters& parameters,
                                  Needs what,
                                  const GradientOptions& options = {});

/// The coverage report alone. Costs one pass of `gradients`, whose answers are dropped.
[[nodiscard]] Coverage coverage(const Batch& batch,
                                Needs what,
                                const GradientOptions& options = {});
[[nodiscard]] Coverage coverage(const Tensor& losses,
                                const Parameters& parameters,
                                Needs what,
                                const GradientOptions& options = {});

}  // namespace flightdeck
