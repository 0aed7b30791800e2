# SPDX-License-Identifier: MIT
"""Size of the parameters."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Line, Lines, line_of


FIELDS = ["mean", "deviation", "abs_max"]


@instrument("Parameters", "more", 100, reads=["parameters"])
def parameters(run: Run, step: int) -> Optional[Lines]:
    """Size of the parameters."""
    lines = line_of(run, "parameters", "norm", color=0)
    if not lines:
        return None
    for k, field in enumerate(FIELDS, start=1):
        part = run.get("parameters", field)
        if part is not None:
            lines.append(Line(field.replace("_", " "), part, color=k, right=True, dashed=True))
    return Lines(lines, y="norm", y_right="entries")
