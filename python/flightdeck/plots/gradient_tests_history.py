# SPDX-License-Identifier: MIT
"""The three gradient tests over the steps."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Guide, Lines, line_of, log_if_positive


NAMES = {"norm_test": "norm", "inner_test": "along", "ortho_test": "across"}


@instrument("Gradient tests over time", "more", 5, reads=NAMES)
def gradient_tests_history(run: Run, step: int) -> Optional[Lines]:
    """The three gradient tests over the steps."""
    lines = [
        line for k, (quantity, label) in enumerate(NAMES.items()) for line in line_of(run, quantity, label, color=k)
    ]
    guides = [Guide(1, "noise = signal")]
    return Lines(lines, y="scatter / length", guides=guides, scale=log_if_positive(lines)) if lines else None
