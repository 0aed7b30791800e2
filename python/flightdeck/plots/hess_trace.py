# SPDX-License-Identifier: MIT
"""Trace of the Hessian over the steps."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, line_of, log_if_positive


@instrument("Trace of the Hessian", "curvature", 20, reads=["hess_trace"])
def hess_trace(run: Run, step: int) -> Optional[Lines]:
    """Trace of the Hessian over the steps."""
    lines = line_of(run, "hess_trace", "trace")
    return Lines(lines, y="trace", scale=log_if_positive(lines)) if lines else None
