// SPDX-License-Identifier: MIT
// Curvature propagated as one matrix for the whole batch (KFRA, Hessian backpropagation with batch
// averages), for chains of layers.
#pragma once

#include <functional>
#include <vector>

#include "curvature/context.h"
#include "curvature/kronecker_factors.h"
#include "curvature/tangent_pass.h"
#include "flightdeck/kronecker.h"
#include "flightdeck/products.h"
#include "passes/rows_collector.h"

namespace flightdeck {

// Returns KFRA's factors, one entry per parameter. They are undefined where the parameter has no
// such structure.
std::vector<KroneckerFactors> averaged_factors(CurvatureContext& context);

// Walks from the loss down a chain of ops with the batch average of the curvature of what each op
// gives out, [m, m] over the m entries of one sample. Where branches are followed, the matrix is
// over the entries of all tensors that are open at a time: a chain in a wider space.
class AveragedChain {
 public:
  struct Options {
    BatchAverage average = BatchAverage::kProducts;
    Bending bending = Bending::kNone;
    const char* what = "";  // named in errors
    PchOrder pch_order = PchOrder::kAverageFirst;
    bool follows_branches = false;  // through linear ops that join; they are refused without
  };
  AveragedChain(CurvatureContext& context, const Options& options);

  struct UsedParameter {
    size_t index;
    Rows rows;  // with the inputs it is multiplied with, and output gradients of zero
    KroneckerShape shape;
    bool is_bias;
  };

  // A node where parameters enter that are used nowhere else. `matrix()` forms the curvature of its
  // output, `folded()` the same summed over positions, [J, J], which is cheaper where only
  // elementwise ops and pooling follow.
  struct Use {
    size_t position;
    std::vector<UsedParameter> parameters;
    std::function<Tensor()> matrix;
    std::function<Tensor()> folded;
  };
  void run(const std::function<void(const Use&)>& visit);

 private:
  std::vector<UsedParameter> parameters_at(size_t position);
  Tensor loss_average();
  Tensor mean_of(const LossHessian& hessian, const LossHead& head);
  void run_chain(const std::function<void(const Use&)>& visit);
  void run_branches(const std::function<void(const Use&)>& visit);
  struct OpenTensor;
  struct JointLines;
  JointLines lines_after(const OpenTensor& own, const std::vector<OpenTensor>& open) const;
  Tensor joint_after(const OpenTensor& own, const JointLines& next, const Tensor& joint);
  Use use_at(size_t position);
  bool has_branches() const;
  std::vector<size_t> batch_edges(size_t position) const;
  size_t next_edge(size_t position) const;
  bool is_constant(size_t position) const;
  bool keeps_channels(size_t position) const;
  int64_t entries_per_sample(const Shape& shape) const { return product(shape) / capture_.N; }
  void flush();
  Tensor through(size_t position, const Tensor& matrix);
  Tensor through_elementwise(size_t position, const Tensor& matrix);
  Tensor through_constant(size_t position, const Tensor& matrix);
  Tensor through_samples(size_t position, const Tensor& matrix);
  Tensor through_max_pool(size_t position, const Tensor& matrix);
  Tensor lines_through(size_t position, size_t edge, const Tensor& lines);
  Tensor mean_lines_through(size_t position, size_t edge, const Tensor& lines);
  Tensor residual(size_t position);
  Tensor fold(size_t position) const;
  Tensor fold_lazily(size_t position);
  Tensor fold_by_bands(size_t position);
  Tensor chosen(const Tensor& per_sample_lines) const;
  Tensor slopes_of(size_t position);
  Tensor sources_of(size_t position);
  void check_size(size_t position, int64_t m) const;
  void check_real(size_t position) const;
  Layout input_layout(size_t position, size_t edge) const;

  CurvatureContext& context_;
  Linearisation& linearisation_;
  const Capture& capture_;
  Options options_;
  RowsCollector collector_;
  std::vector<UsedParameter> used_;       // what the collector has completed at the node at hand
  std::vector<variable_list> gradients_;  // per node, only where ops bend
  Tensor matrix_;                         // of the chain, or of the open tensor that is looked at
  std::vector<size_t> pending_;           // ops that `matrix_` has not been taken through yet
};

}  // namespace flightdeck
