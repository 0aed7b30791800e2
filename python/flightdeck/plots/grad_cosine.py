# SPDX-License-Identifier: MIT
"""How far the gradients of two samples agree."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Guide, Lines, line_of


@instrument("Agreement of samples", "more", 50, reads=["grad_cosine"])
def grad_cosine(run: Run, step: int) -> Optional[Lines]:
    """How far the gradients of two samples agree."""
    lines = line_of(run, "grad_cosine", "mean cosine")
    return Lines(lines, y="cosine", guides=[Guide(0, "unrelated")]) if lines else None
