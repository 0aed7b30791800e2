// SPDX-License-Identifier: MIT
// Losses of every form: known and unknown heads, weights, learned scales, penalties, rearranged or
// stacked losses, scalars of any reduction.
#include <functional>

#include <torch/torch.h>

#include "conformance/adverse_model.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace F = torch::nn::functional;

// Individual losses of outputs [N, C].
Tensor data_losses(AdverseSketch& sketch, const Tensor& y) {
  const int64_t N = y.size(0), C = y.size(1);
  const Tensor labels = random_integers({N}, C);
  const Tensor targets = random({N, C});
  const int64_t kind = sketch.integer(0, 14);
  sketch.model.has_known_head = kind <= 5;
  const auto squared = [&] {
    return F::mse_loss(y, targets, F::MSELossFuncOptions().reduction(torch::kNone));
  };
  const auto cross_entropy = [&] {
    return F::cross_entropy(y, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
  };
  switch (kind) {
    case 0:
      sketch.note("cross_entropy");
      return cross_entropy();
    case 1:
      sketch.note("mse.mean(1)");
      return squared().mean(1);
    case 2:
      sketch.note("bce.sum(1)");
      return F::binary_cross_entropy_with_logits(
                 y,
                 targets.sigmoid(),
                 F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone))
          .sum(1);
    case 3:
      sketch.note("huber.sum(1)");
      return F::huber_loss(y, targets, F::HuberLossFuncOptions().reduction(torch::kNone)).sum(1);
    case 4:
      sketch.note("weighted, smoothed cross_entropy");
      return F::cross_entropy(y,
                              labels,
                              F::CrossEntropyFuncOptions()
                                  .weight(random({C}).square().add(0.1))
                                  .label_smoothing(0.1)
                                  .reduction(torch::kNone));
    case 5:
      sketch.feature("ragged", "masked mse");
      return (squared() * sketch.mask({N, C})).sum(1);
    case 6:
      sketch.note("logsumexp - pick");
      return y.logsumexp(1) - y.gather(1, labels.unsqueeze(1)).squeeze(1);
    case 7: {
      sketch.note("d*d");
      const Tensor d = y - targets;
      return (d * d).sum(1);
    }
    case 8:
      sketch.note("-softmax.log");
      return -y.softmax(1).log().gather(1, labels.unsqueeze(1)).squeeze(1);
    case 9:
      sketch.note("distance");
      return ((y - targets).square().sum(1) + 0.1).sqrt();
    case 10:
      sketch.note("l1");
      return (y - targets).abs().sum(1);
    case 11: {
      sketch.feature("coupled", "InfoNCE");
      sketch.model.is_coupled = sketch.model.is_coupled || N > 1;
      const Tensor unit = y / (y.square().sum(1, true) + 0.1).sqrt();
      return F::cross_entropy(unit.matmul(unit.t()) / 0.5,
                              at::arange(N, labels.options()),
                              F::CrossEntropyFuncOptions().reduction(torch::kNone));
    }
    case 12:
      sketch.note("cross_entropy + mse");
      return cross_entropy() + squared().mean(1) * 0.5;
    case 13: {
      sketch.feature("rearranged", "stack of scalars");
      std::vector<Tensor> scalars;
      for (int64_t n = 0; n < N; ++n) scalars.push_back((y[n] - targets[n]).square().sum());
      return at::stack(scalars);
    }
    default:
      sketch.note("quadratic");
      return losses_of(y);
  }
}

Tensor rearranged(AdverseSketch& sketch, const Tensor& losses) {
  const int64_t N = losses.size(0);
  const auto named = [&](const char* word) { sketch.feature("rearranged", word); };
  switch (sketch.integer(0, 6)) {
    case 0:
      named("flip");
      return losses.flip(0);
    case 1:
      named("index_select");
      return losses.index_select(0, at::randperm(N, at::kLong).to(losses.device()));
    case 2:
      named("index with repeats");
      return losses.index({random_integers({N}, N)});
    case 3:
      named("unbind and stack");
      return at::stack(losses.unbind(0));
    case 4:
      named("two halves");
      if (N == 1) return losses;
      return at::cat({losses.slice(0, N / 2), losses.slice(0, 0, N / 2)});
    case 5:
      named("column");
      return losses.unsqueeze(1).expand({N, 2}).select(1, 0);
    default:
      named("written one by one");
      const Tensor written = at::zeros({N}, losses.options());
      for (int64_t n = 0; n < N; ++n) written[n] = losses[n];
      return written;
  }
}

// A scalar that depends on parameters alone.
Tensor penalty(AdverseSketch& sketch) {
  sketch.model.has_shared_terms = true;
  Tensor v;
  for (const NamedParameter& parameter : sketch.parameters) {
    if (parameter.tensor.requires_grad() && sketch.chance(0.6)) v = parameter.tensor;
  }
  if (!v.defined()) v = sketch.factor({3});
  v = sketch.bypass(v).to(at::kDouble);
  const auto scalar = [&] { return sketch.bypass(sketch.factor({})); };
  const Tensor flat = v.reshape({-1});
  const auto named = [&](const char* word) { sketch.feature("penalty", word); };
  switch (sketch.integer(0, 13)) {
    case 0:
      named("pow(2).sum()");
      return v.pow(2).sum() * 0.3;
    case 1:
      named("norm");
      return v.norm();
    case 2:
      named("dot");
      return flat.dot(flat) * 0.5;
    case 3:
      named("first entry");
      return flat[0];
    case 4:
      named("logsumexp");
      return flat.logsumexp(0);
    case 5:
      named("exp");
      return v.exp().sum() * 0.1;
    case 6:
      named("abs().sum()");
      return v.abs().sum();
    case 7:
      named("(v*v).mean()");
      return (v * v).mean();
    case 8:
      named("3*s");
      return scalar() * 3.0;
    case 9:
      named("s");
      return scalar();
    case 10:
      named("product");
      return v.sum() * scalar().tanh();
    case 11:
      named("entropy");
      return (flat.softmax(0) * flat.log_softmax(0)).sum();
    case 12:
      named("variance");
      return flat.var(/*unbiased=*/false) + flat.sum() * 0.2;
    default:
      named("2*exp(s)+v.sum()");
      return scalar().exp() * 2.0 + v.sum();
  }
}

// Takes a mean over all entries of the outputs, in which a sample has as many as it has outputs.
void mean_of_all_entries(AdverseModel& model) {
  const Tensor targets = random(model.outputs.sizes());
  model.has_known_head = true;
  model.has_bypass = false;
  model.is_coupled = model.has_coupled_outputs;
  model.has_shared_terms = false;
  model.losses = F::mse_loss(model.outputs, targets);
  model.terms = (model.outputs - targets).square().mean(1);
  model.unshared_terms = model.terms;
}

// Takes a mean that is weighted by the classes of the labels.
void mean_over_classes(AdverseModel& model) {
  const int64_t N = model.terms.size(0);
  const Tensor weights = random({model.outputs.size(1)}).square() + 0.1;
  const Tensor labels = random_integers({N}, model.outputs.size(1));
  const Tensor shares = weights.index_select(0, labels);
  model.has_known_head = true;
  model.has_bypass = false;
  model.is_coupled = model.has_coupled_outputs;
  model.has_shared_terms = false;
  model.losses =
      F::cross_entropy(model.outputs, labels, F::CrossEntropyFuncOptions().weight(weights));
  model.terms = F::cross_entropy(
                    model.outputs, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone)) *
                shares * (static_cast<double>(N) / shares.sum());
  model.unshared_terms = model.terms;
}

// Reduces the terms to a scalar; `terms` becomes undefined if the scalar is no mean or sum of them.
void reduce_to_scalar(AdverseSketch& sketch) {
  AdverseModel& model = sketch.model;
  const Tensor l = model.terms;
  const int64_t N = l.size(0);
  const double count = static_cast<double>(N);
  model.batch_size = N;
  const auto named = [&](const char* word) { sketch.feature("scalar", word); };
  const auto refused = [&](const Tensor& loss, const char* word) {
    sketch.feature("inseparable", word);
    model.losses = loss;
    model.terms = N == 1 ? loss.reshape({1}) : Tensor();
    model.unshared_terms = model.terms;
  };
  switch (sketch.integer(0, 15)) {
    case 0:
    case 1:
      named("mean");
      model.losses = l.mean();
      return;
    case 14:
      named("mse over all entries");
      return mean_of_all_entries(model);
    case 15:
      named("cross_entropy with class weights");
      return mean_over_classes(model);
    case 2:
      named("sum");
      model.losses = l.sum();
      model.reduction = Reduction::kSum;
      return;
    case 3:
      named("sum/N");
      model.losses = l.sum() / count;
      return;
    case 4: {
      named("weighted mean");
      const Tensor weights = at::linspace(0.5, 2.0, N, doubles());
      const Tensor share = weights / weights.sum();
      model.losses = (l * weights).sum() / weights.sum();
      model.terms = l * share * count;
      model.has_shared_terms = false;  // weighed differently in each
      return;
    }
    case 5: {
      named("mean + penalty");
      const Tensor shared = penalty(sketch);
      model.losses = l.mean() + shared;
      model.terms = l + shared;
      return;
    }
    case 6: {
      named("sum + penalty");
      const Tensor shared = penalty(sketch);
      model.losses = l.sum() + shared;
      model.reduction = Reduction::kSum;
      model.terms = l + shared / count;
      return;
    }
    case 7:
      model.contradicts_reduction = true;
      return refused(l.sum(), "sum as a mean");
    case 8:
      model.contradicts_reduction = true;
      model.reduction = Reduction::kSum;
      return refused(l.mean(), "mean as a sum");
    case 9:
      return refused((l.square().mean() + 0.1).sqrt(), "root of the mean");
    case 10:
      return refused((l.square().mean() + 0.1).log(), "log of the mean");
    case 11:
      // Of one loss it is that loss, and yet where the engine says that the loss begins.
      return refused(N > 1 ? l.logsumexp(0) : l.mean(), "logsumexp over the batch");
    case 12:
      return refused(l.mean() * l.square().mean(), "product of means");
    default:
      return refused((l - l.mean()).square().mean(), "variance");
  }
}

void add_other_loss(AdverseSketch& sketch) {
  AdverseModel& model = sketch.model;
  if (model.activations.empty() || sketch.chance(0.4)) return;
  const auto last = static_cast<int64_t>(model.activations.size()) - 1;
  const Tensor trunk = model.activations[sketch.integer(0, last)];
  sketch.feature("several-losses", "second head");
  model.other_loss = (trunk.sin() * sketch.factor({})).sum() + trunk.square().mean();
}

}  // namespace

void end_adverse(AdverseSketch& sketch) {
  AdverseModel& model = sketch.model;
  add_other_loss(sketch);
  Tensor y = sketch.batch_major().flatten(1);
  if (y.size(1) > 4 || sketch.chance(0.5)) y = sketch.linear(y, sketch.integer(1, 3));
  model.outputs = y;
  model.terms = data_losses(sketch, y);
  const int64_t N = y.size(0);
  if (sketch.chance(0.15)) {
    sketch.feature("sample-weights", "");
    model.terms = model.terms * random_integers({N}, 3).to(at::kDouble);
  }
  if (sketch.chance(0.2)) model.terms = rearranged(sketch, model.terms);
  model.unshared_terms = model.terms;
  if (sketch.chance(0.15)) {
    sketch.feature("learned-scale", "l*exp(-s)+3*s");
    model.has_shared_terms = true;
    const Tensor s = sketch.bypass(sketch.factor({}));
    model.unshared_terms = model.terms * (-s).exp();
    model.terms = model.unshared_terms + s * 3.0;
  }
  if (sketch.chance(0.25)) {
    model.terms = model.terms + penalty(sketch);
  }
  model.losses = model.terms;
  if (sketch.chance(0.2)) reduce_to_scalar(sketch);
}

AdverseModel adverse_model(uint64_t seed, const std::vector<NamedParameter>& reused, bool is_twin) {
  using Block = void (*)(AdverseSketch&);
  static constexpr Block blocks[] = {grow_shared,
                                     grow_in_place,
                                     grow_parameter_views,
                                     grow_ragged,
                                     grow_sorted,
                                     grow_detached,
                                     grow_mixed_types,
                                     grow_custom,
                                     grow_coupled,
                                     grow_complex_parts};
  constexpr int64_t kLastBlock = std::size(blocks) - 1;
  constexpr int64_t kMostEntries = 60;  // of a sample's activations
  torch::manual_seed(seed);
  AdverseSketch sketch(seed);
  sketch.reused = reused;
  sketch.is_twin = is_twin;
  sketch.batch_size = sketch.integer(1, 5);
  begin(sketch);
  if (sketch.chance(0.5)) sketch.state = sketch.linear(sketch.state, sketch.integer(1, 4));
  const int64_t depth = sketch.integer(1, 4);
  for (int64_t k = 0; k < depth; ++k) {
    if (sketch.state.numel() > kMostEntries * sketch.batch_size) {
      sketch.note("flatten, linear");
      const Tensor flat = sketch.batch_major().flatten(1);
      sketch.is_time_major = false;
      sketch.kind = Sketch::Kind::kVector;
      sketch.state = sketch.linear(flat, 4);
    }
    if (sketch.chance(0.65)) {
      blocks[sketch.integer(0, kLastBlock)](sketch);
    } else if (sketch.kind == Sketch::Kind::kVector) {
      grow_vector(sketch);
    } else if (sketch.kind == Sketch::Kind::kSequence) {
      grow_sequence(sketch);
    } else {
      grow_image(sketch);
    }
    if (sketch.chance(0.5)) sketch.state = sketch.activate(sketch.state);
    if (sketch.state.requires_grad()) sketch.model.activations.push_back(sketch.state);
  }
  // By a stream of its own, so that all other seeds keep the models that once failed.
  if (Sketch(seed ^ 0x5eed).chance(0.12)) grow_routed(sketch);
  if (sketch.chance(0.1)) {
    sketch.feature("unused", "");
    sketch.factor({2});
  }
  sketch.state = sketch.state * sketch.factor({sketch.state.size(-1)});
  end_adverse(sketch);
  // The one coupling among the plain blocks.
  if (sketch.batch_size > 1 && sketch.description.find("minus-batch-mean") != std::string::npos) {
    sketch.model.features.insert("coupled");
  }
  sketch.model.parameters = std::move(sketch.parameters);
  sketch.model.description = std::move(sketch.description);
  return std::move(sketch.model);
}

}  // namespace flightdeck::tests
