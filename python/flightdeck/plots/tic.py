# SPDX-License-Identifier: MIT
"""Takeuchi information criterion in both approximations."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, line_of, log_if_positive


@instrument("Takeuchi criterion", "curvature", 30, reads=["tic_diag", "tic_trace"])
def tic(run: Run, step: int) -> Optional[Lines]:
    """Takeuchi information criterion in both approximations."""
    diagonal = line_of(run, "tic_diag", "by diagonal", color=0)
    traces = line_of(run, "tic_trace", "by traces", color=1, right=bool(diagonal))
    lines = diagonal + traces
    if not lines:
        return None
    return Lines(lines, y="by diagonal" if diagonal else "by traces", y_right="by traces", scale=log_if_positive(lines))
