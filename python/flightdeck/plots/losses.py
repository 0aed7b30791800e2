# SPDX-License-Identifier: MIT
"""Loss of the batches and of whole data sets."""

from __future__ import annotations

from typing import Optional

from ..run import Run
from ._instrument import instrument
from ._lines import Lines, line_of


NAMES = {"loss": "mini-batch", "train_loss": "training", "valid_loss": "validation", "test_loss": "test"}


def _has_penalty(run: Run) -> bool:
    """The quantity is of the individual losses, evaluations are of the objective."""
    try:
        return float(run.config.get("l2", "0")) != 0
    except ValueError:
        return False


@instrument("Losses", "performance", 10, reads=NAMES)
def losses(run: Run, step: int) -> Optional[Lines]:
    """Loss of the batches and of whole data sets."""
    is_penalised = _has_penalty(run)
    lines = []
    for k, (quantity, name) in enumerate(NAMES.items()):
        penalty = f" {'without' if quantity == 'loss' else 'with'} penalty" if is_penalised else ""
        lines += line_of(run, quantity, name + penalty, color=k + 7)
    return Lines(lines, y="loss") if lines else None
