# SPDX-License-Identifier: MIT
"""The words that stand for C++ enumerations, as types."""

from __future__ import annotations

from typing import Callable, Iterable, List, Literal, Optional, Sequence, Tuple, Union

import torch

from . import _engine

Need = Literal[
    "mean", "individual", "norms", "second_moment", "variance", "gram", "dots", "mean_dots",
    "arrived_norm", "deviations",
]
CurvatureNeed = Literal[
    "diag_ggn", "diag_ggn_mc", "diag_hessian", "diag_ggn_per_sample", "diag_ggn_mc_per_sample",
    "diag_hessian_per_sample", "trace_ggn", "trace_ggn_mc", "trace_hessian", "kfac", "kflr", "kfra",
]
BatchNorm = Literal["refuse", "constant_statistics", "split_gradient"]
Reduction = Literal["mean", "sum"]
SharedTerms = Literal["keep", "leave_out"]
WeightSharing = Literal["patch_sums", "expand", "reduce"]
CurvatureKind = Literal["hessian", "ggn", "empirical_fisher", "pch_clip", "pch_abs"]
BatchAverage = Literal["products", "jacobians"]
PchOrder = Literal["average_first", "sample_first"]
DampingSplit = Literal["trace", "exact"]
EigenMethod = Literal["auto", "lanczos", "lobpcg"]
TraceMethod = Literal["xtrace", "hutchinson", "hutch++"]
DiagonalMethod = Literal["hutchinson", "xdiag"]
LossColumns = Literal["exact", "sampled"]
Cost = Literal["free", "first_order", "curvature", "spectrum"]
CoverageLevel = Literal["exact-fast", "exact-slow", "refused", "unused"]
Ending = Literal["finished", "interrupted", "diverged", "failed"]
Severity = Literal["advice", "warning", "failure"]

#: One need or several.
Needs = Union[Need, Sequence[Need]]
CurvatureNeeds = Union[CurvatureNeed, Sequence[CurvatureNeed]]
#: A number of leading directions, positions, a condition on eigenvalues, or `Directions`.
DirectionsLike = Union["_engine.Directions", int, List[int], Tuple[int, ...], Callable[[float], bool]]
#: A parameter with its rate, momentum, whether momentum averages, whether it is Nesterov's, and what divides the step.
UpdateFormula = Tuple[torch.Tensor, float, float, bool, bool, Optional[torch.Tensor]]
#: One integer per sample.
IntegersLike = Union[torch.Tensor, Sequence[int]]
#: Every so many steps, "every 16 from 3", "every 25 after the first 50", "log 0 4", "at 0,5,9", a list of steps, or a function of the step.
DueLike = Union["_engine.DueSteps", int, str, Iterable[int], Callable[[int], bool], None]
