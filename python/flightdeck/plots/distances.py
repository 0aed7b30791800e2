# SPDX-License-Identifier: MIT
"""How far the parameters are from their start, and how fast they move."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, line_of


@instrument("Distances", "step_size", 20, reads=["distance", "update_size"])
def distances(run: Run, step: int) -> Optional[Lines]:
    """How far the parameters are from their start, and how fast they move."""
    distance = line_of(run, "distance", "distance from start", color=0)
    update = line_of(run, "update_size", "update size", color=1, right=bool(distance))
    if not distance and not update:
        return None
    return Lines(distance + update, y="distance" if distance else "update size", y_right="update size")
