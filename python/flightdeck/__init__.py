# SPDX-License-Identifier: MIT
"""Flightdeck: a debugger for neural-network training, on the PyTorch that is installed.

    cockpit = flightdeck.Cockpit(model, "economy", record_to="runs/first")
    with cockpit.watch(step, losses, optimizer):  # losses [N]
        losses.mean().backward()                  # the loop's own line

`Cockpit` watches a run, `gradients` and `curvature` answer questions about one batch, and the command
``flightdeck`` shows what was recorded.
"""

from __future__ import annotations

from . import _load as _load  # first: it refuses a PyTorch of another version
from . import _engine as _engine
from ._engine import (
    Bins, Coverage, Curvature, CurvatureBatch, DataSetProgress, Diagnosis, Directions, DueSteps, Eigenpairs, Evidence,
    Finding, Gradients, JointBins, KroneckerFactors, Lamp, LampView, Layout, MemoryLimits, MemorySink, Note, OpNode,
    ParameterCurvature, ParameterGradients, Quantity, RankedCause, Reading, Recorder, RowFactors, RunDifference,
    RunInfo, RunReader,
    SeriesInfo, SpectrumNeed, StepNeeds, StepReadings, StepView, StepWatch, UpdateView, ChordView, Value,
    VivitNeed, all_presets, all_quantities, findings_in, lamp_catalogue, ops_with_rules, register_lamp,
    register_quantity, samples_first,
)
from . import _docs as _docs, _module_hooks as _module_hooks, _saved as _saved, plots
from .attach import Attachment
from .cockpit import Cockpit
from .diagnosis import diagnose, diff, preflight
from .engine import (
    Batch, Vivit, Watch, averaged_blocks, coverage, curvature, curvature_coverage, curvature_operator,
    data_set_operator, ggn_factor, gradients, noise_damping,
)
from .operators import (
    CurvatureOperator, LinearOperator, conjugate_gradients, diagonal, eigenpairs, kronecker_inverse,
    kronecker_operator, line_blocks, over_ranks, spectral_density, subspace_overlap, trace,
)
from .parameters import named_parameters
from .quantities import preset, quantity, register_preset
from .ranks import Ranks
from .reactions import Reactions
from .rules import Rule, check_rule, register_rule
from .run import Histogram, ListAt, Points, Run, read_run
from .server import Server, serve
from .sinks import Sink

_docs.describe()

__version__ = _engine.version

__all__ = [
    "Attachment", "Batch", "Bins", "ChordView", "Cockpit", "Coverage", "Curvature", "CurvatureBatch",
    "CurvatureOperator", "DataSetProgress", "Diagnosis", "Directions", "DueSteps", "Eigenpairs", "Evidence", "Finding", "Gradients",
    "Histogram", "JointBins", "KroneckerFactors", "Lamp", "LampView", "Layout", "LinearOperator", "ListAt",
    "MemoryLimits", "MemorySink", "Note", "OpNode", "ParameterCurvature", "ParameterGradients", "Points",
    "Quantity", "RankedCause", "Ranks", "Reactions", "Reading", "Recorder", "RowFactors", "Rule", "Run", "RunDifference", "RunInfo",
    "RunReader", "SeriesInfo", "Server",
    "Sink", "SpectrumNeed", "StepNeeds", "StepReadings", "StepView", "StepWatch", "UpdateView", "Value", "Vivit",
    "VivitNeed", "Watch", "all_presets", "all_quantities", "averaged_blocks", "check_rule", "conjugate_gradients",
    "coverage", "curvature", "curvature_coverage", "curvature_operator", "data_set_operator", "diagnose", "diagonal", "diff",
    "eigenpairs", "findings_in", "ggn_factor", "gradients", "kronecker_inverse", "kronecker_operator",
    "lamp_catalogue", "line_blocks", "named_parameters", "noise_damping", "ops_with_rules", "over_ranks", "plots", "preflight", "preset",
    "quantity", "read_run", "register_lamp", "register_preset", "register_quantity", "register_rule",
    "samples_first", "serve", "spectral_density", "subspace_overlap", "trace",
]
