// SPDX-License-Identifier: MIT
// Blocks that plain layers do not show: shared submodules, writes in place, views of parameters,
// masks, experts, sorting, detached parts, mixed types.
#include <torch/torch.h>

#include "conformance/adverse_model.h"
#include "tensors.h"

namespace flightdeck::tests {

using at::indexing::Ellipsis;

Tensor AdverseSketch::linear(const Tensor& x, int64_t outputs) {
  const int64_t inputs = x.size(-1);
  const Tensor weight = parameter({outputs, inputs}, inputs);
  return at::linear(x, weight, optional_bias(outputs));
}

Tensor AdverseSketch::bypass(const Tensor& parameter) {
  model.has_bypass = true;
  if (!is_twin) return parameter;
  model.bypasses.push_back(parameter * 1.0);
  return model.bypasses.back();
}

Tensor AdverseSketch::mask(at::IntArrayRef shape) { return random(shape).gt(-0.5).to(doubles()); }

void AdverseSketch::feature(const std::string& name, const std::string& word) {
  model.features.insert(name);
  note("[" + name + "] " + word);
}

void AdverseSketch::narrow_to(at::ScalarType type) {
  if (c10::elementSize(type) < c10::elementSize(model.narrowest)) model.narrowest = type;
}

void grow_shared(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t features = x.size(-1);
  const Tensor weight = sketch.parameter({features, features}, features);
  const Tensor bias = sketch.optional_bias(features);
  const auto layer = [&](const Tensor& t) { return at::linear(t, weight, bias).tanh(); };
  switch (sketch.integer(0, 2)) {
    case 0:
      sketch.feature("shared", "layer twice");
      sketch.state = layer(layer(x));
      return;
    case 1:
      sketch.feature("shared", "siamese");
      sketch.state = (layer(x) - layer(x.flip(-1) * 0.5)).square() + x;
      return;
    default:
      sketch.feature("shared", "unrolled");
      Tensor hidden = x;
      for (int64_t t = 0; t < 3; ++t) hidden = layer(hidden) + x;
      sketch.state = hidden;
  }
}

// On the output of a linear layer, which no node has saved.
void grow_in_place(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t features = sketch.integer(2, 4);
  Tensor y = sketch.linear(x, features);
  const int64_t b = sketch.batch_axis();
  const auto named = [&](const char* word) { sketch.feature("in-place", word); };
  switch (sketch.integer(0, 11)) {
    case 0:
      named("relu_");
      y.relu_();
      break;
    case 1:
      named("add_ of a parameter");
      y.add_(sketch.parameter({features}));
      break;
    case 2:
      named("mul_ by a parameter");
      y.mul_(sketch.factor({features}));
      break;
    case 3:
      named("masked_fill_");
      y.masked_fill_(sketch.mask(y.sizes()).eq(0), 0.5);
      break;
    case 4:
      named("copy_ into a slice");
      y.slice(-1, 0, 1).copy_(sketch.linear(x, 1).sin());
      break;
    case 5:
      named("mul_ of a selected feature");
      y.select(-1, 0).mul_(2.0);
      break;
    case 6:
      named("index_put_");
      y.index_put_({Ellipsis, 1}, sketch.linear(x, 1).squeeze(-1));
      break;
    case 7:
      named("zero_ of one sample");
      y.narrow(b, 0, 1).zero_();
      break;
    case 8: {
      named("copy_ into a buffer");
      const Tensor buffer = at::zeros(y.sizes(), y.options());
      buffer.slice(-1, 1).copy_(y.slice(-1, 0, features - 1));
      buffer.select(-1, 0).add_(y.select(-1, features - 1));
      y = buffer;
      break;
    }
    case 9:
      named("clamp_ and sub_");
      y.clamp_(-1.0, 1.5).sub_(sketch.parameter({features}));
      break;
    case 10:
      named("copy_ of a parameter into one sample");
      y.select(b, sketch.integer(0, y.size(b) - 1)).copy_(sketch.parameter({features}));
      break;
    default:
      named("sample by sample");
      const Tensor written = at::zeros(y.sizes(), y.options());
      for (int64_t n = 0; n < y.size(b); ++n) written.select(b, n).copy_(y.select(b, n).sin());
      y = written;
  }
  sketch.state = y;
}

void grow_parameter_views(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1);
  const int64_t O = sketch.integer(1, 3);
  const auto named = [&](const char* word) { sketch.feature("parameter-views", word); };
  switch (sketch.integer(0, 11)) {
    case 0: {
      named("overlapping narrows");
      const Tensor w = sketch.parameter({2 * O * I}, I);
      sketch.state = at::linear(x, w.narrow(0, 0, O * I).view({O, I})) +
                     at::linear(x, w.narrow(0, O * I / 2, O * I).view({O, I})).tanh();
      return;
    }
    case 1: {
      named("two slices");
      const Tensor w = sketch.parameter({O + 1, I}, I);
      sketch.state = at::linear(x, w.slice(0, 1)) * at::linear(x, w.slice(0, 0, O));
      return;
    }
    case 2: {
      named("expanded and itself");
      const Tensor w = sketch.factor({I});
      sketch.state = x * w + w.expand(x.sizes()) * x.sin();
      return;
    }
    case 3: {
      named("itself and transposed");
      const Tensor w = sketch.parameter({I, I}, I);
      sketch.state = at::linear(x, w) + at::linear(x.tanh(), w.t());
      return;
    }
    case 4: {
      named("chunks");
      const auto parts = sketch.parameter({3 * O, I}, I).chunk(3, 0);
      sketch.state =
          at::linear(x, parts[0]) * at::linear(x, parts[1]).sigmoid() + at::linear(x, parts[2]);
      return;
    }
    case 5: {
      named("diagonal and itself");
      const Tensor w = sketch.parameter({I, I}, I);
      sketch.state = x * w.diagonal() + at::linear(x, w);
      return;
    }
    case 6: {
      named("0-dim");
      const Tensor scale = sketch.factor({});
      sketch.state = x * scale + scale.exp() * x.tanh();
      return;
    }
    case 7: {
      named("unbound rows");
      const auto rows = sketch.factor({3, I}).unbind(0);
      sketch.state = x * rows[0] + (x * rows[2]).sin();
      return;
    }
    case 8: {
      named("selected by index");
      const Tensor w = sketch.parameter({3, I}, I);
      sketch.state = at::linear(x, w.index_select(0, random_integers({O}, 3)));
      return;
    }
    case 9: {
      named("strided");
      const Tensor w = sketch.parameter({O + I}, I);
      sketch.state = at::linear(x, w.as_strided({O, I}, {1, 1}));
      return;
    }
    case 10: {
      named("flipped, rolled, repeated");
      const Tensor w = sketch.parameter({1, I}, I);
      sketch.state = at::linear(x, w.repeat({O, 1}).roll(1, 1)) + at::linear(x, w.flip(1));
      return;
    }
    default: {
      named("a different row for each sample");
      const int64_t N = sketch.batch_size;
      const Tensor w = sketch.factor({4, I});
      const Tensor rows = w.index_select(0, random_integers({N}, 4));  // [N, I]
      const Tensor y = sketch.batch_major();
      std::vector<int64_t> shape(y.dim(), 1);
      shape.front() = N;
      shape.back() = I;
      sketch.set_batch_major(y * rows.view(shape));
    }
  }
}

void grow_ragged(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1);
  std::vector<int64_t> positions = x.sizes().vec();
  positions.back() = 1;
  const Tensor mask = sketch.mask(positions);
  const auto named = [&](const char* word) { sketch.feature("ragged", word); };
  switch (sketch.integer(0, 4)) {
    case 0:
      named("times a mask");
      sketch.state = sketch.linear(x, I) * mask;
      return;
    case 1:
      named("masked_fill");
      sketch.state = sketch.linear(x, I).masked_fill(mask.eq(0), 0.0).tanh();
      return;
    case 2: {
      named("packed");
      const Tensor kept = mask.flatten().nonzero().squeeze(1);
      if (kept.numel() == 0) return;
      const Tensor packed = sketch.linear(x.reshape({-1, I}).index_select(0, kept), I).tanh();
      sketch.state =
          at::zeros({mask.numel(), I}, x.options()).index_copy(0, kept, packed).view(x.sizes());
      return;
    }
    case 3:
      named("where");
      sketch.state = at::where(mask.gt(0), x, sketch.parameter({I}));
      return;
    default: {
      named("masked mean");
      const bool is_sequence = sketch.kind == Sketch::Kind::kSequence;
      const int64_t axis = is_sequence ? 1 - sketch.batch_axis() : x.dim() - 1;
      const Tensor weights = sketch.mask(x.sizes());
      const Tensor mean = (x * weights).sum(axis, true) / weights.sum(axis, true).clamp_min(1.0);
      sketch.state = x - mean;
    }
  }
}

// Positions go to one or two of several experts, and come back to where they were.
void grow_routed(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1), E = sketch.integer(1, 4),
                k = sketch.integer(1, std::min(E, int64_t(2)));
  const Tensor tokens = x.reshape({-1, I});
  const Tensor scores = sketch.linear(tokens, E).softmax(-1);
  const auto [weights, chosen] = scores.topk(k, -1);
  const bool has_one_parameter = sketch.chance(0.5), keeps_empty = sketch.chance(0.3);
  const Tensor all = has_one_parameter ? sketch.parameter({E, I, I}, I) : Tensor();
  const int64_t way = sketch.integer(0, 4);
  static const char* const kWays[] = {"index_add", "index_put", "index_copy", "mask", "sorted"};
  sketch.feature("routed", kWays[way]);
  Tensor result = way == 0 && sketch.chance(0.5) ? tokens : at::zeros_like(tokens);
  std::vector<Tensor> outputs, order;
  for (int64_t e = 0; e < E; ++e) {
    const Tensor found = chosen.eq(e).nonzero();
    const Tensor own = found.select(1, 0), place = found.select(1, 1);
    const Tensor weight = all.defined() ? all[e] : sketch.parameter({I, I}, I);
    if (own.numel() == 0 && !keeps_empty) continue;
    const Tensor factors = weights.index({own, place}).unsqueeze(1);
    const auto made = [&](const Tensor& taken) { return at::linear(taken, weight).tanh(); };
    switch (way) {
      case 0:
        result = result.index_add(0, own, made(tokens.index({own})) * factors, 0.5);
        break;
      case 1:
        result = result.index_put({own}, made(tokens.index_select(0, own)) * factors, true);
        break;
      case 2: {
        // An expert overwrites what others put there.
        result = result.index_copy(0, own, made(tokens.index_select(0, own)) * factors);
        break;
      }
      case 3: {
        const Tensor mask = chosen.eq(e).any(1);
        const Tensor whole = x.reshape(tokens.sizes()).index({mask});
        result = result.index_put({mask}, result.index({mask}) + made(whole));
        break;
      }
      default:
        outputs.push_back(made(tokens.index({own})) * factors);
        order.push_back(own * k + place);
    }
  }
  if (way == 4) {
    const Tensor back = at::cat(order).argsort();
    result = at::cat(outputs).index({back}).view({-1, k, I}).sum(1);
  }
  result = result.view(x.sizes());
  sketch.state = sketch.chance(0.5) ? x + result : result;
}

void grow_sorted(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1);
  const auto named = [&](const char* word) { sketch.feature("sorted", word); };
  switch (sketch.integer(0, 6)) {
    case 0:
      named("sort");
      sketch.state = std::get<0>(x.sort(-1)) * sketch.factor({I});
      return;
    case 1:
      named("topk");
      sketch.state = std::get<0>(x.topk((I + 1) / 2, -1));
      return;
    case 2:
      named("gather");
      sketch.state = x.gather(-1, random_integers(x.sizes(), I));
      return;
    case 3:
      named("cummax");
      sketch.state = std::get<0>(x.cummax(-1));
      return;
    case 4:
      named("minus median");
      sketch.state = x - 0.5 * std::get<0>(x.median(-1, true));
      return;
    case 5:
      named("by argsort");
      sketch.state = sketch.linear(x, I).gather(-1, x.detach().argsort(-1, /*descending=*/false));
      return;
    default:
      named("minus max");
      sketch.state = x - x.amax(-1, true) * 0.5;
  }
}

void grow_detached(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1);
  const auto named = [&](const char* word) { sketch.feature("detached", word); };
  switch (sketch.integer(0, 5)) {
    case 0:
      named("x times x.detach()");
      sketch.state = x * x.detach().tanh();
      return;
    case 1:
      named("straight-through");
      sketch.state = x + (x.round() - x).detach();
      return;
    case 2: {
      named("scale without gradient");
      Tensor scale;
      {
        const at::NoGradGuard guard;
        scale = x.abs().mean(-1, true) + 1.0;
      }
      sketch.state = x / scale;
      return;
    }
    case 3: {
      named("weight in use and detached");
      const Tensor w = sketch.parameter({I, I}, I);
      sketch.state = at::linear(at::linear(x, w.detach()).tanh(), w);
      return;
    }
    case 4:
      named("frozen parameter");
      sketch.state = x * sketch.remember(random({I}));
      return;
    default:
      named("target branch");
      sketch.state = x - 0.5 * sketch.linear(x, I).detach();
  }
}

void grow_mixed_types(AdverseSketch& sketch) {
  const Tensor x = sketch.state;
  const int64_t I = x.size(-1);
  const int64_t O = sketch.integer(1, 4);
  const auto named = [&](const char* word) { sketch.feature("mixed-types", word); };
  const auto cast_linear = [&](at::ScalarType type) {
    sketch.narrow_to(type);
    const Tensor w = sketch.parameter({O, I}, I);
    sketch.state = at::linear(x.to(type), w.to(type)).to(at::kDouble);
  };
  switch (sketch.integer(0, 3)) {
    case 0:
      named("float32 layer");
      cast_linear(at::kFloat);
      return;
    case 1:
      named("bfloat16 layer");
      cast_linear(at::kBFloat16);
      return;
    case 2: {
      named("float32 parameter");
      sketch.narrow_to(at::kFloat);
      const Tensor w = sketch.remember(random({I}).to(at::kFloat).requires_grad_(true));
      sketch.state = x * w;
      return;
    }
    default: {
      named("float32 activation function");
      sketch.narrow_to(at::kFloat);
      sketch.state = sketch.linear(x, O).to(at::kFloat).tanh().to(at::kDouble);
    }
  }
}

}  // namespace flightdeck::tests
