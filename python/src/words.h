// SPDX-License-Identifier: MIT
// Enumerations are words in Python: "mean" for Reduction::kMean. A word that is none is a
// ValueError that lists those that are.
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "flightdeck/flightdeck.h"
#include "flightdeck/lamp.h"
#include "passes/gradient_fields.h"

namespace flightdeck::python {

template <typename Enum>
struct Word {
  const char* word;
  Enum value;
};

// Has what messages call each enumeration, and its words.
template <typename Enum>
struct Words;

// Use it as FLIGHTDECK_WORDS(Type, "what it is called", {"word", value}, ...).
#define FLIGHTDECK_WORDS(Enum, called, ...)            \
  template <>                                          \
  struct Words<Enum> {                                 \
    using E = Enum;                                    \
    static constexpr const char* what = called;        \
    static constexpr Word<Enum> all[] = {__VA_ARGS__}; \
  }

// Needs have the names of the fields that they ask for.
template <>
struct Words<Need> {
  static constexpr const char* what = "need";
  static const std::vector<Word<Need>> all;
};
inline const std::vector<Word<Need>> Words<Need>::all = [] {
  std::vector<Word<Need>> words;
  for (const GradientField& field : gradient_fields()) words.push_back({field.name, field.need});
  return words;
}();

// clang-format off
FLIGHTDECK_WORDS(CurvatureNeed, "curvature need",
                 {"diag_ggn", E::kDiagGgn}, {"diag_ggn_mc", E::kDiagGgnMc},
                 {"diag_hessian", E::kDiagHessian}, {"diag_ggn_per_sample", E::kDiagGgnPerSample},
                 {"diag_ggn_mc_per_sample", E::kDiagGgnMcPerSample},
                 {"diag_hessian_per_sample", E::kDiagHessianPerSample},
                 {"trace_ggn", E::kTraceGgn}, {"trace_ggn_mc", E::kTraceGgnMc},
                 {"trace_hessian", E::kTraceHessian}, {"kfac", E::kKfac}, {"kflr", E::kKflr},
                 {"kfra", E::kKfra});
FLIGHTDECK_WORDS(BatchNormPolicy, "batch_norm",
                 {"refuse", E::kRefuse}, {"constant_statistics", E::kConstantStatistics},
                 {"split_gradient", E::kSplitGradient});
FLIGHTDECK_WORDS(Reduction, "reduction", {"mean", E::kMean}, {"sum", E::kSum});
FLIGHTDECK_WORDS(SharedTerms, "shared_terms", {"keep", E::kKeep}, {"leave_out", E::kLeaveOut});
FLIGHTDECK_WORDS(WeightSharing, "weight_sharing",
                 {"patch_sums", E::kPatchSums}, {"expand", E::kExpand}, {"reduce", E::kReduce});
FLIGHTDECK_WORDS(CurvatureKind, "curvature",
                 {"hessian", E::kHessian}, {"ggn", E::kGgn},
                 {"empirical_fisher", E::kEmpiricalFisher}, {"pch_clip", E::kPchClip},
                 {"pch_abs", E::kPchAbs});
FLIGHTDECK_WORDS(BatchAverage, "average",
                 {"products", E::kProducts}, {"jacobians", E::kJacobians});
FLIGHTDECK_WORDS(PchOrder, "pch_order",
                 {"average_first", E::kAverageFirst}, {"sample_first", E::kSampleFirst});
FLIGHTDECK_WORDS(DampingSplit, "split", {"trace", E::kTrace}, {"exact", E::kExact});
FLIGHTDECK_WORDS(EigenMethod, "method",
                 {"auto", E::kAuto}, {"lanczos", E::kLanczos}, {"lobpcg", E::kLobpcg});
FLIGHTDECK_WORDS(TraceMethod, "method",
                 {"xtrace", E::kXTrace}, {"hutchinson", E::kHutchinson},
                 {"hutch++", E::kHutchPlusPlus});
FLIGHTDECK_WORDS(DiagonalMethod, "method",
                 {"hutchinson", E::kHutchinson}, {"xdiag", E::kXDiag});
FLIGHTDECK_WORDS(LossColumns, "columns", {"exact", E::kExact}, {"sampled", E::kSampled});
FLIGHTDECK_WORDS(Cost, "cost",
                 {"free", E::kFree}, {"first_order", E::kFirstOrder},
                 {"curvature", E::kCurvature}, {"spectrum", E::kSpectrum});
FLIGHTDECK_WORDS(CoverageLevel, "level",
                 {"exact-fast", E::kExactFast}, {"exact-slow", E::kExactSlow},
                 {"refused", E::kRefused}, {"unused", E::kUnused});
FLIGHTDECK_WORDS(Ending, "ending",
                 {"finished", E::kFinished}, {"interrupted", E::kInterrupted},
                 {"diverged", E::kDiverged}, {"failed", E::kFailed});
FLIGHTDECK_WORDS(RunStatus, "status",
                 {"running", E::kRunning}, {"finished", E::kFinished},
                 {"interrupted", E::kInterrupted}, {"diverged", E::kDiverged},
                 {"failed", E::kFailed}, {"killed", E::kKilled}, {"unreadable", E::kUnreadable});
FLIGHTDECK_WORDS(ReadingKind, "kind",
                 {"number", E::kNumber}, {"list", E::kList}, {"histogram", E::kHistogram});
FLIGHTDECK_WORDS(NoteKind, "kind",
                 {"remark", E::kRemark}, {"switched_off", E::kSwitchedOff},
                 {"not_stored", E::kNotStored});
FLIGHTDECK_WORDS(Severity, "severity",
                 {"advice", E::kAdvice}, {"warning", E::kWarning}, {"failure", E::kFailure});
FLIGHTDECK_WORDS(Layout::Kind, "kind",
                 {"batch", E::kBatch}, {"reduced", E::kReduced}, {"free", E::kFree},
                 {"unknown", E::kUnknown}, {"mixed", E::kMixed}, {"coupled", E::kCoupled},
                 {"unset", E::kUnset});
// clang-format on
#undef FLIGHTDECK_WORDS

template <typename Enum>
Enum value_of_word(const std::string& text) {
  std::string known;
  for (const Word<Enum>& word : Words<Enum>::all) {
    if (text == word.word) return word.value;
    known += (known.empty() ? "" : ", ") + std::string(word.word);
  }
  throw pybind11::value_error("there is no " + std::string(Words<Enum>::what) + " '" + text +
                              "'; choose one of " + known);
}

template <typename Enum>
const char* word_of_value(Enum value) {
  for (const Word<Enum>& word : Words<Enum>::all) {
    if (word.value == value) return word.word;
  }
  return "";
}

// Converts one word to an enumeration, and back.
template <typename Enum>
struct WordCaster {
  PYBIND11_TYPE_CASTER(Enum, pybind11::detail::const_name("str"));

  bool load(pybind11::handle source, bool) {
    if (!pybind11::isinstance<pybind11::str>(source)) return false;
    value = value_of_word<Enum>(source.cast<std::string>());
    return true;
  }
  static pybind11::handle cast(Enum from, pybind11::return_value_policy, pybind11::handle) {
    return pybind11::str(word_of_value(from)).release();
  }
};

// Converts one word or several to a set of needs.
template <typename Enum>
struct WordsCaster {
  PYBIND11_TYPE_CASTER(NeedSet<Enum>, pybind11::detail::const_name("str | Sequence[str]"));

  bool load(pybind11::handle source, bool) {
    value = {};
    if (pybind11::isinstance<pybind11::str>(source)) {
      value = value_of_word<Enum>(source.cast<std::string>());
      return true;
    }
    if (!pybind11::isinstance<pybind11::iterable>(source)) return false;
    for (const pybind11::handle item : pybind11::reinterpret_borrow<pybind11::object>(source)) {
      if (!pybind11::isinstance<pybind11::str>(item)) return false;
      value = value | NeedSet<Enum>(value_of_word<Enum>(item.cast<std::string>()));
    }
    return true;
  }
  static pybind11::handle cast(const NeedSet<Enum>& from,
                               pybind11::return_value_policy,
                               pybind11::handle) {
    pybind11::list words;
    for (const Word<Enum>& word : Words<Enum>::all) {
      if (from.has(word.value)) words.append(word.word);
    }
    return words.release();
  }
};

}  // namespace flightdeck::python

namespace pybind11::detail {

#define FLIGHTDECK_WORD(Enum) \
  template <>                 \
  struct type_caster<Enum> : flightdeck::python::WordCaster<Enum> {}
FLIGHTDECK_WORD(flightdeck::BatchNormPolicy);
FLIGHTDECK_WORD(flightdeck::Reduction);
FLIGHTDECK_WORD(flightdeck::SharedTerms);
FLIGHTDECK_WORD(flightdeck::WeightSharing);
FLIGHTDECK_WORD(flightdeck::CurvatureKind);
FLIGHTDECK_WORD(flightdeck::BatchAverage);
FLIGHTDECK_WORD(flightdeck::PchOrder);
FLIGHTDECK_WORD(flightdeck::DampingSplit);
FLIGHTDECK_WORD(flightdeck::EigenMethod);
FLIGHTDECK_WORD(flightdeck::TraceMethod);
FLIGHTDECK_WORD(flightdeck::DiagonalMethod);
FLIGHTDECK_WORD(flightdeck::LossColumns);
FLIGHTDECK_WORD(flightdeck::Cost);
FLIGHTDECK_WORD(flightdeck::CoverageLevel);
FLIGHTDECK_WORD(flightdeck::Ending);
FLIGHTDECK_WORD(flightdeck::RunStatus);
FLIGHTDECK_WORD(flightdeck::ReadingKind);
FLIGHTDECK_WORD(flightdeck::NoteKind);
FLIGHTDECK_WORD(flightdeck::Severity);
FLIGHTDECK_WORD(flightdeck::Layout::Kind);
#undef FLIGHTDECK_WORD

template <>
struct type_caster<flightdeck::Needs> : flightdeck::python::WordsCaster<flightdeck::Need> {};
template <>
struct type_caster<flightdeck::CurvatureNeeds>
    : flightdeck::python::WordsCaster<flightdeck::CurvatureNeed> {};

}  // namespace pybind11::detail
