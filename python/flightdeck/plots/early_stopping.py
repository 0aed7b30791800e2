# SPDX-License-Identifier: MIT
"""Evidence that the gradient is only noise."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Guide, Lines, line_of


@instrument("Early stopping", "more", 20, reads=["early_stopping"])
def early_stopping(run: Run, step: int) -> Optional[Lines]:
    """Evidence that the gradient is only noise."""
    lines = line_of(run, "early_stopping", "criterion")
    return Lines(lines, y="criterion", guides=[Guide(0, "stop above")]) if lines else None
