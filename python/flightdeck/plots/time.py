# SPDX-License-Identifier: MIT
"""Seconds that a step takes."""

from __future__ import annotations

from typing import Optional

import numpy

from ..run import Points, Run
from ._instrument import instrument
from ._lines import Line, Lines


@instrument("Time per step", "more", 110, reads=["time"])
def time(run: Run, step: int) -> Optional[Lines]:
    """Seconds that a step takes: the mean since the one before it, none where the clock was set back."""
    points = run.get("time")
    if points is None or points.steps.size < 2:
        return None
    seconds = numpy.diff(points.values) / numpy.diff(points.steps)
    seconds[seconds < 0] = numpy.nan
    return Lines([Line("seconds per step", Points(points.steps[1:], seconds))], y="seconds")
