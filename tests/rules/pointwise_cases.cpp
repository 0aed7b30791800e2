// SPDX-License-Identifier: MIT
#include "rules/op_cases.h"

namespace flightdeck::tests {
namespace {

using T = const Tensor&;

OpCases of_one_input() {
  return {
      {"Abs", [](T x, T) { return (x - 0.5).abs(); }},
      {"Acos", [](T x, T) { return x.acos(); }},
      {"Acosh", [](T x, T) { return x.acosh(); }, {4, 6}, {}, 1},
      {"Asin", [](T x, T) { return x.asin(); }},
      {"Asinh", [](T x, T) { return x.asinh(); }},
      {"Atan", [](T x, T) { return x.atan(); }},
      {"Atanh", [](T x, T) { return x.atanh(); }},
      {"Ceil", [](T x, T) { return x.ceil() + x; }},
      {"Celu", [](T x, T) { return at::celu(x - 0.5, 0.7); }},
      {"ClampByNumbers", [](T x, T) { return x.clamp(0.3, 0.6); }},
      {"ClampMax", [](T x, T) { return x.clamp_max(0.6); }},
      {"ClampMin", [](T x, T) { return x.clamp_min(0.3); }},
      {"Cos", [](T x, T) { return x.cos(); }},
      {"Cosh", [](T x, T) { return x.cosh(); }},
      {"Deg2Rad", [](T x, T) { return x.deg2rad(); }},
      {"Digamma", [](T x, T) { return x.digamma(); }},
      {"DivideRounded", [](T x, T) { return x.div(at::Scalar(0.3), "floor") + x; }},
      {"Elu", [](T x, T) { return at::elu(x - 0.5); }},
      {"Erf", [](T x, T) { return x.erf(); }},
      {"Erfc", [](T x, T) { return x.erfc(); }},
      {"Erfcx", [](T x, T) { return at::special_erfcx(x); }},
      {"Erfinv", [](T x, T) { return x.erfinv(); }},
      {"Entr", [](T x, T) { return at::special_entr(x); }},
      {"Exp", [](T x, T) { return x.exp(); }},
      {"Exp2", [](T x, T) { return x.exp2(); }},
      {"Expm1", [](T x, T) { return x.expm1(); }},
      {"Floor", [](T x, T) { return x.floor() + x; }},
      {"Frac", [](T x, T) { return x.frac(); }},
      {"Gelu", [](T x, T) { return at::gelu(x - 0.5); }},
      {"GeluOfTanh", [](T x, T) { return at::gelu(x - 0.5, "tanh"); }},
      {"Hardshrink", [](T x, T) { return at::hardshrink(x - 0.5, 0.1); }},
      {"Hardsigmoid", [](T x, T) { return at::hardsigmoid(x); }},
      {"Hardswish", [](T x, T) { return at::hardswish(x - 0.5); }},
      {"Hardtanh", [](T x, T) { return at::hardtanh(x, 0.3, 0.6); }},
      {"LeakyRelu", [](T x, T) { return at::leaky_relu(x - 0.5, 0.2); }},
      {"LeakyReluInPlace",
       [](T x, T) {
         Tensor y = x - 0.5;
         return at::leaky_relu_(y, 0.2);
       }},
      {"Lgamma", [](T x, T) { return x.lgamma(); }},
      {"Log", [](T x, T) { return x.log(); }},
      {"Log10", [](T x, T) { return x.log10(); }},
      {"Log1p", [](T x, T) { return x.log1p(); }},
      {"Log2", [](T x, T) { return x.log2(); }},
      {"LogNdtr", [](T x, T) { return at::special_log_ndtr(x); }},
      {"LogSigmoid", [](T x, T) { return at::log_sigmoid(x); }},
      {"Logit", [](T x, T) { return x.logit(); }},
      {"Mish", [](T x, T) { return at::mish(x - 0.5); }},
      {"NanToNum", [](T x, T) { return x.nan_to_num(); }},
      {"Neg", [](T x, T) { return x.neg(); }},
      {"PowOfNumber", [](T x, T) { return x.pow(3); }},
      {"PowOfBase", [](T x, T) { return at::pow(at::Scalar(1.5), x); }},
      {"Reciprocal", [](T x, T) { return x.reciprocal(); }},
      {"Relu", [](T x, T) { return (x - 0.5).relu(); }},
      {"Remainder", [](T x, T) { return x.remainder(0.3); }},
      {"Fmod", [](T x, T) { return x.fmod(0.3); }},
      {"Round", [](T x, T) { return x.round() + x; }},
      {"Rsqrt", [](T x, T) { return x.rsqrt(); }},
      {"RsubOfNumber", [](T x, T) { return at::rsub(x, at::Scalar(2)); }},
      {"Sgn", [](T x, T) { return x.sgn() + x; }},
      {"Sigmoid", [](T x, T) { return x.sigmoid(); }},
      {"Sign", [](T x, T) { return x.sign() + x; }},
      {"Silu", [](T x, T) { return at::silu(x - 0.5); }},
      {"Sin", [](T x, T) { return x.sin(); }},
      {"Sinc", [](T x, T) { return x.sinc(); }},
      {"Sinh", [](T x, T) { return x.sinh(); }},
      {"Softplus", [](T x, T) { return at::softplus(x, 1.5); }},
      {"Softshrink", [](T x, T) { return at::softshrink(x - 0.5, 0.1); }},
      {"Sqrt", [](T x, T) { return x.sqrt(); }},
      {"Square", [](T x, T) { return x.square(); }},
      {"Tan", [](T x, T) { return x.tan(); }},
      {"Tanh", [](T x, T) { return x.tanh(); }},
      {"Threshold", [](T x, T) { return at::threshold(x, 0.4, 0.1); }},
      {"ThresholdInPlace",
       [](T x, T) {
         Tensor y = x * 1.0;
         return at::threshold_(y, 0.4, 0.1);
       }},
      {"Trunc", [](T x, T) { return x.trunc() + x; }},
      {"MaskedFill", [](T x, T) { return x.masked_fill(x.detach() > 0.5, 0.2); }},
      {"Dropout", [](T x, T) { return std::get<0>(at::native_dropout(x, 0.3, true)); }},
      {"Rrelu", [](T x, T) { return at::rrelu(x - 0.5, 0.1, 0.3, /*training=*/true); }},
      {"ScaleByNumber", [](T x, T) { return x.mul(at::Scalar(1.5)).div(at::Scalar(0.7)); }},
      {"AddNumber", [](T x, T) { return x.add(at::Scalar(1.5)).sub(at::Scalar(0.7)); }},
  };
}

OpCases of_several_inputs() {
  return {
      {"Add", [](T x, T p) { return x + p; }},
      {"AddTwice", [](T x, T p) { return at::add(x, p, 2); }},
      {"Addcdiv", [](T x, T p) { return at::addcdiv(x, p, x + 1, 0.7); }},
      {"Addcmul", [](T x, T p) { return at::addcmul(p, x, x + p, 0.7); }},
      {"Atan2", [](T x, T p) { return at::atan2(x, p); }},
      {"ClampByTensors", [](T x, T p) { return x.clamp(p * 0.5, p + 0.1); }},
      {"ClampMaxByTensor", [](T x, T p) { return x.clamp_max(p); }},
      {"ClampMinByTensor", [](T x, T p) { return x.clamp_min(p); }},
      {"Copysign", [](T x, T p) { return at::copysign(x, p - 0.5); }},
      {"CopysignOfNumber", [](T x, T) { return at::copysign(x, at::Scalar(-1.0)); }},
      {"Div", [](T x, T p) { return x / p; }},
      {"DivRounded", [](T x, T p) { return at::div(x, p, "trunc") + x; }},
      {"Fmax", [](T x, T p) { return at::fmax(x, p); }},
      {"Fmin", [](T x, T p) { return at::fmin(x, p); }},
      {"FmodOfTensor", [](T x, T p) { return at::fmod(x, p.detach()); }},
      {"Hypot", [](T x, T p) { return at::hypot(x, p); }},
      {"LerpByNumber", [](T x, T p) { return at::lerp(x, p, 0.3); }},
      {"LerpByTensor", [](T x, T p) { return at::lerp(x, p, x * p); }},
      {"Logaddexp", [](T x, T p) { return at::logaddexp(x, p); }},
      {"Logaddexp2", [](T x, T p) { return at::logaddexp2(x, p); }},
      {"Maximum", [](T x, T p) { return at::maximum(x, p); }},
      {"Minimum", [](T x, T p) { return at::minimum(x, p); }},
      {"Mul", [](T x, T p) { return x * p; }},
      {"MulWithItself", [](T x, T p) { return x * x * p; }},
      {"Pow", [](T x, T p) { return x.pow(p); }},
      {"Prelu", [](T x, T p) { return at::prelu(x - 0.5, p); }, {4, 6}, {4}},
      {"RemainderOfTensor", [](T x, T p) { return at::remainder(x, p.detach()); }},
      {"Rsub", [](T x, T p) { return at::rsub(x, p); }},
      {"Sub", [](T x, T p) { return x - p; }},
      {"SlopeOfElu",
       [](T x, T p) { return at::elu_backward(x * p, 0.7, 1.1, 1, /*is_result=*/false, x - 0.5); }},
      {"SlopeOfGelu", [](T x, T p) { return at::gelu_backward(x * p, x - 0.5); }},
      {"SlopeOfSigmoid", [](T x, T p) { return at::sigmoid_backward(x * p, x); }},
      {"SlopeOfSoftplus", [](T x, T p) { return at::softplus_backward(x * p, x, 1.5, 20); }},
      {"SlopeOfTanh", [](T x, T p) { return at::tanh_backward(x * p, x); }},
      {"Where", [](T x, T p) { return at::where(x.detach() > 0.5, x, p * x); }},
      {"Xlogy", [](T x, T p) { return at::xlogy(x, p); }},
      {"XlogyOfNumber", [](T x, T) { return at::xlogy(at::Scalar(0.7), x); }},
      {"XlogyByNumber", [](T x, T) { return at::xlogy(x, at::Scalar(0.7)); }},
  };
}

}  // namespace

OpCases pointwise_cases() {
  OpCases all = of_one_input();
  const OpCases more = of_several_inputs();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace flightdeck::tests
