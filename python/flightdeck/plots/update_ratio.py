# SPDX-License-Identifier: MIT
"""Size of the update beside the size of the parameters."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Guide, Lines, many_lines


MOST = 12  # groups that are shown, evenly spread over all


@instrument("Update ratio", "more", 70, reads=["update_ratio"])
def update_ratio(run: Run, step: int) -> Optional[Lines]:
    """Size of the update beside the size of the parameters."""
    groups = [series.group for series in run.series if series.quantity == "update_ratio" and not series.field]
    named = [group for group in groups if group]
    if len(named) > MOST:
        named = [named[k * len(named) // MOST] for k in range(MOST)]
    found = [(group, run.get("update_ratio", group=group)) for group in ["", *named]]
    series = [(group, points) for group, points in found if points is not None]
    lines = many_lines(series, "whole model" if len(series) > 1 else "update ratio")
    return Lines(lines, y="log10 of update / size", guides=[Guide(-3, "usual")]) if lines else None
