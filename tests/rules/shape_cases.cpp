// SPDX-License-Identifier: MIT
#include "rules/op_cases.h"

namespace flightdeck::tests {
namespace {

using T = const Tensor&;

Tensor integers(T like, std::vector<int64_t> values) {
  return at::tensor(values, like.options().dtype(at::kLong));
}

// All samples, and of each the entries 1 and 2.
c10::List<c10::optional<Tensor>> places_of(const Tensor& x) {
  c10::List<c10::optional<Tensor>> places;
  places.push_back(c10::nullopt);
  places.push_back(integers(x, {1, 2}));
  return places;
}

}  // namespace

OpCases reduction_cases() {
  return {
      {"Amax", [](T x, T) { return x.amax({1}); }},
      {"Amin",
       [](T x, T) {
         return x.amin({1, 2}, true);
       }},
      {"VectorNorm", [](T x, T) { return at::linalg_vector_norm(x, 2, at::IntArrayRef{2}); }},
      {"Norm", [](T x, T) { return x.norm(2, {2}, true); }},
      {"Logsumexp", [](T x, T) { return x.logsumexp({2}); }},
      {"LogsumexpOfTwo",
       [](T x, T) {
         return x.logsumexp({1, 2}, true);
       }},
      {"Max", [](T x, T) { return std::get<0>(x.max(1)); }},
      {"Min", [](T x, T) { return std::get<0>(x.min(2, true)); }},
      {"Mean", [](T x, T) { return x.mean({1}); }},
      {"MeanOfAll", [](T x, T p) { return x * p.mean(); }},
      {"Prod", [](T x, T) { return x.prod(1); }},
      {"Std", [](T x, T) { return x.std({1}, true, true); }},
      {"Sum",
       [](T x, T) {
         return x.sum({1, 2});
       }},
      {"SumOfAll", [](T x, T p) { return x * p.sum(); }},
      {"Var", [](T x, T) { return x.var({2}, false); }},
      {"Cumsum", [](T x, T) { return x.cumsum(1); }},
      {"Cumprod", [](T x, T) { return x.cumprod(1); }},
      {"Logcumsumexp", [](T x, T) { return x.logcumsumexp(2); }},
  };
}

OpCases rearrangement_cases() {
  return {
      {"Alias", [](T x, T) { return at::alias(x); }},
      {"Clone", [](T x, T) { return x.clone(); }},
      {"Cast", [](T x, T) { return x.to(at::kFloat).to(at::kDouble); }},
      {"View",
       [](T x, T) {
         return x.view({x.size(0), 24});
       }},
      {"UnsafeView",
       [](T x, T) {
         return at::_unsafe_view(x, {x.size(0), 24});
       }},
      {"ReshapeAlias",
       [](T x, T) {
         return at::_reshape_alias(x, {x.size(0), 24}, {24, 1});
       }},
      {"Squeeze", [](T x, T) { return x.unsqueeze(1).squeeze(); }},
      {"SqueezeOneDim", [](T x, T) { return x.unsqueeze(1).squeeze(1); }},
      {"SqueezeInPlace", [](T x, T) { return (x * 1.0).unsqueeze_(1).squeeze_(); }},
      {"SqueezeOneDimInPlace", [](T x, T) { return (x * 1.0).unsqueeze_(1).squeeze_(1); }},
      {"Permute",
       [](T x, T) {
         return x.permute({0, 2, 1});
       }},
      {"Transpose", [](T x, T) { return x.transpose(1, 2); }},
      {"TransposeInPlace", [](T x, T) { return (x * 1.0).transpose_(1, 2); }},
      {"TransposedMatrix", [](T x, T p) { return x * p.t(); }, {4, 6}, {6, 4}},
      {"TransposedMatrixInPlace", [](T x, T p) { return x * (p * 1.0).t_(); }, {4, 6}, {6, 4}},
      {"Expand",
       [](T x, T p) {
         return x + p.unsqueeze(0).expand({3, 4, 6});
       }},
      {"Repeat",
       [](T x, T) {
         return x.repeat({1, 2, 1});
       }},
      {"Cat",
       [](T x, T p) {
         return at::cat({x, x * p}, 1);
       }},
      {"Stack",
       [](T x, T p) {
         return at::stack({x, x + p}, 1);
       }},
      {"Select", [](T x, T) { return x.select(1, 2); }},
      {"Unbind",
       [](T x, T) {
         const auto parts = x.unbind(1);
         return parts[0] * parts[1] + parts[3];
       }},
      {"Slice", [](T x, T) { return x.slice(1, 1, 4, 2); }},
      {"Split",
       [](T x, T) {
         const auto parts = x.split(2, 1);
         return parts[0] * parts[1];
       }},
      {"SplitBySizes",
       [](T x, T) {
         const auto parts = x.split_with_sizes({1, 3}, 1);
         return parts[0] * parts[1];
       }},
      {"UnsafeSplit",
       [](T x, T) {
         const auto parts = at::unsafe_split(x, 2, 1);
         return parts[0] * parts[1];
       }},
      {"UnsafeSplitBySizes",
       [](T x, T) {
         const auto parts = at::unsafe_split_with_sizes(x, {1, 3}, 1);
         return parts[0] * parts[1];
       }},
      {"Flip",
       [](T x, T) {
         return x.flip({1, 2});
       }},
      {"Roll",
       [](T x, T) {
         return x.roll({1, 2}, {1, 2});
       }},
      {"AsStrided",
       [](T x, T) {
         const T same = x.contiguous();
         return same.as_strided(same.sizes(), same.strides());
       }},
      {"AsStridedInPlace",
       [](T x, T) {
         const Tensor same = x * 1.0;
         return same.as_strided_(same.sizes(), same.strides());
       }},
      {"IndexSelect",
       [](T x, T) {
         return x.index_select(1, integers(x, {3, 0, 3}));
       }},
      {"Gather",
       [](T x, T) {
         return x.gather(1, integers(x, {2, 0, 3}).view({3, 1, 1}).expand({3, 2, 6}));
       }},
      {"Index",
       [](T x, T) {
         return x.index({at::indexing::Slice(), integers(x, {1, 1, 2})});
       }},
      {"Topk", [](T x, T) { return std::get<0>(x.topk(2, 1)); }},
      {"IndexByTwoTensors",
       [](T x, T) {
         return x.index({at::indexing::Slice(), integers(x, {1, 0, 1}), integers(x, {5, 2, 2})});
       }},
      {"IndexAroundAWholeDimension",
       [](T x, T) {
         return x.index({integers(x, {2, 0, 1}), at::indexing::Slice(), integers(x, {5, 2, 2})});
       }},
      {"IndexByAMask",
       [](T x, T) {
         return x.index({at::indexing::Slice(), integers(x, {1, 0, 1, 1}).gt(0)});
       }},
      {"IndexOfPermutedSamples",
       [](T x, T) {
         return x.index({integers(x, {2, 0, 1})});
       }},
      {"IndexSelectOfPermutedSamples",
       [](T x, T) {
         return x.index_select(0, integers(x, {2, 0, 1}));
       }},
      {"InPlaceOnAView",
       [](T x, T) {
         const Tensor whole = x - 0.5;
         whole.view({-1}).relu_();
         return whole;
       }},
      {"InPlaceOnASlice",
       [](T x, T) {
         const Tensor whole = x - 0.5;
         whole.slice(1, 1, 3).tanh_();
         return whole;
       }},
      {"IndexAdd",
       [](T x, T p) {
         return x.index_add(1, integers(x, {3, 1}), x.slice(1, 0, 2) * p.slice(0, 0, 2), 0.5);
       }},
      {"IndexAddToSamples",
       [](T x, T p) {
         const Tensor lines = x.flatten(0, 1).index({integers(x, {5, 0, 11, 1, 7})}) * p;
         return x.index_add(0, integers(x, {1, 0, 2, 0, 1}), lines.unsqueeze(1).expand({5, 4, 6}));
       },
       {4, 6},
       {6}},
      {"IndexCopy",
       [](T x, T p) {
         return x.index_copy(1, integers(x, {3, 1}), x.slice(1, 0, 2) * p.slice(0, 0, 2));
       }},
      {"IndexCopyToPositions",
       [](T x, T) {
         const Tensor lines = x.flatten(0, 1).index_select(0, integers(x, {10, 1, 5})).tanh();
         return x.flatten(0, 1).index_copy(0, integers(x, {8, 0, 7}), lines).view_as(x);
       }},
      {"IndexPutOfPositions",
       [](T x, T p) {
         const Tensor lines = x.flatten(0, 1);
         return lines.index_put({integers(x, {9, 2})}, lines.index({integers(x, {11, 0})}) * p)
             .view_as(x);
       },
       {4, 6},
       {6}},
      {"IndexPut", [](T x, T p) { return at::index_put(x, places_of(x), p.slice(0, 0, 2)); }},
      {"IndexPutImpl",
       [](T x, T p) {
         Tensor written = x * 1.0;
         return at::_index_put_impl_(written, places_of(x), p.slice(0, 0, 2), /*accumulate=*/true);
       }},
      {"IndexPutIntoAView",
       [](T x, T p) {
         return (x * 1.0).index_put_({at::indexing::Slice(), integers(x, {1, 2})},
                                     p.slice(0, 0, 2));
       }},
  };
}

OpCases complex_cases() {
  const auto parts = [](T z) { return at::view_as_real(z); };
  return {
      {"Complex", [=](T x, T p) { return parts(at::complex(x, (x * p))); }},
      {"ViewAsComplex",
       [=](T x, T p) {
         const Tensor z = at::view_as_complex(at::stack({x, x * p}, -1));
         return parts(z * z);
       }},
      {"Conj",
       [=](T x, T p) {
         const Tensor z = at::complex(x, x * p);
         return parts(z.conj() * z * z);
       }},
      {"ConjPhysical", [=](T x, T p) { return parts(at::complex(x, x * p).conj_physical()); }},
      {"Polar", [=](T x, T p) { return parts(at::polar(x, x * p)); }},
      {"Angle", [=](T x, T p) { return at::complex(x, x * p).angle(); }},
      {"NegatedView", [=](T x, T p) { return at::imag(at::complex(x, x * p).conj()); }},
      {"FourierOfReal", [=](T x, T) { return parts(at::fft_rfft(x)); }},
      {"FourierOfComplex", [=](T x, T p) { return parts(at::fft_fft(at::complex(x, x * p))); }},
      {"FourierToReal", [=](T x, T p) { return at::fft_irfft(at::complex(x, x * p)); }},
  };
}

OpCases all_op_cases() {
  OpCases all;
  for (const auto& cases : {pointwise_cases(),
                            reduction_cases(),
                            rearrangement_cases(),
                            image_cases(),
                            layer_cases(),
                            loss_cases(),
                            complex_cases(),
                            newer_cases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace flightdeck::tests
