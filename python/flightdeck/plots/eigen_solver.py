# SPDX-License-Identifier: MIT
"""What the eigenvalues cost, and how exact they are."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Line, Lines


ENDS = {"hess_max_ev": "largest", "hess_min_ev": "smallest"}
FIELDS = ["products", "iterations", "residual"]


@instrument("Eigenvalue solver", "more", 120, reads=ENDS)
def eigen_solver(run: Run, step: int) -> Optional[Lines]:
    """What the eigenvalues cost, and how exact they are."""
    lines = []
    for quantity, end in ENDS.items():
        for k, field in enumerate(FIELDS):
            points = run.get(quantity, field)
            if points is not None:
                is_second = quantity == "hess_min_ev"
                lines.append(
                    Line(f"{field} ({end})", points, color=k, right=field == "residual", dashed=is_second)
                )
    return Lines(lines, y="count", y_right="residual") if lines else None
