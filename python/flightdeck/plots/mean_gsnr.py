# SPDX-License-Identifier: MIT
"""Signal-to-noise ratio of an average gradient entry."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, line_of, log_if_positive


@instrument("Gradient signal to noise", "more", 30, reads=["mean_gsnr"])
def mean_gsnr(run: Run, step: int) -> Optional[Lines]:
    """Signal-to-noise ratio of an average gradient entry."""
    lines = line_of(run, "mean_gsnr", "mean ratio")
    return Lines(lines, y="signal to noise", scale=log_if_positive(lines)) if lines else None
