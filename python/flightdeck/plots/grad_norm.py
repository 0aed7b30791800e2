# SPDX-License-Identifier: MIT
"""Norm of the mini-batch gradient over the steps."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, line_of


@instrument("Gradient norm", "step_size", 30, reads=["grad_norm"])
def grad_norm(run: Run, step: int) -> Optional[Lines]:
    """Norm of the mini-batch gradient over the steps."""
    lines = line_of(run, "grad_norm", "gradient norm")
    return Lines(lines, y="norm", scale="log") if lines else None
