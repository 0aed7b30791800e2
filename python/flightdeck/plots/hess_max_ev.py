# SPDX-License-Identifier: MIT
"""Extreme eigenvalues of the Hessian over the steps."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Guide, Line, Lines, log_if_positive, unconverged


NAMES = {"hess_max_ev": "largest", "hess_min_ev": "smallest"}


@instrument("Extreme eigenvalues", "curvature", 10, reads=NAMES)
def hess_max_ev(run: Run, step: int) -> Optional[Lines]:
    """Extreme eigenvalues of the Hessian over the steps; dots mark those that did not converge."""
    lines, doubtful = [], []
    for k, (quantity, label) in enumerate(NAMES.items()):
        points = run.get(quantity)
        if points is None:
            continue
        lines.append(Line(label, points, color=k))
        marked = unconverged(points, run.get(quantity, "converged"))
        if marked.steps.size:
            doubtful.append(Line(f"{label}, not converged", marked, color=4, dots=True))
    if not lines:
        return None
    guides = [Guide(0)] if len(lines) > 1 else []
    return Lines(lines + doubtful, y="eigenvalue", guides=guides, scale=log_if_positive(lines))
