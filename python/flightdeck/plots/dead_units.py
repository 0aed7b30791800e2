# SPDX-License-Identifier: MIT
"""Share of relu units that never fire."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, fields_of, many_lines


@instrument("Dead units", "more", 80, reads=["dead_units"])
def dead_units(run: Run, step: int) -> Optional[Lines]:
    """Share of relu units that never fire."""
    lines = many_lines(fields_of(run, "dead_units"), "all layers")
    return Lines(lines, y="fraction dead") if lines else None
