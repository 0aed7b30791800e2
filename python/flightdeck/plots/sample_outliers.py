# SPDX-License-Identifier: MIT
"""Largest gradient of a sample over the median one."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Guide, Lines, line_of, log_if_positive


@instrument("Sample outliers", "more", 60, reads=["sample_outliers"])
def sample_outliers(run: Run, step: int) -> Optional[Lines]:
    """Largest gradient of a sample over the median one."""
    lines = line_of(run, "sample_outliers", "largest over median")
    return Lines(lines, y="ratio", guides=[Guide(10, "look at them")], scale=log_if_positive(lines)) if lines else None
