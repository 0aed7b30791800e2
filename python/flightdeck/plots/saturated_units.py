# SPDX-License-Identifier: MIT
"""Share of outputs at the bounds of their function."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, fields_of, many_lines


@instrument("Saturated units", "more", 90, reads=["saturated_units"])
def saturated_units(run: Run, step: int) -> Optional[Lines]:
    """Share of outputs at the bounds of their function."""
    lines = many_lines(fields_of(run, "saturated_units"), "all layers")
    return Lines(lines, y="fraction saturated") if lines else None
