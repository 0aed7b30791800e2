# SPDX-License-Identifier: MIT
"""Learning rate and other hyperparameters that were logged."""

from __future__ import annotations

from typing import List, Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Line, Lines, line_of, log_if_positive


#: The names that have a place in this panel (web/src/wire/logged_numbers.ts).
HYPERPARAMETERS = [
    "learning_rate", "momentum", "weight_decay", "batch_size", "beta1", "beta2", "epsilon", "damping", "dropout",
    "clip_norm", "temperature",
]


@instrument("Hyperparameters", "hyperparameters", 10, reads=HYPERPARAMETERS)
def hyperparameters(run: Run, step: int) -> Optional[Lines]:
    """Learning rate and other hyperparameters that were logged."""
    lines: List[Line] = []
    for name in HYPERPARAMETERS:
        lines += line_of(run, name, name.replace("_", " "), right=bool(lines))
    if not lines:
        return None
    others = [line.label for line in lines[1:]]
    scale = log_if_positive(lines) if len(others) > 1 else "linear"
    return Lines(lines, y=lines[0].label, y_right=", ".join(others), scale=scale)
