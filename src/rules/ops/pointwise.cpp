// SPDX-License-Identifier: MIT
// Ops of one or several inputs that work entry by entry. Nothing but the layout is needed of them
// here: the node itself carries gradients back.
#include "rules/families.h"

namespace flightdeck::rules {

const Rule& pointwise() {
  static const PointwiseRule rule({
      "AbsBackward0", "AcosBackward0", "AcoshBackward0", "AddcdivBackward0", "AddcmulBackward0",
      "AngleBackward0", "AsinBackward0", "AsinhBackward0", "AtanBackward0", "Atan2Backward0",
      "AtanhBackward0", "CeilBackward0", "CeluBackward0", "ClampBackward0", "ClampBackward1",
      "ClampMaxBackward0", "ClampMaxBackward1", "ClampMinBackward0", "ClampMinBackward1",
      "CopysignBackward0", "CosBackward0", "CoshBackward0", "Deg2RadBackward0", "DigammaBackward0",
      "DivBackward2", "DivBackward3", "EluBackward0", "ErfBackward0", "ErfcBackward0",
      "ErfinvBackward0", "Exp2Backward0", "ExpBackward0", "Expm1Backward0", "FloorBackward0",
      "FmaxBackward0", "FminBackward0", "FmodBackward0", "FracBackward0", "FusedDropoutBackward0",
      "GeluBackward0", "HardshrinkBackward0", "HardsigmoidBackward0", "HardswishBackward0",
      "HardtanhBackward0", "HypotBackward0", "LeakyReluBackward0", "LeakyReluBackward1",
      "LerpBackward0", "LerpBackward1", "LgammaBackward0", "Log10Backward0", "Log1PBackward0",
      "Log2Backward0", "LogBackward0", "LogSigmoidBackward0", "LogaddexpBackward0",
      "Logaddexp2Backward0", "LogitBackward0", "MaskedFillBackward0", "MaximumBackward0",
      "MinimumBackward0", "MishBackward0", "NanToNumBackward0", "NativeDropoutBackward0",
      "NegBackward0", "PowBackward0", "PowBackward1", "PowBackward2", "PreluKernelBackward0",
      "ReciprocalBackward0", "ReluBackward0", "RemainderBackward0", "RoundBackward0",
      "RreluWithNoiseBackward0", "RsqrtBackward0", "RsubBackward0", "RsubBackward1",
      "SgnBackward0", "SigmoidBackward0", "SignBackward0", "SiluBackward0", "SinBackward0",
      "SincBackward0", "SinhBackward0", "SoftplusBackward0", "SoftshrinkBackward0",
      "SpecialEntrBackward0", "SpecialErfcxBackward0", "SpecialLogNdtrBackward0", "SqrtBackward0",
      "TanBackward0", "TanhBackward0", "ThresholdBackward0", "ThresholdBackward1", "TruncBackward0",
      "WhereBackward0", "XlogyBackward0", "XlogyBackward1", "XlogyBackward2",
  });
  return rule;
}

}  // namespace flightdeck::rules
