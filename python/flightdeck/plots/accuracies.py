# SPDX-License-Identifier: MIT
"""Accuracy on the batches and on whole data sets."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, line_of


NAMES = {
    "batch_accuracy": "mini-batch", "train_accuracy": "training", "valid_accuracy": "validation",
    "test_accuracy": "test",
}


@instrument("Accuracies", "performance", 20, reads=NAMES)
def accuracies(run: Run, step: int) -> Optional[Lines]:
    """Accuracy on the batches and on whole data sets."""
    lines = [
        line for k, (quantity, label) in enumerate(NAMES.items()) for line in line_of(run, quantity, label, color=k + 7)
    ]
    return Lines(lines, y="accuracy") if lines else None
