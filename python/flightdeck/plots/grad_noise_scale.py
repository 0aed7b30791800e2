# SPDX-License-Identifier: MIT
"""Batch size at which noise and signal are equal, with both."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Line, Lines, batch_size_guide, line_of, log_if_positive


@instrument("Gradient noise scale", "more", 40, reads=["grad_noise_scale"])
def grad_noise_scale(run: Run, step: int) -> Optional[Lines]:
    """Batch size at which noise and signal are equal, with both."""
    lines = line_of(run, "grad_noise_scale", "noise scale", color=0)
    if not lines:
        return None
    for k, field in enumerate(["noise", "signal"], start=1):
        part = run.get("grad_noise_scale", field)
        if part is not None:
            lines.append(Line(field, part, color=k, right=True, dashed=True))
    return Lines(
        lines, y="samples", y_right="noise, signal", guides=batch_size_guide(run), scale=log_if_positive(lines)
    )
