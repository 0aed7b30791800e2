# SPDX-License-Identifier: MIT
"""Batch size that fits the learning rate."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, batch_size_guide, line_of, log_if_positive


@instrument("CABS batch size", "more", 10, reads=["cabs"])
def cabs(run: Run, step: int) -> Optional[Lines]:
    """Batch size that fits the learning rate."""
    lines = line_of(run, "cabs", "suggested batch size")
    return Lines(lines, y="samples", guides=batch_size_guide(run), scale=log_if_positive(lines)) if lines else None
